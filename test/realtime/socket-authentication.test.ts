/** Opening and authenticating a WebSocket, and what closes it (realtime.md: WebSocket, Close codes, Bounds). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Client } from "../support/client.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { connect, follow, messageIds, queueOf, resume, until, waitingPoll } from "../support/realtime.ts";
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
async function outsider(url = server.url): Promise<Socket> {
  const socket = new Socket(url);
  await socket.opened();
  return socket;
}

t.test("Basic credentials in the upgrade header open a socket that is usable at once", async (t) => {
  const socket = await connect(owner);
  t.strictSame(await socket.ask({ type: "ping" }), { type: "pong", ref: "r1" });
  socket.close();
});

t.test("[D2] wrong credentials in the header reject the upgrade with the error envelope", async (t) => {
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
    t.equal(
      /www-authenticate: basic/i.test(headers),
      code === "UNAUTHORIZED",
      "[D2] only where no credentials were understood",
    );
  }
  const leaver = await server.user("leaver");
  await owner.delete(`/users/${leaver.userId}`);
  const refused = await new RawSocket(server.url, leaver).handshake;
  t.match(JSON.parse(refused.body), { code: "USER_DEACTIVATED" });
});

t.test("a browser without a header authenticates with its first frame", async (t) => {
  const socket = await outsider();
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

t.test("a first frame other than authenticate closes the socket with 4401", async (t) => {
  for (const frame of [
    { type: "ping", ref: "a" },
    { type: "register", ref: "a" },
    { type: "authenticate", email: 7, api_key: "x", ref: "a" },
  ]) {
    const socket = await outsider();
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

t.test("a wrong key in the first frame closes with 4401, a deactivated account with 4403", async (t) => {
  const leaver = await server.user("frame leaver");
  await owner.delete(`/users/${leaver.userId}`);
  const wrong = await outsider();
  wrong.send({ type: "authenticate", email: owner.account?.email, api_key: "no", ref: "1" });
  t.strictSame(await wrong.closed, closes.notAuthenticated);
  t.match(wrong.frames, [{ ref: "1", result: "error", code: "INVALID_API_KEY" }]);
  const gone = await outsider();
  gone.send({ type: "authenticate", email: leaver.account?.email, api_key: leaver.account?.key, ref: "1" });
  t.strictSame(await gone.closed, closes.deactivated);
  t.match(gone.frames, [{ ref: "1", result: "error", code: "USER_DEACTIVATED" }]);
});

t.test("bytes that are not a frame, sent before authentication, close the socket with 4400", async (t) => {
  for (const text of ["{", "[]", "7", '{"no":"type"}', '{"type":7}']) {
    const socket = await outsider();
    socket.ws.send(text);
    t.strictSame(await socket.closed, closes.malformed, text);
    t.match(socket.frames, [{ type: "reply", result: "error", code: "BAD_REQUEST" }]);
  }
  const binary = await outsider();
  binary.ws.send(Buffer.from("{}"));
  t.strictSame(await binary.closed, closes.malformed);
});

t.test("[S3] a socket that does not authenticate within 5 s is closed with 4408", async (t) => {
  const { server: clocked, clock } = await startClockedServer(t);
  const socket = await outsider(clocked.url);
  const known = await connect(clocked.owner);
  clock.advance(limits.socket_authentication_ms_max - 1);
  socket.ws.ping();
  await new Promise((resolve) => socket.ws.once("pong", resolve));
  t.equal(socket.ws.readyState, socket.ws.OPEN, "still open just before");
  clock.advance(101);
  t.strictSame(await socket.closed, closes.late);
  t.match(await known.ask({ type: "ping" }), { type: "pong" }, "an authenticated socket stays open");
  known.terminate();
});

t.test("a newer socket or poll takes the queue over and closes only its current reader, with 4409", async (t) => {
  const { socket: first, queue } = await follow(owner, { event_types: ["message"] });
  const { socket: second } = await resume(owner, queue, queue.last_event_id);
  t.strictSame(await first.closed, closes.takenOver);
  const id = await owner.say("general", "over", "to the second");
  const event = await second.event((candidate) => candidate.type === "message");
  t.equal(event.message.id, id);
  const poll = await waitingPoll(server, owner, queue, event.id);
  t.strictSame(await second.closed, closes.takenOver);
  const { socket: third, reply } = await resume(owner, queue, event.id);
  t.match(reply, { result: "success" });
  t.match(await poll.answer, { status: 200, body: { events: [] } });
  third.close();
});

t.test("a socket that registers again releases its first queue to other readers", async (t) => {
  const { socket, queue } = await follow(owner, { event_types: ["message"] });
  const second = await socket.ask({ type: "register", event_types: ["message"], fetch_event_types: [] });
  t.not(second.queue_id, queue.queue_id);
  t.equal(queueOf(server, queue)?.state.kind, "unread");
  t.equal(queueOf(server, second)?.state.kind, "socket");
  await owner.say("general", "one", "only once");
  await socket.event((event) => event.type === "message");
  await socket.ask({ type: "ping" });
  t.equal(socket.events.length, 1);
  socket.close();
});

t.test("a socket is closed with 4410 when its queue is deleted, with 4403 when its user is deactivated", async (t) => {
  const { socket, queue } = await follow(owner, { event_types: ["message"] });
  await owner.delete("/events", { queue_id: queue.queue_id });
  t.strictSame(await socket.closed, closes.gone);
  const leaver = await server.user("socket leaver");
  const { socket: following } = await follow(leaver, { event_types: ["message"] });
  const idle = await connect(leaver);
  await owner.delete(`/users/${leaver.userId}`);
  t.strictSame(await following.closed, closes.deactivated);
  t.strictSame(await idle.closed, closes.deactivated, "without a queue, too");
});

/** The server notices a closed socket with a delay: retry until there is room. */
async function admitted(client: Client): Promise<Socket> {
  for (;;) {
    const socket = await connect(client);
    const pong = socket.ask({ type: "ping" }).then(() => true);
    if (await Promise.race([pong, socket.closed.then(() => false)])) return socket;
  }
}

