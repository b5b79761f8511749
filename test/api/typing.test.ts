/**
 * POST /typing (public API; spec section 6; realtime.md, Who gets what): conversations, audience, settings, errors, and the stop of
 * who goes silent for 15 s, on a clock that the test moves.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import type { Client, Params } from "../support/client.ts";
import {
  createChannel,
  crowd,
  Follower,
  outcome,
  personOf,
  refusal,
  setUserSettings,
  success,
} from "../support/conversation.ts";
import { Socket } from "../support/socket.ts";
import { typingCapable as capable, told, type, typingServer } from "../support/typing.ts";

const { clock, server, owner } = await typingServer(t);
/** A silent typist counts until then (realtime.md); the timer wheel's tick comes on top. */
const expiry = 15_000;
const tick = 200;

/** Everybody has left their conversations: tests begin in silence. */
function silence(): void {
  clock.advance(expiry + tick);
}

function people(...names: string[]): Promise<Client[]> {
  return Promise.all(names.map((name) => personOf(server, name)));
}

const person = (client: Client) => ({ user_id: client.userId, email: client.account?.email });

const ops = async (follower: Follower) => (await told(follower)).map(({ op }) => op);

t.test(
  "[OpenAPI, set-typing-status] direct: all participants are told who types to whom, the typist included",
  async (t) => {
    const [anna, bert, carla, dora] = (await people("anna", "bert", "carla", "dora")) as [
      Client,
      Client,
      Client,
      Client,
    ];
    const followers = await Promise.all([anna, bert, carla, dora].map((client) => Follower.of(client)));
    t.strictSame(outcome(await type(anna, { to: [bert.userId, carla.userId] })), success());
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
    for (const follower of followers) each.push(await told(follower));
    t.strictSame(each, [[both[1]], [both[1]], [both[1]], []], "unread, the latest notice wins (E4)");
  },
);

t.test("[E4] a queue that is read gets every notice, one that is not the latest of each typist", async (t) => {
  const [anna, bert, carla] = (await people("anna1", "bert1", "carla1")) as [Client, Client, Client];
  const socket = new Socket(server.url, { as: carla });
  await socket.opened();
  await socket.ask({ type: "register", event_types: ["typing"] });
  const follower = await Follower.of(carla);
  for (const op of ["start", "stop", "start"]) await type(anna, { op, to: [carla.userId] });
  await type(bert, { to: [carla.userId] });
  await socket.event((event) => event.sender.user_id === bert.userId);
  const seen = (events: readonly { op: string; sender: { user_id: number } }[]) =>
    events.map(({ op, sender }) => `${op} ${sender.user_id}`);
  const [a, b] = [anna.userId, bert.userId];
  t.strictSame(seen(socket.events), [`start ${a}`, `stop ${a}`, `start ${a}`, `start ${b}`]);
  t.strictSame(seen(await told(follower)), [`start ${a}`, `start ${b}`]);
  socket.close();
  await socket.closed;
});

t.test("[realtime] channel: subscribers are told, if their client can show it", async (t) => {
  const [anna, bert, carla] = (await people("anna2", "bert2", "carla2")) as [Client, Client, Client];
  const stream_id = await createChannel(owner, "talk", [anna, bert]);
  const able = await Follower.of(bert, capable);
  const unable = await Follower.of(bert);
  const outside = await Follower.of(carla, capable);
  const self = await Follower.of(anna, capable);
  for (const kind of ["channel", "stream"]) {
    t.strictSame(outcome(await type(anna, { type: kind, stream_id, topic: " lunch " })), success());
    t.strictSame(await told(able), [
      { type: "typing", op: "start", message_type: "stream", sender: person(anna), stream_id, topic: "lunch" },
    ]);
  }
  for (const follower of [unable, outside, self]) t.strictSame(await told(follower), []);
});

t.test("[spec 2.9] the empty topic is named for clients that do not know it", async (t) => {
  const [anna, bert] = (await people("anna3", "bert3")) as [Client, Client];
  const stream_id = await createChannel(owner, "unnamed", [anna, bert]);
  const older = await Follower.of(bert, capable);
  const newer = await Follower.of(bert, {
    client_capabilities: { stream_typing_notifications: true, empty_topic_name: true },
  });
  for (const topic of ["", "general chat", "(no topic)"]) {
    await type(anna, { type: "channel", stream_id, topic });
    t.equal((await told(older))[0]?.topic, "general chat");
    t.equal((await told(newer))[0]?.topic, "");
  }
});

