/**
 * Settings of the organization that this server enforces (D5; behaviour 2.1, 2.4, 5.1). Each takes effect as soon as it
 * is set.
 */
import t from "tap";
import { roles } from "../../schemas/types.ts";
import { expects, outcome, refusal, success } from "../support/client.ts";
import { outboxMails } from "../support/mail.ts";
import { picture, upload } from "../support/pictures.ts";
import { stateOf } from "../support/realm-state.ts";
import { startTestServer } from "../support/server.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator: admin, moderator, member, guest } = await startServerWithUsers(t, everyRole);
const ordinary = [moderator, member, guest];

async function set(settings: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await owner.patch("/realm", settings);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}

t.test("[behaviour 2.1] with name_changes_disabled a new name is ignored, except from administrators", async (t) => {
  await set({ name_changes_disabled: true });
  const nameOf = async (client: typeof owner) => (await client.get("/users/me")).body.full_name;
  for (const client of ordinary) {
    const before = await nameOf(client);
    const answer = await client.patch("/settings", { full_name: "Somebody else", starred_message_counts: false });
    t.strictSame(outcome(answer), success());
    await expects(t, client.patch("/settings", { full_name: "" }), success(), "not even validated");
    t.equal(await nameOf(client), before);
    t.match(await stateOf(client, ["user_settings"]), { user_settings: { starred_message_counts: false } });
  }
  await expects(t, admin.patch("/settings", { full_name: "Ada" }), success());
  t.equal(await nameOf(admin), "Ada");
  await expects(t, admin.patch(`/users/${member.userId}`, { full_name: "Mem" }), success());
  await set({ name_changes_disabled: false });
  await member.patch("/settings", { full_name: "Mem Ber" });
  t.equal(await nameOf(member), "Mem Ber");
});

t.test("[behaviour 2.1] with email changes disabled only administrators request one or use a link", async (t) => {
  const mails = await startTestServer(t);
  const person = await mails.user("person");
  const chief = await mails.user("chief", roles.administrator);
  await expects(t, person.patch("/settings", { email: "early@example.com" }), success({ server_sends_email: false }));
  await mails.owner.patch("/realm", { email_changes_disabled: true });
  const refused = refusal("Email address changes are disabled in this organization.");
  for (const email of ["late@example.com", "no address", "chief0@example.com"]) {
    await expects(t, person.patch("/settings", { email, color_scheme: 2 }), refused, email);
  }
  t.match(await stateOf(person, ["user_settings"]), { user_settings: { color_scheme: 1 } }, "all or nothing");
  await expects(
    t,
    person.patch("/settings", { email: "person0@example.com" }),
    success({ server_sends_email: false }),
    "the current email",
  );
  await expects(t, chief.patch("/settings", { email: "head@example.com" }), success({ server_sends_email: false }));
  const sent = await outboxMails(mails.dataDir, 2);
  const early = sent.find(({ email }) => email.to?.[0]?.address === "early@example.com");
  const link = /^http\S+$/m.exec(early?.email.text ?? "")?.[0] ?? "";
  const page = await fetch(link, { method: "POST" });
  t.equal(page.status, 400);
  t.match(await page.text(), "Email address changes are disabled in this organization.");
  const found = sent.map(({ email }) => email.to?.[0]?.address).sort();
  t.strictSame(found, ["early@example.com", "head@example.com"], "no other email was sent");
  t.equal((await person.get("/users/me")).body.delivery_email, "person0@example.com");
});

t.test("with avatar changes disabled only administrators upload or remove one", async (t) => {
  const png = await picture("png", 10, 10);
  const path = "/users/me/avatar";
  t.equal((await upload(member, path, png)).status, 200);
  await set({ avatar_changes_disabled: true });
  const refused = refusal("Avatar changes are disabled in this organization.");
  const follower = await owner.follow();
  for (const client of ordinary) {
    await expects(t, upload(client, path, png), refused);
    await expects(t, client.delete(path), refused);
  }
  await follower.settled();
  t.strictSame(follower.ofType("realm_user"), []);
  t.equal((await upload(admin, path, png)).status, 200);
  t.equal((await admin.delete(path)).status, 200);
  await set({ avatar_changes_disabled: false });
  t.equal((await member.delete(path)).status, 200);
});

