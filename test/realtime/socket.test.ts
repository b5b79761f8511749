/**
 * Every frame of the WebSocket protocol with its ref and its reply, in both encodings, and every rejection
 * (realtime.md).
 */
import { Packr } from "msgpackr";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { connect, follow, messageIds, resume } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import type { Frame, Socket } from "../support/socket.ts";

const server = await startTestServer(t);
const { owner } = server;
const packr = new Packr({ useRecords: false });

/** Whether the connection is open: it answers a ping. */
async function lives(socket: Socket): Promise<boolean> {
  return (await socket.ask({ type: "ping" })).type === "pong";
}

t.test("register returns the queue and the requested state, followed by every event", async (t) => {
  const socket = await connect(owner);
  const reply = await socket.ask({ type: "register", event_types: ["message"], fetch_event_types: ["message"] });
  const { body } = await owner.post("/register", { event_types: ["message"], fetch_event_types: ["message"] });
  t.strictSame({ ...reply, queue_id: "" }, { type: "reply", ref: "r1", ...body, queue_id: "" });
  const id = await owner.say("general", "socket", "pushed");
  const frame = await socket.frame((candidate) => candidate.type === "event");
  t.strictSame(Object.keys(frame).sort(), ["event", "type"]);
  const [polled] = await owner.readNow(body);
  t.strictSame(frame.event, polled, "the same object as by long-poll");
  t.equal(frame.event.message.id, id);
  const refused = await socket.ask({ type: "register", event_types: "message" });
  t.match(refused, { type: "reply", result: "error", code: "BAD_REQUEST", msg: "event_types is not valid JSON" });
  socket.close();
});

t.test("resume returns success and then every later event in order, or BAD_EVENT_QUEUE_ID", async (t) => {
  const queue = await owner.openQueue(["message"]);
  const ids = [await owner.say("general", "resume", "1"), await owner.say("general", "resume", "2")];
  const { socket, reply } = await resume(owner, queue, queue.last_event_id);
  t.strictSame(reply, { type: "reply", ref: "r1", result: "success", msg: "", queue_id: queue.queue_id });
  await socket.event((event) => event.message.id === ids[1]);
  t.strictSame(messageIds(socket.events), ids);
  const outsider = await connect(await server.user("outsider"));
  for (const queueId of [queue.queue_id, "0000-0000"]) {
    t.strictSame(await outsider.ask({ type: "resume", queue_id: queueId, last_event_id: -1 }), {
      type: "reply",
      ref: queueId === queue.queue_id ? "r1" : "r2",
      result: "error",
      msg: `Bad event queue ID: ${queueId}`,
      code: "BAD_EVENT_QUEUE_ID",
      queue_id: queueId,
    });
  }
  for (const wrong of [{}, { queue_id: 7, last_event_id: 1 }, { queue_id: queue.queue_id, last_event_id: "1" }]) {
    t.match(await outsider.ask({ type: "resume", ...wrong }), { result: "error", code: "BAD_REQUEST" });
  }
  t.ok(await lives(outsider));
  outsider.close();
  socket.close();
});

t.test("a valid ack has no reply; an ack with a wrong field has one", async (t) => {
  const { socket, queue } = await follow(owner, { event_types: ["message"] });
  socket.send({ type: "ack", last_event_id: queue.last_event_id, ref: "ack" });
  t.ok(await lives(socket));
  t.notOk(socket.frames.some((frame) => frame.ref === "ack"));
  const wrong = await socket.ask({ type: "ack", last_event_id: "seven" });
  t.match(wrong, { type: "reply", result: "error", code: "BAD_REQUEST" });
  socket.close();
});

t.test("presence replies as POST /users/me/presence does", async (t) => {
  const socket = await connect(owner);
  const reply = await socket.ask({ type: "presence", status: "active", last_update_id: -1 });
  t.match(reply, { type: "reply", ref: "r1", result: "success", msg: "", server_timestamp: Number });
  t.strictSame(Object.keys(reply.presences), [String(owner.userId)]);
  t.strictSame(await socket.ask({ type: "presence", status: "idle", ping_only: true }), {
    type: "reply",
    ref: "r2",
    result: "success",
    msg: "",
    presence_last_update_id: -1,
  });
  const wrong = await socket.ask({ type: "presence", status: "asleep" });
  t.match(wrong, { result: "error", code: "BAD_REQUEST", msg: "Invalid status: asleep" });
  socket.close();
});

