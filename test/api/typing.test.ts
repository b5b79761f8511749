/**
 * POST /typing (public API; spec section 6; docs/realtime.md): conversations, receivers, settings, errors, and the stop
 * of a typist after 15 s of inactivity, on a manual clock.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, type Follower, type Params, refusal, success } from "../support/client.ts";
import { Socket } from "../support/socket.ts";
import { typingCapable as capable, receivedEvents, type, typingServer } from "../support/typing.ts";

const { clock, server, owner } = await typingServer(t);
/** When an inactive typist expires (docs/realtime.md). The resolution of the volatile timers is added. */
const expiry = 15_000;
const tick = 200;

/** Lets all typists expire, so that a test begins without any. */
function silence(): void {
  clock.advance(expiry + tick);
}

function people(...names: string[]): Promise<Client[]> {
  return Promise.all(names.map((name) => server.user(name)));
}

const person = (client: Client) => ({ user_id: client.userId, email: client.account?.email });

const ops = async (follower: Follower) => (await receivedEvents(follower)).map(({ op }) => op);

t.test("direct: all participants receive sender and recipients, the typist included", async (t) => {
  const [anna, bert, carla, dora] = (await people("anna", "bert", "carla", "dora")) as [Client, Client, Client, Client];
  const followers = await Promise.all([anna, bert, carla, dora].map((client) => client.follow()));
  await expects(t, type(anna, { to: [bert.userId, carla.userId] }), success());
  await type(anna, { op: "stop", to: [carla.userId, bert.userId, anna.userId] });
  const notice = {
    type: "typing",
    message_type: "direct",
    sender: person(anna),
    recipients: [person(anna), person(bert), person(carla)],
  };
  const both = [
    { op: "start", ...notice },
    { op: "stop", ...notice },
  ];
  const each = [];
  for (const follower of followers) each.push(await receivedEvents(follower));
  t.strictSame(each, [[both[1]], [both[1]], [both[1]], []], "unread, the latest notice wins (E4)");
});

t.test("[E4] a queue that is read gets every notice; an unread one gets the latest of each typist", async (t) => {
  const [anna, bert, carla] = (await people("anna1", "bert1", "carla1")) as [Client, Client, Client];
  const socket = new Socket(server.url, { as: carla });
  await socket.opened();
  await socket.ask({ type: "register", event_types: ["typing"] });
  const follower = await carla.follow();
  for (const op of ["start", "stop", "start"]) await type(anna, { op, to: [carla.userId] });
  await type(bert, { to: [carla.userId] });
  await socket.event((event) => event.sender.user_id === bert.userId);
  const seen = (events: readonly { op: string; sender: { user_id: number } }[]) =>
    events.map(({ op, sender }) => `${op} ${sender.user_id}`);
  const [a, b] = [anna.userId, bert.userId];
  t.strictSame(seen(socket.events), [`start ${a}`, `stop ${a}`, `start ${a}`, `start ${b}`]);
  t.strictSame(seen(await receivedEvents(follower)), [`start ${a}`, `start ${b}`]);
  socket.close();
  await socket.closed;
});

t.test("channel: subscribers receive typing events if their client can show them", async (t) => {
  const [anna, bert, carla] = (await people("anna2", "bert2", "carla2")) as [Client, Client, Client];
  const stream_id = await owner.createChannel("talk", [anna, bert]);
  const able = await bert.follow(capable);
  const unable = await bert.follow();
  const outside = await carla.follow(capable);
  const self = await anna.follow(capable);
  for (const kind of ["channel", "stream"]) {
    await expects(t, type(anna, { type: kind, stream_id, topic: " lunch " }), success());
    t.strictSame(await receivedEvents(able), [
      { type: "typing", op: "start", message_type: "stream", sender: person(anna), stream_id, topic: "lunch" },
    ]);
  }
  for (const follower of [unable, outside, self]) t.strictSame(await receivedEvents(follower), []);
});

