/**
 * POST /typing: the forms in which older clients name a conversation (OpenAPI, set-typing-status), permissions, and
 * receivers. A user who may not post cannot send typing notices, and no notice reaches users who may not see it (S1).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, type Params, refusal, success } from "../support/client.ts";
import { typingCapable as capable, createUsers, receivedEvents, type, typingServer } from "../support/typing.ts";

const { clock, server, owner } = await typingServer(t);
const expiredMs = limits.typing_expiry_ms + 200;

/** Two users and the second one's queue. */
async function pair() {
  const [anna, bert] = (await createUsers(server, 2)) as [Client, Client];
  return { anna, bert, follower: await bert.follow(capable) };
}

const addressOf = (client: Client): string => client.account?.email ?? "";

t.test("users are named by ids or emails, in a list or alone", async (t) => {
  const { anna, bert, follower } = await pair();
  const forms: Params[] = [
    { to: [bert.userId] },
    { to: bert.userId },
    { to: String(bert.userId), type: "private" },
    { to: [addressOf(bert)] },
    { to: addressOf(bert), type: "direct" },
    { to: [bert.userId], type: "direct", stream_id: 99_999, topic: "of another type" },
  ];
  const recipients = [anna, bert].map((client) => ({ user_id: client.userId, email: addressOf(client) }));
  for (const params of forms) {
    await expects(t, type(anna, params), success(), JSON.stringify(params));
    t.match(
      await receivedEvents(follower),
      [{ op: "start", message_type: "direct", recipients }],
      JSON.stringify(params),
    );
  }
});

t.test("before level 215, `to` had the channel for `stream`; stream_id takes precedence", async (t) => {
  const { anna, bert, follower } = await pair();
  const id = await owner.createChannel("older", [anna, bert]);
  const forms: Params[] = [{ to: [id] }, { to: id }, { to: [99_999], stream_id: id }];
  for (const params of forms) {
    await expects(t, type(anna, { type: "stream", topic: "t", ...params }), success());
    t.match(await receivedEvents(follower), [{ message_type: "stream", stream_id: id, topic: "t" }]);
  }
  const missing = refusal("Missing channel ID");
  const wrong: Params[] = [
    { type: "channel", to: [id] },
    { type: "stream", to: [id, id] },
    { type: "stream", to: [] },
    { type: "stream", to: "older" },
    { type: "stream" },
  ];
  for (const params of wrong) await expects(t, type(anna, { topic: "t", ...params }), missing);
  t.strictSame(await receivedEvents(follower), []);
});

t.test("invalid recipients are rejected as for a message", async (t) => {
  const { anna, bert, follower } = await pair();
  const { userId } = bert;
  server.setUser(owner.userId, { email_address_visibility: 4 });
  t.teardown(() => server.setUser(owner.userId, { email_address_visibility: 1 }));
  const absent = (name: string) =>
    refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
  const wrong: [Params, ReturnType<typeof refusal>][] = [
    [{}, absent("to")],
    [{ type: "stream", stream_id: 1 }, absent("topic")],
    [{ to: [userId, addressOf(bert)] }, refusal("Recipient lists may contain emails or user IDs, but not both.")],
    [{ to: ["nobody@example.com"] }, refusal("Invalid email 'nobody@example.com'")],
    [{ to: [addressOf(owner)] }, refusal(`Invalid email '${addressOf(owner)}'`)],
    [{ to: { id: userId } }, refusal("Invalid data type for recipients")],
    [{ to: [[userId]] }, refusal("Invalid data type for recipients")],
    [{ to: [userId, -1] }, refusal("Invalid data type for recipients")],
    [{ to: [userId, null] }, refusal("Invalid data type for recipients")],
  ];
  for (const [params, expected] of wrong) await expects(t, type(anna, params), expected);
  t.strictSame(await receivedEvents(follower), []);
});

t.test("[S3] direct_recipients_max: typing to more recipients than a message may have is rejected", async (t) => {
  const { anna, bert, follower } = await pair();
  const others = await server.users("many", limits.direct_recipients_max - 1);
  await expects(t, type(anna, { to: [bert.userId, ...others.slice(1)] }), success(), "with the typist");
  t.equal((await receivedEvents(follower)).length, 1);
  await expects(t, type(anna, { to: [bert.userId, ...others] }), "Too many recipients");
  t.strictSame(await receivedEvents(follower), []);
});