t.test("[realtime] who goes silent expires after 15 s with a stop; every start begins them anew", async (t) => {
  silence();
  const [anna, bert] = (await people("anna4", "bert4")) as [Client, Client];
  const stream_id = await createChannel(owner, "silent", [anna, bert]);
  const follower = await Follower.of(bert, capable);
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

t.test("[realtime] who has stopped does not expire, and others in the conversation are not concerned", async (t) => {
  silence();
  const [anna, bert, carla] = (await people("anna5", "bert5", "carla5")) as [Client, Client, Client];
  const follower = await Follower.of(carla);
  const to = [anna.userId, bert.userId, carla.userId];
  await type(anna, { to });
  await type(bert, { to });
  await type(anna, { op: "stop", to });
  t.strictSame((await ops(follower)).sort(), ["start", "stop"]);
  clock.advance(expiry + tick);
  const expired = await told(follower);
  t.strictSame(
    expired.map(({ op, sender }) => [op, sender.user_id]),
    [["stop", bert.userId]],
  );
});

t.test("[spec 2.3] receives_typing_notifications=false: nothing is delivered", async (t) => {
  const [anna, bert, carla] = (await people("anna6", "bert6", "carla6")) as [Client, Client, Client];
  setUserSettings(server, bert.userId, { receives_typing_notifications: false });
  const stream_id = await createChannel(owner, "quiet", [anna, bert, carla]);
  const deaf = await Follower.of(bert, capable);
  const hearing = await Follower.of(carla, capable);
  await type(anna, { to: [bert.userId, carla.userId] });
  await type(anna, { type: "channel", stream_id, topic: "t" });
  t.strictSame(await told(deaf), []);
  t.equal((await told(hearing)).length, 2);
});

t.test("[realtime] who does not share typing is told so, and nobody else anything", async (t) => {
  const [anna, bert] = (await people("anna7", "bert7")) as [Client, Client];
  const stream_id = await createChannel(owner, "discreet", [anna, bert]);
  const follower = await Follower.of(bert, capable);
  const direct = { to: [bert.userId] };
  const channel = { type: "channel", stream_id, topic: "t" };
  setUserSettings(server, anna.userId, { send_private_typing_notifications: false });
  t.strictSame(
    outcome(await type(anna, direct)),
    refusal("User has disabled typing notifications for direct messages"),
  );
  t.equal((await type(anna, channel)).status, 200);
  setUserSettings(server, anna.userId, {
    send_private_typing_notifications: true,
    send_stream_typing_notifications: false,
  });
  t.strictSame(
    outcome(await type(anna, channel)),
    refusal("User has disabled typing notifications for channel messages"),
  );
  t.equal((await type(anna, direct)).status, 200);
  t.strictSame(
    (await told(follower)).map(({ message_type }) => message_type),
    ["stream", "direct"],
  );
});

t.test("[realtime] typing is pushed in channels of at most 100 subscribers", async (t) => {
  const [anna, bert] = (await people("anna8", "bert8")) as [Client, Client];
  const others = await crowd(server, "many", 99);
  const follower = await Follower.of(bert, capable);
  for (const [name, ids, count] of [
    ["full", [anna.userId, bert.userId, ...others.slice(1)], 1],
    ["overfull", [anna.userId, bert.userId, ...others], 0],
  ] as const) {
    const made = await owner.post("/channels/create", { name, subscribers: ids });
    await follower.settled();
    follower.events.splice(0);
    const typed = await type(anna, { type: "channel", stream_id: made.body.id, topic: "t" });
    t.equal(typed.status, 200);
    t.equal((await told(follower)).length, count, `${ids.length} subscribers`);
  }
});

t.test("[D24] a channel that the typist may not read, or that is not there: Invalid channel ID", async (t) => {
  const [anna, bert] = (await people("anna9", "bert9")) as [Client, Client];
  const guest = await personOf(server, "guest9", roles.guest);
  const sealed = await createChannel(bert, "sealed", [bert], { invite_only: true });
  const follower = await Follower.of(bert, capable);
  for (const [by, stream_id] of [
    [anna, sealed],
    [owner, sealed],
    [anna, 99_999],
    [guest, 1],
  ] as const) {
    t.strictSame(outcome(await type(by, { type: "channel", stream_id, topic: "t" })), refusal("Invalid channel ID"));
  }
  t.strictSame(await told(follower), []);
  t.equal((await type(bert, { type: "channel", stream_id: sealed, topic: "t" })).status, 200);
});

t.test("[openapi set-typing-status] what is missing or wrong is refused in its own words", async (t) => {
  const [anna] = (await people("annaa")) as [Client];
  const missing = (name: string) =>
    refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
  t.strictSame(outcome(await type(anna, { op: undefined, to: [2] })), missing("op"));
  const wrong: [Params, string][] = [
    [{ op: "pause", to: [2] }, "Invalid op"],
    [{ type: "letter", to: [2] }, "Invalid type"],
    [{ to: [] }, "Empty 'to' list"],
    [{ to: [99_999] }, "Invalid user ID 99999"],
    [{ type: "channel", topic: "t" }, "Missing channel ID"],
    [{ type: "channel", stream_id: '"1"', topic: "t" }, "stream_id is not an integer"],
  ];
  for (const [params, msg] of wrong) t.strictSame(outcome(await type(anna, params)), refusal(msg), msg);
  for (const params of [{}, { type: "direct" }, { type: "channel", stream_id: 1 }]) {
    t.match(await type(anna, params), { status: 400, body: { result: "error" } }, JSON.stringify(params));
  }
  t.match(await type(owner.anonymous(), { to: [2] }), { status: 401 });
});

t.test("[S3] a topic is as long as one that can be written", async (t) => {
  const [anna, bert] = (await people("annab", "bertb")) as [Client, Client];
  const stream_id = await createChannel(owner, "wordy", [anna, bert]);
  const follower = await Follower.of(bert, capable);
  await type(anna, { type: "channel", stream_id, topic: "t".repeat(61) });
  t.strictSame(
    (await told(follower)).map(({ topic }) => topic),
    [`${"t".repeat(57)}...`],
    "cut as a message's would be, so that it names the same conversation",
  );
});

t.test("[S3] a conversation remembers at most typing_typists_per_conversation_max typists", async (t) => {
  silence();
  const max = limits.typing_typists_per_conversation_max;
  const stream_id = await createChannel(owner, "chorus", []);
  const typists = await people(...Array.from({ length: max + 1 }, (_, index) => `voice${index}x`));
  const [listener] = (await people("listener")) as [Client];
  await listener.post("/users/me/subscriptions", { subscriptions: [{ name: "chorus" }] });
  const follower = await Follower.of(listener, capable);
  for (const typist of typists) await type(typist, { type: "channel", stream_id, topic: "t" });
  t.equal((await told(follower)).length, max);
});
