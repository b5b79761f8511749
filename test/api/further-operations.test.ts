/**
 * Small operations (OpenAPI): testing the welcome message, the email address of a channel, BigBlueButton calls, keys
 * without a password for development, the channels of a user, and another key for a bot.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { BadConfig, readConfig } from "../../src/app/config.ts";
import { makeBot } from "../support/bots.ts";
import { Client, expects, outcome, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, member, guest } = await startServerWithUsers(t, [
  "administrator",
  "member",
  "guest",
]);

t.test("an administrator gets the message of new users", async (t) => {
  const path = "/realm/test_welcome_bot_custom_message";
  const text = { welcome_message_custom_text: "Welcome **here**!" };
  const sent = await administrator.post(path, text);
  t.strictSame(outcome(sent), success({ message_id: sent.body.message_id }));
  const { body } = await administrator.get(`/messages/${sent.body.message_id}`);
  t.match(body, { raw_content: text.welcome_message_custom_text, message: { sender_id: 1, type: "private" } });
  t.match(body.message.content, "<strong>here</strong>");
  for (const empty of ["", " \n"]) {
    const refused = await administrator.post(path, { welcome_message_custom_text: empty });
    t.strictSame(outcome(refused), refusal("Message must not be empty"));
  }
  const max = limits.welcome_message_code_points_max;
  t.equal((await administrator.post(path, { welcome_message_custom_text: "🙂".repeat(max) })).status, 200);
  await expects(
    t,
    administrator.post(path, { welcome_message_custom_text: "x".repeat(max + 1) }),
    `welcome_message_custom_text is too long (limit: ${max} characters)`,
  );
  const forbidden = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");
  await expects(t, member.post(path, text), forbidden);
  const headers = { "Idempotency-Key": "one welcome" };
  const once = await administrator.post(path, text, headers);
  await expects(t, administrator.post(path, text, headers), outcome(once), "[D25]");
});

t.test("the address is empty without a mail gateway; a hidden channel is reported as missing (D24)", async (t) => {
  const hidden = await owner.createChannel("hidden", [owner], { invite_only: true });
  const open = await owner.createChannel("open", [owner, member]);
  const ask = async (by: Client, id: number, params = {}) =>
    outcome(await by.get(`/streams/${id}/email_address`, params));
  t.strictSame(await ask(member, open), success({ email: "" }));
  t.strictSame(await ask(member, open, { sender_id: member.userId }), success({ email: "" }));
  t.strictSame(await ask(member, hidden), refusal("Invalid channel ID"));
  t.strictSame(await ask(member, 987_654_321), refusal("Invalid channel ID"));
  t.strictSame(await ask(member, open, { sender_id: owner.userId }), refusal("No such bot"));
  const { bot } = await makeBot(member, "sender");
  t.strictSame(await ask(member, open, { sender_id: bot.userId }), success({ email: "" }));
});

t.test("is rejected because nothing is configured", async (t) => {
  const reply = await member.get("/calls/bigbluebutton/create", { meeting_name: "x", voice_only: true });
  t.strictSame(outcome(reply), refusal("BigBlueButton is not configured."));
  t.equal((await member.get("/calls/bigbluebutton/create")).body.code, "REQUEST_VARIABLE_MISSING");
});

t.test("returns those of a user's channels that the caller may see (S1)", async (t) => {
  const secret = await owner.createChannel("secret", [owner, administrator], { invite_only: true });
  const shared = await owner.createChannel("shared", [owner, member, guest]);
  const gone = await owner.createChannel("gone", [owner]);
  await owner.delete(`/streams/${gone}`);
  const ask = async (by: Client, id: number) => (await by.get(`/users/${id}/channels`)).body;
  const own: number[] = (await ask(owner, owner.userId)).subscribed_channel_ids;
  t.ok(own.includes(secret) && own.includes(shared));
  t.notOk(own.includes(gone), "archived channels are omitted");
  t.strictSame(
    own,
    own.toSorted((a, b) => a - b),
  );
  const seen: number[] = (await ask(member, owner.userId)).subscribed_channel_ids;
  t.ok(seen.includes(shared));
  t.notOk(seen.includes(secret));
  t.strictSame((await ask(guest, owner.userId)).subscribed_channel_ids, [shared]);
  t.match(await ask(member, 987_654_321), { msg: "No such user" });
  server.setRealm({ can_access_all_users_group: server.group("role:members") });
  const outsider = await server.user("outsider");
  await outsider.delete("/users/me/subscriptions", { subscriptions: ["general"] });
  t.match(
    await ask(guest, outsider.userId),
    { msg: "No such user" },
    "a restricted guest cannot look up a user whom they may not see",
  );
  server.setRealm({ can_access_all_users_group: server.group("role:everyone") });
});

t.test("[S2] GET /bots/{bot_id}/api_key returns another key, and the existing keys stay valid", async (t) => {
  const { bot } = await makeBot(member, "keyed");
  const path = `/bots/${bot.userId}/api_key`;
  const as = (key: string) => new Client(server.url, { email: bot.account?.email ?? "", key, userId: bot.userId });
  const changes = await owner.watchChanges();
  const keys: string[] = [];
  for (const by of [member, administrator]) {
    const { status, body } = await by.get(path);
    t.equal(status, 200);
    keys.push(body.api_key);
  }
  t.not(keys[0], keys[1]);
  for (const client of [bot, ...keys.map(as)]) t.equal((await client.get("/users/me")).status, 200);
  t.strictSame(await changes(), [], "no event is sent");
  const other = await server.user("otherowner");
  await expects(t, other.get(path), "Insufficient permission");
  await expects(t, member.get("/bots/987654321/api_key"), "No such bot");
  await expects(t, member.get(`/bots/${owner.userId}/api_key`), "No such bot", "a user who is not a bot");
  for (let count = 0; count < limits.api_keys_per_user_max; count++) keys.push((await member.get(path)).body.api_key);
  t.equal(server.realm.view.apiKeysOf(bot.userId).length, limits.api_keys_per_user_max, "[S3]");
  t.equal((await as(keys[0] ?? "").get("/users/me")).status, 401, "the oldest additional key is evicted");
  t.equal((await bot.get("/users/me")).status, 200, "the key from the creation is kept");
});

t.test("returns a key without a password only with DEVELOPMENT_LOGINS and on this machine", async (t) => {
  const closed = refusal("Endpoint not available in production.");
  const username = owner.account?.email ?? "";
  await expects(t, owner.anonymous().post("/dev_fetch_api_key", { username }), closed);
  const open = await startTestServer(t, { environment: { DEVELOPMENT_LOGINS: "true" } });
  const nobody = open.owner.anonymous();
  const { body } = await nobody.post("/dev_fetch_api_key", { username: ` ${username.toUpperCase()}` });
  t.strictSame({ email: body.email, user_id: body.user_id }, { email: username, user_id: open.owner.userId });
  const again = new Client(open.url, { email: username, key: body.api_key, userId: open.owner.userId });
  t.equal((await again.get("/users/me")).status, 200);
  t.equal((await nobody.post("/dev_fetch_api_key", { username: "x@y.z" })).body.code, "AUTHENTICATION_FAILED");
  const gone = await open.user("gone", roles.member);
  await gone.delete("/users/me");
  const email = gone.account?.email;
  t.equal((await nobody.post("/dev_fetch_api_key", { username: email })).body.code, "USER_DEACTIVATED");
  t.throws(() => readConfig({ DEVELOPMENT_LOGINS: "true", HOST: "0.0.0.0" }), BadConfig);
  t.equal(readConfig({ DEVELOPMENT_LOGINS: "true", HOST: "localhost" }).developmentLogins, true);
  t.equal(readConfig({}).developmentLogins, false);
});