t.test("typing is sent to users by `to`, and to a channel by `stream_id` and `topic`", async (t) => {
  const reader = await server.user("reader");
  const channelId = await owner.createChannel("typed", [owner, reader]);
  const { socket: reading } = await follow(reader, { event_types: ["typing"] });
  const socket = await connect(owner);
  const done = { type: "reply", result: "success", msg: "" };
  t.strictSame(await socket.ask({ type: "typing", op: "start", to: [reader.userId] }), { ...done, ref: "r1" });
  t.match(await reading.event((event) => event.message_type === "direct"), { op: "start" });
  const place = { stream_id: channelId, topic: "now" };
  t.strictSame(await socket.ask({ type: "typing", op: "start", ...place }), { ...done, ref: "r2" });
  t.match(await reading.event((event) => event.message_type === "stream"), { op: "start", ...place });
  const isMissing = { result: "error", code: "REQUEST_VARIABLE_MISSING", var_name: "to" };
  t.match(await socket.ask({ type: "typing", op: "start" }), isMissing);
  for (const wrong of [
    { op: "pause", to: [reader.userId] },
    { op: "start", to: [] },
  ]) {
    t.match(await socket.ask({ type: "typing", ...wrong }), { result: "error", code: "BAD_REQUEST" });
  }
  socket.close();
  reading.close();
});

t.test("call executes any REST operation, with typed or text parameters, and returns its response", async (t) => {
  const socket = await connect(owner);
  const params = { type: "channel", to: "general", topic: "called", content: "by socket" };
  const sent = await socket.ask({ type: "call", method: "POST", path: "/messages", params });
  t.match(sent, { type: "reply", result: "success", msg: "", id: Number });
  for (const path of [`/messages/${sent.id}`, `/api/v1/messages/${sent.id}`]) {
    const { body } = await owner.get(`/messages/${sent.id}`, { apply_markdown: false });
    const got = await socket.ask({ type: "call", method: "get", path, params: { apply_markdown: false } });
    t.strictSame({ ...got, ref: "" }, { type: "reply", ref: "", ...body });
  }
  const ignored = await socket.ask({ type: "call", method: "GET", path: "/users/me", params: { moon: 1 } });
  t.strictSame(ignored.ignored_parameters_unsupported, ["moon"]);
  t.match(await socket.ask({ type: "call", method: "GET", path: "/moon" }), { result: "error", code: "NOT_FOUND" });
  const wrongMethod = await socket.ask({ type: "call", method: "PATCH", path: "/messages" });
  t.match(wrongMethod, { result: "error", code: "METHOD_NOT_ALLOWED" });
  const refused = await socket.ask({ type: "call", method: "POST", path: "/messages", params: { type: "channel" } });
  t.match(refused, { result: "error", code: "REQUEST_VARIABLE_MISSING" });
  socket.close();
});

t.test("[D25] a repeated call with the same idempotency_key returns the first response", async (t) => {
  const socket = await connect(owner);
  const call = (content: string, key: unknown) =>
    socket.ask({
      type: "call",
      method: "POST",
      path: "/messages",
      params: { type: "channel", to: "general", topic: "once", content },
      idempotency_key: key,
    });
  const queue = await owner.openQueue(["message"]);
  const first = await call("once", "key-1");
  const again = await call("once", "key-1");
  t.equal(again.id, first.id);
  const byRest = { type: "channel", to: "general", topic: "once", content: "once" };
  const rest = await owner.post("/messages", byRest, { "Idempotency-Key": "key-1" });
  t.equal(rest.body.id, first.id, "and REST shares it");
  t.match(await call("something else", "key-1"), { result: "error", code: "BAD_REQUEST" });
  t.match(await call("once", ""), { result: "error", code: "BAD_REQUEST" });
  t.match(await call("once", 7), { result: "error", code: "BAD_REQUEST" });
  t.match(await call("once", "k".repeat(limits.idempotency_key_bytes_max)), { result: "success" });
  t.match(await call("once", "k".repeat(limits.idempotency_key_bytes_max + 1)), { code: "BAD_REQUEST" });
  t.equal((await owner.readNow(queue)).length, 2);
  socket.close();
});

