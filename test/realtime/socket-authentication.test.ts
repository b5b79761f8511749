/** Who may open a WebSocket, how it says who it is, and what ends it (realtime.md: WebSocket, Close codes, Bounds). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Client } from "../support/client.ts";
import { personOf } from "../support/conversation.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { connect, follow, holdPoll, messageIds, queueOf, readNow, resume, until } from "../support/realtime.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { startTestServer } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

const server = await startTestServer(t);
const { owner } = server;

const closes = {
  malformed: { code: 4400, reason: "malformed: fix the client" },
  notAuthenticated: { code: 4401, reason: "not authenticated: do not retry with these credentials" },
  deactivated: { code: 4403, reason: "account or organization deactivated: do not retry" },
  late: { code: 4408, reason: "no authentication in time: reconnect and authenticate first" },
  takenOver: { code: 4409, reason: "queue taken over by a newer connection" },
  gone: { code: 4410, reason: "queue gone: register again" },
  limited: { code: 4429, reason: "rate limited: retry later" },
  goingAway: { code: 1001, reason: "server going away: reconnect and resume" },
};

/** A socket without credentials. */
async function stranger(url = server.url): Promise<Socket> {
  const socket = new Socket(url);
  await socket.opened();
  return socket;
}

t.test("[realtime] Basic credentials in the upgrade's header open a socket that can be used at once", async (t) => {
  const socket = await connect(owner);
  t.strictSame(await socket.ask({ type: "ping" }), { type: "pong", ref: "r1" });
  socket.close();
});

t.test("[realtime] [D2] wrong credentials in the header refuse the upgrade in the envelope", async (t) => {
  const wrong = Buffer.from("owner@localhost:0123456789abcdef").toString("base64");
  const cases = [
    [`Basic ${wrong}`, "INVALID_API_KEY", "Invalid API key"],
    ["Bearer abc", "UNAUTHORIZED", "This endpoint requires HTTP basic authentication."],
    ["Basic %%%", "UNAUTHORIZED", "Invalid authorization header for basic auth"],
  ] as const;
  for (const [authorization, code, msg] of cases) {
    const { status, headers, body } = await new RawSocket(server.url, { authorization }).handshake;
    t.equal(status, 401);
    t.strictSame(JSON.parse(body), { result: "error", msg, code });
    t.equal(/www-authenticate: basic/i.test(headers), code === "UNAUTHORIZED", "[D2] only where none was understood");
  }
  const leaver = await personOf(server, "leaver");
  await owner.delete(`/users/${leaver.userId}`);
  const refused = await new RawSocket(server.url, leaver).handshake;
  t.match(JSON.parse(refused.body), { code: "USER_DEACTIVATED" });
});

t.test("[realtime] for browsers: no header, and a first frame that authenticates", async (t) => {
  const socket = await stranger();
  const { email, key } = owner.account ?? { email: "", key: "" };
  const reply = await socket.ask({ type: "authenticate", email, api_key: key });
  t.strictSame(reply, {
    type: "reply",
    ref: "r1",
    result: "success",
    msg: "",
    user_id: owner.userId,
    realm_name: "Colloquy",
  });
  const { body } = await owner.get("/users/me");
  const called = await socket.ask({ type: "call", method: "GET", path: "/users/me" });
  t.strictSame(called, { type: "reply", ref: "r2", ...body });
  const again = await socket.ask({ type: "authenticate", email, api_key: key });
  t.match(again, { type: "reply", result: "error", code: "BAD_REQUEST" });
  t.strictSame(await socket.ask({ type: "ping" }), { type: "pong", ref: "r4" }, "and stays");
  socket.close();
});

t.test("[realtime] nothing but authenticate is accepted first: 4401", async (t) => {
  for (const frame of [
    { type: "ping", ref: "a" },
    { type: "register", ref: "a" },
    { type: "authenticate", email: 7, api_key: "x", ref: "a" },
  ]) {
    const socket = await stranger();
    socket.send(frame);
    t.strictSame(await socket.closed, closes.notAuthenticated, frame.type);
    t.strictSame(socket.frames, [
      {
        type: "reply",
        ref: "a",
        result: "error",
        msg: "Not logged in: API authentication or user session required",
        code: "UNAUTHORIZED",
      },
    ]);
  }
});

t.test("[realtime] a wrong key in the first frame: 4401; a deactivated account: 4403", async (t) => {
  const leaver = await personOf(server, "frame leaver");
  await owner.delete(`/users/${leaver.userId}`);
  const wrong = await stranger();
  wrong.send({ type: "authenticate", email: owner.account?.email, api_key: "no", ref: "1" });
  t.strictSame(await wrong.closed, closes.notAuthenticated);
  t.match(wrong.frames, [{ ref: "1", result: "error", code: "INVALID_API_KEY" }]);
  const gone = await stranger();
  gone.send({ type: "authenticate", email: leaver.account?.email, api_key: leaver.account?.key, ref: "1" });
  t.strictSame(await gone.closed, closes.deactivated);
  t.match(gone.frames, [{ ref: "1", result: "error", code: "USER_DEACTIVATED" }]);
});

