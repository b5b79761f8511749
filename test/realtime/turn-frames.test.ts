/**
 * Events that are ready at once (realtime.md): a socket receives the events of a turn in one write, in order, with its
 * own flags, in frames of bounded size. Posts that arrive in one segment are decided in one turn.
 */
import { Packr } from "msgpackr";
import t from "tap";
import type { EventPosition, MessageId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { EncodedEvent, Encoding } from "../../src/edge/realtime/encoded-event.ts";
import { FrameBatch, PublishBatch } from "../../src/edge/realtime/frame-batch.ts";
import type { Format } from "../../src/edge/realtime/socket-frames.ts";
import type { Client, Event } from "../support/client.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { connect, follow, hubOf, increases, messageIds, queueOf, resume } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import type { Frame, Socket } from "../support/socket.ts";

// Readers that are paused answer no ping.
const server = await startTestServer(t, { environment: { SOCKET_HEARTBEAT_S: String(limits.socket_heartbeat_s_max) } });
const { owner } = server;
const packr = new Packr({ useRecords: false });

/** Below `socket_calls_pending_max`. */
const callsAtOnce = 60;

function post(channel: string, content: string, ref: string): object {
  const params = { type: "channel", to: channel, topic: "burst", content, read_by_sender: true };
  return { type: "call", method: "POST", path: "/messages", params, ref };
}

function typing(channelId: number, op: string): object {
  const params = { type: "channel", op, stream_id: channelId, topic: "burst" };
  return { type: "call", method: "POST", path: "/typing", params };
}

/** Sends calls in one write. @returns the ids of the messages among them when all have been answered */
async function burst(raw: RawSocket, calls: readonly object[]): Promise<number[]> {
  raw.send(...calls);
  const refs = calls.flatMap((call) => ("ref" in call ? [call.ref] : []));
  const replies = await Promise.all(refs.map((ref) => raw.frame((frame) => frame.ref === ref)));
  return replies.map((reply) => reply.id);
}

let bursts = 0;

function burstOf(raw: RawSocket, channel: string, contents: readonly string[]): Promise<number[]> {
  bursts++;
  return burst(
    raw,
    contents.map((content, index) => post(channel, content, `${bursts}:${index}`)),
  );
}

function eventFrames(socket: { readonly frames: readonly Frame[] }): Frame[] {
  return socket.frames.filter(({ type }) => type === "event" || type === "events");
}

async function seen(socket: Socket, id: number | undefined): Promise<Event[]> {
  await socket.event((event) => event.message?.id === id);
  return socket.events;
}

async function packedFollower(client: Client): Promise<Socket> {
  const queue = await client.openQueue(["message"], { apply_markdown: true });
  const socket = await connect(client, "msgpack");
  socket.ws.send(packr.pack({ type: "resume", ...queue, ref: "resume" }));
  await socket.frame((frame) => frame.ref === "resume");
  return socket;
}

t.test("the events of one turn arrive in one frame, in order, each reader with its own flags", async (t) => {
  const [plain, mentioned, packed] = await Promise.all(
    ["plain reader", "called reader", "packed reader"].map((name) => server.user(name)),
  );
  if (plain === undefined || mentioned === undefined || packed === undefined) throw new Error("no readers");
  await owner.createChannel("shared", [owner, plain, mentioned, packed]);
  const types = { event_types: ["message"] };
  const sockets = {
    plain: (await follow(plain, { ...types, apply_markdown: true })).socket,
    text: (await follow(plain, types)).socket,
    mentioned: (await follow(mentioned, types)).socket,
    packed: await packedFollower(packed),
    own: (await follow(owner, types)).socket,
  };
  const raw = await RawSocket.of(owner);
  const contents = Array.from({ length: 30 }, (_, index) => (index === 7 ? "@**called reader 0**" : `*${index}*`));
  const ids = await burstOf(raw, "shared", contents);
  const flags = (of: (index: number) => string[]) => contents.map((_, index) => of(index));
  const expected: Record<keyof typeof sockets, string[][]> = {
    plain: flags(() => []),
    text: flags(() => []),
    mentioned: flags((index) => (index === 7 ? ["mentioned"] : [])),
    packed: flags(() => []),
    own: flags(() => ["read"]),
  };
  const frames: Record<string, number[]> = {};
  for (const [name, socket] of Object.entries(sockets)) {
    const events = await seen(socket, ids.at(-1));
    t.strictSame(messageIds(events), ids, `${name}: every message once, in order`);
    t.ok(increases(events), name);
    const found = events.map((event) => event.flags);
    t.strictSame(found, expected[name as keyof typeof sockets], `${name}: flags`);
    frames[name] = eventFrames(socket).map((frame) => frame.events?.length ?? 1);
    socket.terminate();
  }
  const [turns = [], ...others] = Object.values(frames);
  t.ok(turns.length < ids.length, `${turns.length} turns`);
  for (const other of others) t.strictSame(other, turns, "each turn is one frame for every reader");
  t.equal(sockets.text.events[0]?.message.content, "*0*");
  t.match(sockets.plain.events[0]?.message.content, /<em>0<\/em>/);
  t.strictSame(sockets.packed.events, sockets.plain.events, "MessagePack has the same content");
  raw.destroy();
});

t.test(
  "[E1] queues of one person that were registered alike get the same, with the exception of the sender's",
  async (t) => {
    const person = await server.user("person with tabs");
    const channelId = await owner.createChannel("alike", [owner, person]);
    const options = { event_types: ["message", "typing"], apply_markdown: true };
    const tabs = [await follow(person, options), await follow(person, options), await follow(person, options)];
    const other = await follow(person, { ...options, apply_markdown: false });
    const [sender, ...readers] = tabs;
    if (sender === undefined) throw new Error("no sender");
    const raw = await RawSocket.of(person);
    const params = { type: "channel", to: "alike", topic: "burst", content: "*sent*" };
    const sent = {
      ...post("alike", "", "own"),
      params: { ...params, queue_id: sender.queue.queue_id, local_id: "7.01" },
    };
    const ids = await burst(raw, [sent, typing(channelId, "start"), post("alike", "after", "after")]);
    const eventsOf = async (socket: Socket) => {
      const events = await seen(socket, ids.at(-1));
      t.ok(increases(events));
      return events.map((event) => [event.type, event.local_message_id, event.message?.content]);
    };
    const [first = [], second] = [
      await eventsOf(readers[0]?.socket as Socket),
      await eventsOf(readers[1]?.socket as Socket),
    ];
    const messages = first.filter(([type]) => type === "message");
    t.strictSame(messages, [
      ["message", undefined, "<p><em>sent</em></p>"],
      ["message", undefined, "<p>after</p>"],
    ]);
    t.strictSame(second, first);
    const echoed = (await eventsOf(sender.socket)).filter(([, localId]) => localId !== undefined);
    t.strictSame(echoed, [["message", "7.01", "<p><em>sent</em></p>"]]);
    const unlike = (await eventsOf(other.socket))
      .map(([, , content]) => content)
      .filter((content) => content !== undefined);
    t.strictSame(unlike, ["*sent*", "after"]);
    for (const { socket } of [...tabs, other]) socket.terminate();
    raw.destroy();
  },
);

t.test("a single event has a frame of its own kind", async (t) => {
  const { socket } = await follow(owner, { event_types: ["message"] });
  const id = await owner.say("general", "alone", "one");
  await seen(socket, id);
  const types = eventFrames(socket).map(({ type }) => type);
  t.strictSame(types, ["event"]);
  socket.terminate();
});

t.test("[E1, E4] typing between messages of one turn keeps its position", async (t) => {
  const [reader, typist] = await Promise.all([server.user("watcher"), server.user("quick typist")]);
  const channelId = await owner.createChannel("mixed", [reader, typist]);
  const { socket } = await follow(reader, { event_types: ["message", "typing"] });
  const raw = await RawSocket.of(typist);
  const calls = [
    typing(channelId, "start"),
    post("mixed", "a", "a"),
    typing(channelId, "stop"),
    post("mixed", "b", "b"),
  ];
  const ids = await burst(raw, calls);
  const events = await seen(socket, ids.at(-1));
  const found = events.map((event) => event.op ?? event.message.content);
  t.strictSame(found, ["start", "a", "stop", "b"]);
  t.ok(increases(events));
  socket.terminate();
  raw.destroy();
});

t.test("[S3] frames of several events respect their size bound; the rest follows in the next frame", async (t) => {
  const { socket } = await follow(owner, { event_types: ["message"] });
  const raw = await RawSocket.of(owner);
  const filler = "x".repeat(3000);
  const ids = await burstOf(
    raw,
    "general",
    Array.from({ length: callsAtOnce }, (_, index) => `${index} ${filler}`),
  );
  t.strictSame(messageIds(await seen(socket, ids.at(-1))), ids);
  const frames = eventFrames(socket);
  t.ok(frames.length > 1 && frames.length < ids.length, `${frames.length} frames`);
  for (const frame of frames) {
    const last = JSON.stringify(frame.events?.at(-1) ?? frame.event).length;
    t.ok(JSON.stringify(frame).length - last < limits.socket_events_frame_bytes_max + 100);
  }
  socket.terminate();
  raw.destroy();
});

t.test("[E3] during bursts with stalled readers the others miss nothing, the stalled ones resume", async (t) => {
  const people = await Promise.all(Array.from({ length: 4 }, (_, index) => server.user(`burst reader ${index}`)));
  await owner.createChannel("bursts", [owner, ...people]);
  const healthy = await Promise.all(people.map((person) => follow(person, { event_types: ["message"] })));
  const stalled = await Promise.all(
    people.slice(0, 2).map(async (person) => {
      const queue = await person.openQueue(["message"]);
      const raw = await RawSocket.of(person);
      raw.send({ type: "resume", queue_id: queue.queue_id, last_event_id: queue.last_event_id, ref: "resume" });
      await raw.frame((frame) => frame.ref === "resume");
      raw.pause();
      return { person, queue, raw };
    }),
  );
  const poster = await RawSocket.of(owner);
  // Three-byte characters: 12 kB in one event.
  const filler = "\u6f22".repeat(4000);
  const ids: number[] = [];
  const isFollowed = () => stalled.some(({ queue }) => queueOf(server, queue)?.state.kind === "socket");
  while (isFollowed() && ids.length < 4000) {
    const contents = Array.from({ length: callsAtOnce }, (_, index) => `${index} ${filler}`);
    ids.push(...(await burstOf(poster, "bursts", contents)));
    for (const { socket } of healthy) await socket.event((event) => event.message.id === ids.at(-1));
  }
  t.notOk(isFollowed(), `both were closed after ${ids.length} messages`);
  for (const { socket } of healthy) t.strictSame(messageIds(socket.events), ids);
  for (const { person, queue, raw } of stalled) {
    raw.resume();
    t.equal((await raw.closed).code, 4508);
    const { socket } = await resume(person, queue, raw.events.at(-1)?.id ?? queue.last_event_id);
    await socket.event((event) => event.message.id === ids.at(-1));
    t.strictSame(messageIds([...raw.events, ...socket.events]), ids, "no gap, no duplicate");
    socket.terminate();
  }
  for (const { socket } of healthy) socket.terminate();
  poster.destroy();
});

/** An encoding that counts how often it is built. */
function counted(id: number): { readonly encoding: Encoding; times(): number } {
  let times = 0;
  const snippet = {
    id,
    title: "",
    date_created: 0,
    get content() {
      times++;
      return `snippet ${id}`;
    },
  };
  const event = { type: "saved_snippets", op: "update", saved_snippet: snippet } as const;
  return { encoding: new Encoding([event], id), times: () => times };
}

t.test("an event is decided once for the queues of one person that were registered alike", async (t) => {
  const person = await server.user("decided once");
  await owner.createChannel("decisions", [owner, person]);
  const id = await owner.say("decisions", "topic", "text");
  const options = { event_types: ["message"] };
  const followers = [await follow(person, options), await follow(person, options), await follow(person, options)];
  const queues = followers.flatMap(({ queue }) => hubOf(server).queue(queue.queue_id) ?? []);
  let reads = 0;
  const body = {
    get message_id() {
      reads++;
      return id as MessageId;
    },
  };
  const position = server.realm.view.position as EventPosition;
  const audience = { to: "users", ids: [queues[0]?.userId ?? 0] } as const;
  const event = new EncodedEvent(server.realm.view, { position, at: 0, type: "message", audience, body }, null);
  const readsOf = queues.map((queue) => {
    const before = reads;
    t.ok(event.for(queue));
    return reads - before;
  });
  t.match(readsOf, [/[1-9]/, 0, 0]);
  t.equal(readsOf.length, 3);
  for (const { socket } of followers) socket.terminate();
});

t.test("an event is encoded once per format, however many sockets receive it together with other events", async (t) => {
  const common = [1, 2, 3].map(counted);
  const batch = new PublishBatch();
  const reader = { take: () => null, outlet: { sendPassed: () => undefined } };
  const framesOf = (format: Format, encodings: readonly Encoding[]) =>
    encodings.reduce((frameBatch, encoding) => frameBatch.and(encoding), batch.begin(reader, format)).frames;
  const all = common.map(({ encoding }) => encoding);
  const made = Array.from({ length: 100 }, () => framesOf("json", all));
  const own = new Encoding([{ type: "alert_words", alert_words: ["of another reader"] }], 4);
  const different = framesOf("json", [...all, own]);
  const found = common.map(({ times }) => times());
  t.strictSame(found, [1, 1, 1]);
  t.equal(made.at(-1)?.[0], made[1]?.[0], "the same bytes are shared");
  t.equal(different.length, 1);
  t.equal(JSON.parse(String(different[0])).events.length, 4);
  framesOf("msgpack", all);
  framesOf("msgpack", all);
  const shown = common.map(({ times }) => times());
  t.strictSame(shown, [2, 2, 2]);
  t.strictSame(FrameBatch.empty("json").frames, [], "nothing is sent when there is nothing");
});

t.test("[M1] a publication passes the gate once, with all readers' events, and counts shared bytes once", async (t) => {
  const batch = new PublishBatch();
  const sent: string[] = [];
  const bugs: unknown[] = [];
  const { encoding } = counted(1);
  const events = new Map<string, FrameBatch>();
  const reader = (name: string, doesFail = false) => {
    const own = {
      take: () => events.get(name) ?? null,
      outlet: {
        sendPassed() {
          if (doesFail) throw new Error("broken");
          sent.push(name);
        },
      },
    };
    const begun = batch.begin(own, "json");
    if (name !== "nothing for it") events.set(name, begun.and(encoding));
  };
  reader("first");
  reader("broken", true);
  reader("nothing for it");
  reader("last");
  const passed: { leave: () => void; bytes: number }[] = [];
  batch.end({ waitFor: (leave, _seen, bytes = 0) => void passed.push({ leave, bytes }) }, (error) => bugs.push(error));
  t.strictSame(sent, [], "nothing leaves before");
  passed[0]?.leave();
  t.strictSame(sent, ["first", "last"]);
  t.match(bugs, [{ message: "broken" }], "it is reported, and the others get theirs");
  t.equal(passed.length, 1);
  t.equal(passed[0]?.bytes, encoding.bytes("json")[0]?.length);
});

t.test("[S3] gate_piece_sockets: that many sockets leave in one piece, one more in a second piece", async (t) => {
  const pieces = (sockets: number) => {
    const batch = new PublishBatch();
    const { encoding } = counted(1);
    const sent: number[] = [];
    for (let socket = 0; socket < sockets; socket++) {
      const events: { batch: FrameBatch | null } = { batch: null };
      const reader = { take: () => events.batch, outlet: { sendPassed: () => void sent.push(socket) } };
      events.batch = batch.begin(reader, "json").and(encoding);
    }
    const passed: { readonly leave: () => void; readonly bytes: number }[] = [];
    batch.end({ waitFor: (leave, _seen, bytes = 0) => void passed.push({ leave, bytes }) }, (error) =>
      t.fail(String(error)),
    );
    for (const { leave } of passed) leave();
    t.strictSame(sent, [...sent.keys()], "in order");
    t.equal(sent.length, sockets);
    return passed.map(({ bytes }) => bytes > 0);
  };
  t.strictSame(pieces(limits.gate_piece_sockets), [true]);
  t.strictSame(pieces(limits.gate_piece_sockets + 1), [false, true], "their bytes count until the last has left");
});

t.test("[S3] socket_events_frame_bytes_max: one frame at the bound, two frames one byte above it", async (t) => {
  const half = limits.socket_events_frame_bytes_max / 2;
  /** Events of exactly those sizes, in one record. */
  const record = (...sizes: readonly number[]) => {
    const bare = JSON.stringify({ type: "alert_words", alert_words: [""], id: sizes.length }).length;
    return new Encoding(
      sizes.map((size) => ({ type: "alert_words", alert_words: ["f".repeat(size - bare)] })),
      sizes.length,
    );
  };
  const lengths = (frameBatch: FrameBatch) =>
    frameBatch.frames.map((frame) => JSON.parse(String(frame)).events?.length ?? 1);
  const none = FrameBatch.empty("json");
  t.strictSame(lengths(none.and(record(half, half))), [2]);
  t.strictSame(lengths(none.and(record(half, half + 1))), [1, 1]);
  t.strictSame(lengths(none.and(record(3 * half, half, half, half))), [1, 2, 1], "a longer event is sent alone");
  t.equal(none.and(record(half)).and(record(half - 1)).isFull, false);
  t.equal(none.and(record(half)).and(record(half)).isFull, true);
});