t.test("a call cannot reach /events, /register or uploads", async (t) => {
  const socket = await connect(owner);
  const excluded = ["/events", "/register", "/user_uploads", "/user_uploads/2/x", "/events/ws", "/api/v1/events"];
  for (const path of excluded) {
    for (const method of ["GET", "POST", "DELETE"]) {
      const reply = await socket.ask({ type: "call", method, path });
      t.match(reply, { type: "reply", result: "error", code: "BAD_REQUEST" }, `${method} ${path}`);
    }
  }
  const disguised = ["/%65vents", "/events/", "//events", "/Events", "/events?queue_id=1", "/api/v1/api/v1/events"];
  for (const path of disguised) {
    const reply = await socket.ask({ type: "call", method: "GET", path, params: { queue_id: "x", last_event_id: 1 } });
    t.equal(reply.result, "error");
    t.not(reply.code, "BAD_EVENT_QUEUE_ID", `${path} is not reachable`);
  }
  for (const wrong of [{}, { method: "GET" }, { path: "/users/me" }, { method: 1, path: "/users/me" }]) {
    t.match(await socket.ask({ type: "call", ...wrong }), { result: "error", code: "BAD_REQUEST" });
  }
  for (const params of ["a=b", [1], null, 7]) {
    const reply = await socket.ask({ type: "call", method: "GET", path: "/users/me", params });
    t.match(reply, { result: "error", code: "BAD_REQUEST", msg: "params is not a dict" });
  }
  t.ok(await lives(socket));
  socket.close();
});

t.test("[S3] a socket has at most 64 calls in flight: more are rejected, not queued", async (t) => {
  const raw = await RawSocket.of(owner);
  const calls = Array.from({ length: limits.socket_calls_pending_max + 1 }, (_, index) => ({
    type: "call",
    method: "POST",
    path: "/messages",
    params: { type: "direct", to: [owner.userId], content: String(index) },
    ref: `c${index}`,
  }));
  raw.send(...calls);
  const replies = await Promise.all(calls.map(({ ref }) => raw.frame((frame) => frame.ref === ref)));
  const found = replies.map((reply) => reply.code ?? reply.result);
  t.strictSame(found, [...Array.from({ length: limits.socket_calls_pending_max }, () => "success"), "OVERLOADED"]);
  raw.destroy();
});

t.test("an invalid frame gets an error reply, and the connection stays open", async (t) => {
  const socket = await connect(owner);
  const unknown = await socket.ask({ type: "moon" });
  t.strictSame(unknown, {
    type: "reply",
    ref: "r1",
    result: "error",
    msg: "Unknown frame type 'moon'",
    code: "BAD_REQUEST",
  });
  const texts = ["", "{", "nonsense", "[]", "7", "null", '"text"', "{}", '{"type":7}', '{"type":"ping","ref":7}'];
  for (const text of texts) {
    const before = socket.frames.length;
    socket.ws.send(text);
    const reply = await socket.frame((frame) => socket.frames.indexOf(frame) === before);
    t.match(reply, { type: "reply", result: "error", code: "BAD_REQUEST" }, text);
    t.notOk("ref" in reply);
  }
  const before = socket.frames.length;
  socket.ws.send(Buffer.from([0xff, 0xfe]), { binary: true });
  t.match(await socket.frame((frame) => socket.frames.indexOf(frame) === before), { code: "BAD_REQUEST" });
  const typeless = await socket.ask({ type: 7 });
  t.match(typeless, { result: "error", code: "BAD_REQUEST", ref: "r2" });
  t.ok(await lives(socket));
  socket.close();
});

t.test("[S3] a ref has at most 64 characters; without one the reply has none", async (t) => {
  const socket = await connect(owner);
  for (const ref of ["x".repeat(64), "\u{1f600}".repeat(64), ""]) {
    socket.send({ type: "ping", ref });
    t.strictSame(await socket.frame((frame) => frame.ref === ref), { type: "pong", ref });
  }
  socket.send({ type: "ping", ref: "x".repeat(65) });
  const refused = await socket.frame((frame) => frame.type === "reply");
  t.match(refused, { result: "error", code: "BAD_REQUEST" });
  t.notOk("ref" in refused);
  socket.send({ type: "ping" });
  t.ok(await socket.frame((frame) => frame.type === "pong" && !("ref" in frame)));
  socket.close();
});