t.test("[spec 2.9] clients without the capability receive the display name of the empty topic", async (t) => {
  const [anna, bert] = (await people("anna3", "bert3")) as [Client, Client];
  const stream_id = await owner.createChannel("unnamed", [anna, bert]);
  const older = await bert.follow(capable);
  const newer = await bert.follow({
    client_capabilities: { stream_typing_notifications: true, empty_topic_name: true },
  });
  for (const topic of ["", "general chat", "(no topic)"]) {
    await type(anna, { type: "channel", stream_id, topic });
    t.equal((await receivedEvents(older))[0]?.topic, "general chat");
    t.equal((await receivedEvents(newer))[0]?.topic, "");
  }
});

t.test("an inactive typist expires after 15 s with a stop; every start restarts the time", async (t) => {
  silence();
  const [anna, bert] = (await people("anna4", "bert4")) as [Client, Client];
  const stream_id = await owner.createChannel("silent", [anna, bert]);
  const follower = await bert.follow(capable);
  for (const where of [{ to: [bert.userId] }, { type: "channel", stream_id, topic: "t" }]) {
    await type(anna, where);
    t.strictSame(await ops(follower), ["start"]);
    clock.advance(expiry - 1);
    t.strictSame(await ops(follower), [], "not before");
    await type(anna, where);
    t.strictSame(await ops(follower), ["start"]);
    clock.advance(expiry - 1);
    t.strictSame(await ops(follower), [], "counted from the last start");
    clock.advance(1 + tick);
    t.strictSame(await ops(follower), ["stop"]);
    clock.advance(2 * expiry);
    t.strictSame(await ops(follower), [], "once");
  }
});

t.test("a typist who stopped does not expire, and others in the conversation are unaffected", async (t) => {
  silence();
  const [anna, bert, carla] = (await people("anna5", "bert5", "carla5")) as [Client, Client, Client];
  const follower = await carla.follow();
  const to = [anna.userId, bert.userId, carla.userId];
  await type(anna, { to });
  await type(bert, { to });
  await type(anna, { op: "stop", to });
  t.strictSame((await ops(follower)).sort(), ["start", "stop"]);
  clock.advance(expiry + tick);
  const expired = await receivedEvents(follower);
  const found = expired.map(({ op, sender }) => [op, sender.user_id]);
  t.strictSame(found, [["stop", bert.userId]]);
});

t.test("[spec 2.3] with receives_typing_notifications=false no typing event is delivered", async (t) => {
  const [anna, bert, carla] = (await people("anna6", "bert6", "carla6")) as [Client, Client, Client];
  server.setUser(bert.userId, { receives_typing_notifications: false });
  const stream_id = await owner.createChannel("quiet", [anna, bert, carla]);
  const deaf = await bert.follow(capable);
  const hearing = await carla.follow(capable);
  await type(anna, { to: [bert.userId, carla.userId] });
  await type(anna, { type: "channel", stream_id, topic: "t" });
  t.strictSame(await receivedEvents(deaf), []);
  t.equal((await receivedEvents(hearing)).length, 2);
});

t.test("a user who does not share typing gets an error, and nobody receives an event", async (t) => {
  const [anna, bert] = (await people("anna7", "bert7")) as [Client, Client];
  const stream_id = await owner.createChannel("discreet", [anna, bert]);
  const follower = await bert.follow(capable);
  const direct = { to: [bert.userId] };
  const channel = { type: "channel", stream_id, topic: "t" };
  server.setUser(anna.userId, { send_private_typing_notifications: false });
  await expects(t, type(anna, direct), "User has disabled typing notifications for direct messages");
  t.equal((await type(anna, channel)).status, 200);
  server.setUser(anna.userId, {
    send_private_typing_notifications: true,
    send_stream_typing_notifications: false,
  });
  await expects(t, type(anna, channel), "User has disabled typing notifications for channel messages");
  t.equal((await type(anna, direct)).status, 200);
  const messageTypes = (await receivedEvents(follower)).map(({ message_type }) => message_type);
  t.strictSame(messageTypes, ["stream", "direct"]);
});

