/**
 * POST /users/{user_id}/reactivate (public API: reactivate-user; behaviour 2.20): permissions, what is restored,
 * events; messages sent meanwhile do not count as received.
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { makeBot } from "../support/bots.ts";
import { Client, type Event, expects, outcome, refusal, success } from "../support/client.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, moderator, member, guest } = await startServerWithUsers(t, everyRole);
const general = 1;
const invalidKey = refusal("Invalid API key", "INVALID_API_KEY", 401);

async function returns(by: Client, id: number) {
  return outcome(await by.post(`/users/${id}/reactivate`));
}

t.test("the account's list and channels work again, with events", async (t) => {
  const leaver = await server.user("leaver");
  const channel = await owner.createChannel("shared", [owner, leaver]);
  const subscribers = async () => {
    const { body } = await owner.get("/streams");
    return body.streams.find((record: Event) => record.stream_id === channel).subscriber_count;
  };
  await owner.delete(`/users/${leaver.userId}`);
  t.equal(await subscribers(), 1);
  const types = ["realm_user", "user_group", "subscription", "realm_bot", "message"];
  const follower = await member.follow({ event_types: types });
  await server.reactivate(administrator, leaver);
  t.equal((await leaver.get("/users/me")).body.is_active, true);
  t.equal(await subscribers(), 2);
  const { body } = await leaver.get("/users/me/subscriptions");
  t.strictSame(body.subscriptions.map((own: Event) => own.name).sort(), ["general", "shared"]);
  await follower.settled();
  const group = (name: string) => ({
    type: "user_group",
    op: "add_members",
    group_id: server.group(name),
    user_ids: [leaver.userId],
  });
  const found = follower.events.map(({ id: _id, ...event }) => event);
  t.strictSame(found, [
    { type: "realm_user", op: "update", person: { user_id: leaver.userId, is_active: true } },
    { type: "subscription", op: "peer_add", stream_ids: [general], user_ids: [leaver.userId] },
    { type: "subscription", op: "peer_add", stream_ids: [channel], user_ids: [leaver.userId] },
    group("role:members"),
    group("role:fullmembers"),
  ]);
  const said = await owner.say("shared", "again", "welcome back");
  t.equal((await leaver.get(`/messages/${said}`)).status, 200);
});

t.test("[spec 4.8, 5] role matrix: administrators reactivate all, owners an owner; bots by theirs", async (t) => {
  const insufficient = refusal("Insufficient permission");
  const clients = { owner, administrator, moderator, member, guest };
  for (const [caller, client] of Object.entries(clients)) {
    for (const [name, role] of Object.entries(roles)) {
      const [id = 0] = await server.users(`${name} for ${caller}`, 1, role);
      await owner.delete(`/users/${id}`);
      const isAdmin = client === owner || client === administrator;
      const expected = !isAdmin
        ? insufficient
        : role === roles.owner && client !== owner
          ? refusal("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL")
          : success();
      t.strictSame(await returns(client, id), expected, `${caller} reactivates ${name}`);
      const { body } = await owner.get(`/users/${id}`);
      t.equal(body.user.is_active, expected.status === 200);
      if (role === roles.owner && body.user.is_active) await owner.delete(`/users/${id}`);
    }
  }
});

t.test("unknown and active users and the server's bot are rejected", async (t) => {
  const changes = await owner.watchChanges();
  for (const id of [0, 1, 999_999]) {
    for (const client of [owner, guest]) t.strictSame(await returns(client, id), refusal("No such user"));
  }
  t.strictSame(await returns(owner, member.userId), success(), "an active user stays active");
  t.strictSame(await returns(administrator, owner.userId), success());
  t.strictSame(await returns(member, member.userId), refusal("Insufficient permission"));
  t.equal((await owner.post("/users/abc/reactivate")).status, 404);
  t.equal((await owner.anonymous().post(`/users/${member.userId}/reactivate`)).status, 401);
  t.strictSame(await changes(), []);
});

t.test("[spec 3] a deactivated user cannot reactivate themselves", async (t) => {
  const leaver = await server.user("sorry", roles.administrator);
  await leaver.delete("/users/me");
  t.equal((await leaver.post(`/users/${leaver.userId}/reactivate`)).body.code, "USER_DEACTIVATED");
});

t.test("a bot is reactivated by its owner; without an active owner the caller becomes its owner", async (t) => {
  const keeper = await server.user("keeper");
  const bot = await server.bot("helper", keeper);
  await owner.delete(`/users/${keeper.userId}`);
  t.equal((await bot.get("/users/me")).status, 401, "bots are deactivated with their owner");
  await server.reactivate(owner, keeper);
  t.equal((await bot.get("/users/me")).body.code, "USER_DEACTIVATED", "and not reactivated with them");
  t.strictSame(await returns(moderator, bot.userId), refusal("Insufficient permission"));
  await server.reactivate(keeper, bot);
  t.equal((await bot.get("/users/me")).body.bot_owner_id, keeper.userId);

  await owner.delete(`/users/${keeper.userId}`);
  const follower = await administrator.follow({ event_types: ["realm_user", "realm_bot", "message"] });
  t.strictSame(await returns(administrator, bot.userId), success());
  await expects(t, bot.get("/users/me"), invalidKey, "the former owner knows its key");
  const { body } = await administrator.post(`/bots/${bot.userId}/api_key/regenerate`);
  const renewed = new Client(server.url, { email: bot.account?.email ?? "", key: body.api_key, userId: bot.userId });
  t.equal((await renewed.get("/users/me")).body.bot_owner_id, administrator.userId);
  await follower.settled();
  t.strictSame(
    [...follower.ofType("realm_user"), ...follower.ofType("realm_bot")],
    [
      { type: "realm_user", op: "update", person: { user_id: bot.userId, is_active: true } },
      { type: "realm_user", op: "update", person: { user_id: bot.userId, bot_owner_id: administrator.userId } },
      { type: "realm_bot", op: "update", bot: { user_id: bot.userId, is_active: true } },
      { type: "realm_bot", op: "update", bot: { user_id: bot.userId, owner_id: administrator.userId } },
    ],
  );
});

t.test("[behaviour 1.9] reactivating a bot requires the permission to create it and an unused name", async (t) => {
  const keeper = await server.user("second keeper");
  const { bot } = await makeBot(keeper, "twin");
  await keeper.delete(`/bots/${bot.userId}`);
  const { bot: other } = await makeBot(keeper, "other", { full_name: "The twin" });
  t.strictSame(await returns(keeper, bot.userId), refusal("Name is already in use!"));
  await keeper.delete(`/bots/${other.userId}`);
  server.setRealm({ can_create_bots_group: server.group("role:administrators") });
  t.strictSame(await returns(keeper, bot.userId), refusal("Insufficient permission"));
  server.setRealm({ can_create_bots_group: server.group("role:everyone") });
  await owner.patch(`/users/${keeper.userId}`, { role: roles.guest });
  t.strictSame(await returns(keeper, bot.userId), refusal("Not allowed for guest users"));
  await owner.patch(`/users/${keeper.userId}`, { role: roles.member });
  t.equal((await bot.get("/users/me")).body.code, "USER_DEACTIVATED", "none of these reactivated it");
  t.strictSame(await returns(keeper, bot.userId), success());
});

t.test("[S1] in protected history, messages sent during a deactivation were not received", async (t) => {
  const leaver = await server.user("absent");
  const options = { invite_only: true, history_public_to_subscribers: false };
  const channel = await owner.createChannel("protected", [owner, leaver], options);
  const before = await owner.say(channel, "talk", "before");
  await owner.delete(`/users/${leaver.userId}`);
  const meanwhile = await owner.say(channel, "talk", "meanwhile");
  await server.reactivate(owner, leaver);
  const after = await owner.say(channel, "talk", "after");
  const statuses: number[] = [];
  for (const id of [before, meanwhile, after]) statuses.push((await leaver.get(`/messages/${id}`)).status);
  t.strictSame(statuses, [200, 400, 200]);
  await expects(t, leaver.get(`/messages/${meanwhile}`), "Invalid message(s)", "like one that does not exist");
});

t.test("[D274] all keys of an account end with its reactivation, of logins and written ones", async (t) => {
  const leaver = await server.person("Nora");
  const email = leaver.account?.email ?? "";
  const login = { username: email, password: "correct horse battery" };
  const { body: kept } = await leaver.post("/users/me/api_key/regenerate");
  const { body: further } = await owner.anonymous().post("/fetch_api_key", login);
  await owner.delete(`/users/${leaver.userId}`);
  t.strictSame(await returns(owner, leaver.userId), success());
  for (const { api_key: key } of [kept, further]) {
    const earlier = new Client(server.url, { email, key, userId: leaver.userId });
    await expects(t, earlier.get("/users/me"), invalidKey);
  }
  const { status, body } = await owner.anonymous().post("/fetch_api_key", login);
  t.equal(status, 200);
  t.equal(
    (await new Client(server.url, { email, key: body.api_key, userId: leaver.userId }).get("/users/me")).status,
    200,
  );
});

t.test("[M1, D274] a reactivated user stays active after a restart, and the earlier key stays revoked", async (t) => {
  const dataDir = temporaryFolder(t);
  const before = await startTestServer(t, { dataDir });
  const leaver = await before.user("kept");
  await before.owner.delete(`/users/${leaver.userId}`);
  await returns(before.owner, leaver.userId);
  await before.stop();
  const after = await startTestServer(t, { dataDir });
  t.equal((await after.owner.get(`/users/${leaver.userId}`)).body.user.is_active, true);
  const earlier = await after.owner.anonymous().get("/users/me", {}, { Authorization: leaver.authorization });
  t.strictSame(outcome(earlier), invalidKey);
});