t.test("[realtime] what is no frame at all before authentication: 4400", async (t) => {
  for (const text of ["{", "[]", "7", '{"no":"type"}', '{"type":7}']) {
    const socket = await stranger();
    socket.ws.send(text);
    t.strictSame(await socket.closed, closes.malformed, text);
    t.match(socket.frames, [{ type: "reply", result: "error", code: "BAD_REQUEST" }]);
  }
  const binary = await stranger();
  binary.ws.send(Buffer.from("{}"));
  t.strictSame(await binary.closed, closes.malformed);
});

t.test("[realtime] [S3] a socket that does not say who it is within 5 s: 4408", async (t) => {
  const { server: clocked, clock } = await startClockedServer(t);
  const socket = await stranger(clocked.url);
  const known = await connect(clocked.owner);
  clock.advance(limits.socket_authentication_ms_max - 1);
  socket.ws.ping();
  await new Promise((resolve) => socket.ws.once("pong", resolve));
  t.equal(socket.ws.readyState, socket.ws.OPEN, "still open just before");
  clock.advance(101);
  t.strictSame(await socket.closed, closes.late);
  t.match(await known.ask({ type: "ping" }), { type: "pong" }, "who has said it stays");
  known.terminate();
});

t.test("[realtime] 4409: a newer socket or poll takes the queue, and only the queue's reader is ended", async (t) => {
  const { socket: first, queue } = await follow(owner, { event_types: ["message"] });
  const { socket: second } = await resume(owner, queue, queue.last_event_id);
  t.strictSame(await first.closed, closes.takenOver);
  const id = await owner.say("general", "over", "to the second");
  const event = await second.event((candidate) => candidate.type === "message");
  t.equal(event.message.id, id);
  const poll = await holdPoll(server, owner, queue, event.id);
  t.strictSame(await second.closed, closes.takenOver);
  const { socket: third, reply } = await resume(owner, queue, event.id);
  t.match(reply, { result: "success" });
  t.match(await poll.answer, { status: 200, body: { events: [] } });
  third.close();
});

t.test("[realtime] one queue per socket: registering again leaves the first queue to others", async (t) => {
  const { socket, queue } = await follow(owner, { event_types: ["message"] });
  const second = await socket.ask({ type: "register", event_types: ["message"], fetch_event_types: [] });
  t.not(second.queue_id, queue.queue_id);
  t.equal(queueOf(server, queue)?.reader.kind, "none");
  t.equal(queueOf(server, second)?.reader.kind, "socket");
  await owner.say("general", "one", "only once");
  await socket.event((event) => event.type === "message");
  await socket.ask({ type: "ping" });
  t.equal(socket.events.length, 1);
  socket.close();
});

t.test("[realtime] 4410 when the queue is deleted, 4403 when the account is deactivated", async (t) => {
  const { socket, queue } = await follow(owner, { event_types: ["message"] });
  await owner.delete("/events", { queue_id: queue.queue_id });
  t.strictSame(await socket.closed, closes.gone);
  const leaver = await personOf(server, "socket leaver");
  const { socket: following } = await follow(leaver, { event_types: ["message"] });
  const idle = await connect(leaver);
  await owner.delete(`/users/${leaver.userId}`);
  t.strictSame(await following.closed, closes.deactivated);
  t.strictSame(await idle.closed, closes.deactivated, "without a queue, too");
});

/** The server learns in its own time that a socket is gone: asks until there is room. */
async function admitted(client: Client): Promise<Socket> {
  for (;;) {
    const socket = await connect(client);
    const pong = socket.ask({ type: "ping" }).then(() => true);
    if (await Promise.race([pong, socket.closed.then(() => false)])) return socket;
  }
}

t.test("[S3] a person has at most 100 sockets: 4429 for one more, and room again when one is gone", async (t) => {
  const many = await personOf(server, "many");
  const sockets = await Promise.all(Array.from({ length: limits.sockets_per_user_max }, () => connect(many)));
  await Promise.all(sockets.map((socket) => socket.ask({ type: "ping" })));
  const surplus = new Socket(server.url, { as: many });
  t.strictSame(await surplus.closed, closes.limited);
  const frame = await stranger();
  frame.send({ type: "authenticate", email: many.account?.email, api_key: many.account?.key });
  t.strictSame(await frame.closed, closes.limited, "by first frame, too");
  const other = await connect(owner);
  t.match(await other.ask({ type: "ping" }), { type: "pong" }, "others are not concerned");
  sockets[0]?.terminate();
  const again = await admitted(many);
  for (const socket of [...sockets, again, other]) socket.terminate();
});

t.test("[realtime] a server that stops closes every socket with 1001", async (t) => {
  const stopping = await startTestServer(t);
  const { socket } = await follow(stopping.owner, { event_types: ["message"] });
  const idle = await connect(stopping.owner);
  const silent = await stranger(stopping.url);
  await stopping.stop();
  for (const one of [socket, idle, silent]) t.strictSame(await one.closed, closes.goingAway);
});

t.test("[realtime] a socket that closes leaves its queue for the next reader", async (t) => {
  const { socket, queue } = await follow(owner, { event_types: ["message"] });
  t.equal(queueOf(server, queue)?.reader.kind, "socket");
  socket.terminate();
  await until(() => queueOf(server, queue)?.reader.kind === "none");
  const id = await owner.say("general", "left", "for the next");
  t.strictSame(messageIds(await readNow(owner, queue)), [id]);
});