t.test("typing events are sent in channels of at most 100 subscribers", async (t) => {
  const [anna, bert] = (await people("anna8", "bert8")) as [Client, Client];
  const others = await server.users("many", 99);
  const follower = await bert.follow(capable);
  for (const [name, ids, count] of [
    ["full", [anna.userId, bert.userId, ...others.slice(1)], 1],
    ["overfull", [anna.userId, bert.userId, ...others], 0],
  ] as const) {
    const made = await owner.post("/channels/create", { name, subscribers: ids });
    await follower.settled();
    follower.events.splice(0);
    const typed = await type(anna, { type: "channel", stream_id: made.body.id, topic: "t" });
    t.equal(typed.status, 200);
    t.equal((await receivedEvents(follower)).length, count, `${ids.length} subscribers`);
  }
});

t.test("[D24] a channel that is missing or unreadable for the typist gets Invalid channel ID", async (t) => {
  const [anna, bert] = (await people("anna9", "bert9")) as [Client, Client];
  const guest = await server.user("guest9", roles.guest);
  const sealed = await bert.createChannel("sealed", [bert], { invite_only: true });
  const follower = await bert.follow(capable);
  for (const [by, stream_id] of [
    [anna, sealed],
    [owner, sealed],
    [anna, 99_999],
    [guest, 1],
  ] as const) {
    await expects(t, type(by, { type: "channel", stream_id, topic: "t" }), "Invalid channel ID");
  }
  t.strictSame(await receivedEvents(follower), []);
  t.equal((await type(bert, { type: "channel", stream_id: sealed, topic: "t" })).status, 200);
});

t.test("missing and invalid parameters are rejected with their error messages", async (t) => {
  const [anna] = (await people("annaa")) as [Client];
  const missing = (name: string) =>
    refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
  await expects(t, type(anna, { op: undefined, to: [2] }), missing("op"));
  const wrong: [Params, string][] = [
    [{ op: "pause", to: [2] }, "Invalid op"],
    [{ type: "letter", to: [2] }, "Invalid type"],
    [{ to: [] }, "Empty 'to' list"],
    [{ to: [99_999] }, "Invalid user ID 99999"],
    [{ type: "channel", topic: "t" }, "Missing channel ID"],
    [{ type: "channel", stream_id: '"1"', topic: "t" }, "stream_id is not an integer"],
  ];
  for (const [params, msg] of wrong) await expects(t, type(anna, params), msg, msg);
  for (const params of [{}, { type: "direct" }, { type: "channel", stream_id: 1 }]) {
    t.match(await type(anna, params), { status: 400, body: { result: "error" } }, JSON.stringify(params));
  }
  t.match(await type(owner.anonymous(), { to: [2] }), { status: 401 });
});

t.test("[S3] a topic may be as long as that of a message", async (t) => {
  const [anna, bert] = (await people("annab", "bertb")) as [Client, Client];
  const stream_id = await owner.createChannel("wordy", [anna, bert]);
  const follower = await bert.follow(capable);
  await type(anna, { type: "channel", stream_id, topic: "t".repeat(61) });
  const topics = (await receivedEvents(follower)).map(({ topic }) => topic);
  t.strictSame(topics, [`${"t".repeat(57)}...`], "truncated like a message's topic, so it names the same conversation");
});

t.test("[S3] a conversation remembers at most typing_typists_per_conversation_max typists", async (t) => {
  silence();
  const max = limits.typing_typists_per_conversation_max;
  const stream_id = await owner.createChannel("chorus", []);
  const typists = await people(...Array.from({ length: max + 1 }, (_, index) => `voice${index}x`));
  const [listener] = (await people("listener")) as [Client];
  await listener.post("/users/me/subscriptions", { subscriptions: [{ name: "chorus" }] });
  const follower = await listener.follow(capable);
  for (const typist of typists) await type(typist, { type: "channel", stream_id, topic: "t" });
  t.equal((await receivedEvents(follower)).length, max);
});