t.test("no two users get the same name, but existing names are kept", async (t) => {
  const [first, second] = [await server.user("first"), await server.user("second")];
  await first.patch("/settings", { full_name: "Zoë Ångström" });
  await second.patch("/settings", { full_name: "zoë ångström" });
  await set({ require_unique_names: true });
  const refused = refusal("Unique names required in this organization.");
  for (const name of ["ZOË ÅNGSTRÖM", "Zoe\u0308 A\u030angstro\u0308m"]) {
    await expects(t, member.patch("/settings", { full_name: name, color_scheme: 3 }), refused, name);
    await expects(t, owner.patch(`/users/${member.userId}`, { full_name: name }), refused, name);
    const account = { email: "third@example.com", password: "long enough", full_name: name };
    await expects(t, owner.post("/users", account), refused, name);
  }
  t.match(await stateOf(member, ["user_settings"]), { user_settings: { color_scheme: 1 } });
  await expects(
    t,
    first.patch("/settings", { full_name: "ZOË ÅNGSTRÖM" }),
    success(),
    "one's own name in another spelling",
  );
  await expects(t, member.patch("/settings", { full_name: "Nobody Else" }), success());
  await set({ require_unique_names: false });
  await expects(t, member.patch("/settings", { full_name: "Zoë Ångström" }), success());
});

t.test("[D5] new users start with the organization's language, and existing ones keep theirs", async (t) => {
  await set({ default_language: "de" });
  const newcomer = await server.user("newcomer");
  const language = async (client: typeof owner) =>
    (await stateOf(client, ["user_settings"])).user_settings.default_language;
  t.equal(await language(newcomer), "de");
  t.equal(await language(member), "en");
  await set({ default_language: "en" });
  t.equal(await language(newcomer), "de");
  t.equal(await language(await server.user("later")), "en");
});

t.test("[spec 2.4] channels that inherit topics_policy use the organization's", async (t) => {
  await owner.createChannel("inheriting", [member]);
  await owner.createChannel("own", [member], { topics_policy: "allow_empty_topic" });
  const say = async (channel: string) =>
    outcome(await member.post("/messages", { type: "channel", to: channel, topic: "", content: "hello" }));
  t.match(await say("inheriting"), { status: 200 });
  await set({ topics_policy: "disable_empty_topic" });
  t.match(await say("inheriting"), {
    status: 400,
    body: { msg: "Sending messages to the general chat is not allowed in this channel." },
  });
  t.match(await say("own"), { status: 200 });
  await set({ topics_policy: "allow_empty_topic" });
  t.match(await say("inheriting"), { status: 200 });
});

t.test("[D27] spectators have access while the organization's setting allows it", async (t) => {
  const spectator = owner.anonymous();
  t.equal((await spectator.get("/users")).status, 401);
  await set({ enable_spectator_access: true });
  t.equal((await spectator.get("/users")).status, 200);
  t.match((await spectator.get("/server_settings")).body, { realm_web_public_access_enabled: true });
  t.ok(await owner.createChannel("window", [], { is_web_public: true }));
  await set({ enable_spectator_access: false });
  t.equal((await spectator.get("/users")).status, 401);
  t.match((await spectator.get("/server_settings")).body, { realm_web_public_access_enabled: false });
  const more = { name: "second window", subscribers: [], is_web_public: true };
  await expects(t, owner.post("/channels/create", more), "Web-public channels are not enabled.");
});

t.test("[behaviour 11] name and description are public before a login", async (t) => {
  await set({ name: "Tea & Co", description: "All about tea" });
  t.match((await owner.anonymous().get("/server_settings")).body, {
    realm_name: "Tea & Co",
    realm_description: "All about tea",
  });
});

t.test("[behaviour 2.4] an archived channel no longer receives announcements", async (t) => {
  const place = await owner.createChannel("place", [owner]);
  const hidden = await owner.createChannel("hidden place", [owner], { invite_only: true });
  await set({
    new_stream_announcements_stream_id: place,
    signup_announcements_stream_id: place,
    moderation_request_channel_id: hidden,
  });
  const follower = await member.follow();
  await owner.delete(`/streams/${place}`);
  await owner.delete(`/streams/${hidden}`);
  await follower.settled();
  const expectedEvent = (data: Readonly<Record<string, number>>) => ({
    type: "realm",
    op: "update_dict",
    property: "default",
    data,
  });
  t.strictSame(follower.ofType("realm"), [
    expectedEvent({ new_stream_announcements_stream_id: -1, signup_announcements_stream_id: -1 }),
    expectedEvent({ moderation_request_channel_id: -1 }),
  ]);
  t.match(await stateOf(owner), {
    realm_new_stream_announcements_stream_id: -1,
    realm_signup_announcements_stream_id: -1,
    realm_zulip_update_announcements_stream_id: -1,
    realm_moderation_request_channel_id: -1,
  });
  await expects(t, owner.patch("/realm", { new_stream_announcements_stream_id: place }), "Invalid channel ID");
});