t.test("a user who muted the typist receives no typing events of messages or edits", async (t) => {
  const { anna, bert, follower } = await pair();
  const carla = await server.user("carla");
  const hearing = await carla.follow(capable);
  const stream_id = await owner.createChannel("muting", [anna, bert, carla]);
  const id = await anna.say(stream_id, "t", "x");
  await bert.post(`/users/me/muted_users/${anna.userId}`);
  await receivedEvents(follower);
  await receivedEvents(hearing);
  const typed = async () => {
    await type(anna, { to: [bert.userId, carla.userId] });
    await type(anna, { type: "channel", stream_id, topic: "t" });
    await anna.post(`/messages/${id}/typing`, { op: "start" });
    const seen = [];
    for (const one of [follower, hearing]) {
      await one.settled();
      seen.push([one.ofType("typing").length, one.ofType("typing_edit_message").length]);
      one.events.splice(0);
    }
    return seen;
  };
  t.strictSame(await typed(), [
    [0, 0],
    [2, 1],
  ]);
  await bert.delete(`/users/me/muted_users/${anna.userId}`);
  t.strictSame(await typed(), [
    [2, 1],
    [2, 1],
  ]);
});

t.test("[S1] a user who may read a channel but not post is not announced as typing there", async (t) => {
  const { anna, bert, follower } = await pair();
  const can_send_message_group = server.group("role:administrators");
  const stream_id = await owner.createChannel("announcements", [anna, bert, owner], { can_send_message_group });
  const refused = refusal("You do not have permission to post in this channel.");
  for (const op of ["start", "stop"]) {
    await expects(t, type(anna, { op, type: "channel", stream_id, topic: "t" }), refused);
  }
  t.strictSame(await receivedEvents(follower), []);
  await expects(t, type(owner, { type: "channel", stream_id, topic: "t" }), success());
  t.equal((await receivedEvents(follower)).length, 1);
});

t.test("[S1] a bot can type in a private channel where its owner may post; another user's bot cannot", async (t) => {
  const { anna, bert, follower } = await pair();
  const stream_id = await bert.createChannel("private", [bert], { invite_only: true });
  const [own, foreign] = [await server.bot("ownbot", bert), await server.bot("foreignbot", anna)];
  await expects(t, type(own, { type: "channel", stream_id, topic: "t" }), success());
  await expects(t, type(foreign, { type: "channel", stream_id, topic: "t" }), "Invalid channel ID");
  t.match(await receivedEvents(follower), [{ sender: { user_id: own.userId } }]);
});

t.test("[S1] nobody can type in an archived channel, and a guest only in channels they subscribe to", async (t) => {
  const { anna, bert, follower } = await pair();
  const guest = await server.user("guest", roles.guest);
  const stream_id = await owner.createChannel("closed", [anna, bert]);
  const place = { type: "channel", stream_id, topic: "t" };
  await expects(t, type(guest, place), "Invalid channel ID");
  await owner.delete(`/streams/${stream_id}`);
  await expects(t, type(anna, place), "Invalid channel ID");
  t.strictSame(await receivedEvents(follower), []);
});

t.test("[S1] typing to a user is rejected like a message to that user", async (t) => {
  const { anna, bert, follower } = await pair();
  const gone = await server.user("gone");
  await owner.delete(`/users/${gone.userId}`);
  const nobody = server.group("role:nobody");
  const everyone = server.group("role:everyone");
  const deny = (name: string) => server.setRealm({ [name]: nobody });
  const allow = (name: string) => server.setRealm({ [name]: everyone });
  const refused = async (to: number[], msg: string) => {
    await expects(t, type(anna, { to }), msg);
    t.match((await anna.post("/messages", { type: "direct", to, content: "x" })).body, { msg });
  };
  await refused([bert.userId, gone.userId], `'${addressOf(gone)}' is no longer using Colloquy.`);
  deny("direct_message_permission_group");
  await refused([bert.userId], "Direct messages are disabled in this organization.");
  allow("direct_message_permission_group");
  deny("direct_message_initiator_group");
  await refused([bert.userId], "You do not have permission to initiate direct message conversations.");
  t.strictSame(await receivedEvents(follower), []);
  allow("direct_message_initiator_group");
  await anna.post("/messages", { type: "direct", to: [bert.userId], content: "x" });
  deny("direct_message_initiator_group");
  t.teardown(() => allow("direct_message_initiator_group"));
  await receivedEvents(follower);
  await expects(t, type(anna, { to: [bert.userId] }), success(), "answering needs no permission");
  t.equal((await receivedEvents(follower)).length, 1);
});

t.test("[S1] a user who left the channel meanwhile does not receive the stop of an inactive typist", async (t) => {
  const { anna, bert, follower } = await pair();
  const stream_id = await owner.createChannel("left", [anna, bert]);
  await type(anna, { type: "channel", stream_id, topic: "t" });
  t.equal((await receivedEvents(follower)).length, 1);
  await bert.delete("/users/me/subscriptions", { subscriptions: ["left"] });
  clock.advance(expiredMs);
  t.strictSame(await receivedEvents(follower), []);
});