t.test("[S3] a user has at most 100 sockets: one more is closed with 4429, until one closes", async (t) => {
  const many = await server.user("many");
  const sockets = await Promise.all(Array.from({ length: limits.sockets_per_user_max }, () => connect(many)));
  await Promise.all(sockets.map((socket) => socket.ask({ type: "ping" })));
  const surplus = new Socket(server.url, { as: many });
  t.strictSame(await surplus.closed, closes.limited);
  const frame = await outsider();
  frame.send({ type: "authenticate", email: many.account?.email, api_key: many.account?.key });
  t.strictSame(await frame.closed, closes.limited, "by first frame, too");
  const other = await connect(owner);
  t.match(await other.ask({ type: "ping" }), { type: "pong" }, "other users are unaffected");
  sockets[0]?.terminate();
  const again = await admitted(many);
  for (const socket of [...sockets, again, other]) socket.terminate();
});

t.test("a server that stops closes every socket with 1001", async (t) => {
  const stopping = await startTestServer(t);
  const { socket } = await follow(stopping.owner, { event_types: ["message"] });
  const idle = await connect(stopping.owner);
  const silent = await outsider(stopping.url);
  await stopping.stop();
  for (const one of [socket, idle, silent]) t.strictSame(await one.closed, closes.goingAway);
});

t.test("a socket that closes leaves its queue for the next reader", async (t) => {
  const { socket, queue } = await follow(owner, { event_types: ["message"] });
  t.equal(queueOf(server, queue)?.state.kind, "socket");
  socket.terminate();
  await until(() => queueOf(server, queue)?.state.kind === "unread");
  const id = await owner.say("general", "left", "for the next");
  t.strictSame(messageIds(await owner.readNow(queue)), [id]);
});