/** A ping of exactly that many bytes. */
function pingOf(bytes: number): string {
  const bare = JSON.stringify({ type: "ping", ref: "big", pad: "" });
  return JSON.stringify({ type: "ping", ref: "big", pad: "x".repeat(bytes - bare.length) });
}

t.test("[S3] a frame of ws_frame_bytes_max is read; one byte more gets a reply and closes with 1009", async (t) => {
  const socket = await connect(owner);
  socket.ws.send(pingOf(limits.ws_frame_bytes_max));
  t.strictSame(await socket.frame((frame) => frame.ref === "big"), { type: "pong", ref: "big" });
  const before = socket.frames.length;
  socket.ws.send(pingOf(limits.ws_frame_bytes_max + 1));
  t.strictSame(await socket.closed, { code: 1009, reason: "frame too large" });
  t.match(socket.frames.slice(before), [{ type: "reply", result: "error", code: "BAD_REQUEST" }]);
  const huge = await connect(owner);
  huge.ws.send(pingOf(limits.ws_frame_bytes_hard_max + 1));
  t.ok([1006, 1009].includes((await huge.closed).code), "beyond the hard bound the protocol's own close");
});

t.test("with the subprotocol msgpack every reply and event is a binary MessagePack frame of the same", async (t) => {
  const plain = await connect(owner);
  const packed = await connect(owner, "msgpack");
  t.equal(packed.ws.protocol, "msgpack");
  t.equal(plain.ws.protocol, "");
  const kinds = new Set<boolean>();
  packed.ws.on("message", (_data, isBinary) => kinds.add(isBinary));
  const ask = (frame: Record<string, unknown>): Promise<Frame> => {
    packed.ws.send(packr.pack(frame));
    return packed.frame((candidate) => candidate.ref === frame["ref"]);
  };
  t.strictSame(await ask({ type: "ping", ref: "p" }), { type: "pong", ref: "p" });
  const types = { event_types: ["message", "delete_message"], fetch_event_types: [] };
  const registered = await ask({ type: "register", ...types, ref: "q" });
  const other = await plain.ask({ type: "register", ...types });
  t.strictSame(Object.keys(registered).sort(), Object.keys(other).sort());
  const channelId = await owner.createChannel("packed", [owner]);
  const params = { type: "channel", to: channelId, topic: "t", content: "packed \u{1f600}" };
  const sent = await ask({ type: "call", method: "POST", path: "/messages", params, ref: "m" });
  await owner.say(channelId, "t", "second");
  await owner.post(`/streams/${channelId}/delete_topic`, { topic_name: "t" });
  const isLast = (event: { type: string }) => event.type === "delete_message";
  await Promise.all([packed.event(isLast), plain.event(isLast)]);
  t.strictSame(packed.events, plain.events);
  t.equal(packed.events[0].message.id, sent.id);
  const pieces = packed.frames.filter((frame) => frame.type === "events");
  t.equal(pieces.length, 1, "several events that are ready at once are sent in one frame");
  t.equal(pieces[0].events.length, 2);
  for (const bytes of [Buffer.from([0xc1]), packr.pack([1]), packr.pack("x"), Buffer.alloc(0)]) {
    const before = packed.frames.length;
    packed.ws.send(bytes);
    const reply = await packed.frame((frame) => packed.frames.indexOf(frame) === before);
    t.match(reply, { type: "reply", result: "error", code: "BAD_REQUEST" });
  }
  const before = packed.frames.length;
  packed.ws.send('{"type":"ping"}');
  t.match(await packed.frame((frame) => packed.frames.indexOf(frame) === before), { code: "BAD_REQUEST" });
  t.strictSame(await ask({ type: "ping", ref: "z" }), { type: "pong", ref: "z" });
  t.strictSame([...kinds], [true], "never a text frame");
  plain.close();
  packed.close();
});
