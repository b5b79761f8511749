/**
 * Frames count against the same request limits as REST (realtime.md, D28); a client that keeps sending rejected frames
 * is closed.
 */
import t from "tap";
import { RawSocket } from "../support/raw-socket.ts";
import { connect } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

const burst = 20;
const environment = { RATE_LIMITS: `api=${burst}/3600,login=3/3600` };

const limited = { type: "reply", result: "error", code: "RATE_LIMIT_HIT", msg: "API usage exceeded rate limit" };

t.test("[D28] REST and frames share one bucket; the rejection says when to retry", async (t) => {
  const server = await startTestServer(t, { environment });
  const person = await server.user("eager");
  const socket = await connect(person);
  for (let taken = 0; taken < burst / 2; taken++) {
    t.equal((await person.get("/users/me")).status, 200);
    t.equal((await socket.ask({ type: "call", method: "GET", path: "/users/me" })).result, "success");
  }
  t.equal((await person.get("/users/me")).status, 429);
  const refused = await socket.ask({ type: "call", method: "GET", path: "/users/me" });
  t.match(refused, { ...limited, "retry-after": Number });
  t.ok(refused["retry-after"] > 0);
  const other = await connect(await server.user("patient"));
  t.equal((await other.ask({ type: "call", method: "GET", path: "/users/me" })).result, "success");
  socket.terminate();
  other.terminate();
});

t.test("every kind of frame that does work counts", async (t) => {
  const server = await startTestServer(t, { environment });
  const frames = (queueId: string): readonly Record<string, unknown>[] => [
    { type: "register", event_types: [], fetch_event_types: [] },
    { type: "resume", queue_id: queueId, last_event_id: -1 },
    { type: "presence", status: "active" },
    { type: "typing", op: "start", to: [2] },
    { type: "call", method: "GET", path: "/users/me" },
  ];
  for (const [index, { type }] of frames("").entries()) {
    const person = await server.user(`kind${index}`);
    const queue = await person.openQueue([]);
    const frame = frames(queue.queue_id)[index] ?? {};
    const socket = await connect(person);
    for (let taken = 1; taken < burst; taken++) await socket.ask(frame);
    t.match(await socket.ask(frame), limited, String(type));
    socket.terminate();
  }
});

t.test("a client that keeps sending while it is limited is closed with 4429", async (t) => {
  const server = await startTestServer(t, { environment });
  const person = await server.user("deaf");
  const socket = await connect(person);
  const isOver = socket.closed.then(() => true);
  let calls = 0;
  while (
    !(await Promise.race([isOver, socket.ask({ type: "call", method: "GET", path: "/users/me" }).then(() => false)]))
  ) {
    calls++;
    if (calls > 1000) break;
  }
  t.ok(calls > burst && calls <= 1000);
  t.strictSame(await socket.closed, { code: 4429, reason: "rate limited: retry later" });
});

t.test("[D28] wrong keys on sockets count as failed logins of their address", async (t) => {
  const server = await startTestServer(t, { environment });
  const { owner } = server;
  const guess = async () => {
    const socket = new Socket(owner.url);
    await socket.opened();
    const reply = socket.ask({ type: "authenticate", email: owner.account?.email, api_key: "wrong" });
    const { code } = await reply;
    socket.terminate();
    return code;
  };
  const codes = [];
  for (let tries = 0; tries < 4; tries++) codes.push(await guess());
  t.strictSame(codes, ["INVALID_API_KEY", "INVALID_API_KEY", "INVALID_API_KEY", "RATE_LIMIT_HIT"]);
  t.equal(server.realm.view.users.get(owner.userId)?.isActive, true);
  const wrong = `Basic ${Buffer.from("owner@localhost:wrong").toString("base64")}`;
  const refused = await new RawSocket(server.url, { authorization: wrong }).handshake;
  t.equal(refused.status, 429, "in the upgrade header, too");
  t.match(JSON.parse(refused.body), { result: "error", code: "RATE_LIMIT_HIT", "retry-after": Number });
  t.match(refused.headers, /^retry-after: [1-9]\d*\r?$/im);
});
