/**
 * Connections that say nothing: a handshake that never ends, a client that is gone without a word (S3). uWS keeps its own
 * time here, so these wait for the end of connections at the shortest heartbeat, all at once.
 */
import { connect } from "node:net";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { idleTimeoutOf } from "../../src/realtime/handshake.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { connect as connectSocket, openQueue, queueOf, until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const environment = { SOCKET_HEARTBEAT_S: String(limits.socket_heartbeat_s_min) };
const server = await startTestServer(t, { environment });
const { owner } = server;

/** A client that answers no pings and follows a queue. */
async function halfOpen() {
  const queue = await openQueue(owner, ["message"]);
  const silent = new RawSocket(server.url, { authorization: owner.authorization, answersPings: false });
  await silent.handshake;
  silent.send({ type: "resume", queue_id: queue.queue_id, last_event_id: queue.last_event_id, ref: "resume" });
  await silent.frame((frame) => frame.ref === "resume");
  return { silent, queue };
}

/** A request for an upgrade that goes on and on. @returns when the server has had enough */
async function endlessHandshake(): Promise<number> {
  const { hostname, port } = new URL(server.url);
  const tcp = connect(Number(port), hostname);
  tcp.on("error", () => undefined);
  let isOver = false;
  const closed = new Promise<void>((resolve) => {
    tcp.once("close", () => {
      isOver = true;
      resolve();
    });
  });
  tcp.resume();
  tcp.write("GET /api/v1/events/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nX-Slow: ");
  // A byte whenever it hears of another socket's life: slower than a heartbeat, for as long as the server lets it.
  let bytes = 0;
  while (!isOver) {
    const socket = await RawSocket.of(owner);
    await new Promise<void>((resume) => {
      void closed.then(resume);
      void socket.pinged.then(resume);
    });
    socket.destroy();
    if (!isOver && tcp.write("x")) bytes++;
  }
  return bytes;
}

t.test("[realtime] [S3] silent connections are ended, those that answer pings stay", async (t) => {
  const { silent, queue } = await halfOpen();
  const faithful = await RawSocket.of(owner);
  const library = await connectSocket(owner);
  const stranger = new RawSocket(server.url, { authorization: "" });
  const bytes = await Promise.all([endlessHandshake(), silent.ended]).then(([count]) => count);
  t.ok(bytes >= 1, `slow headers: it got ${bytes} bytes more in before it was ended`);
  t.equal((await silent.closed).code, 1006);
  t.ok(silent.pings.length > 0, "it was asked first");
  await until(() => queueOf(server, queue)?.reader.kind === "none");
  t.pass("and its queue waits for the next reader");
  t.ok(faithful.pings.length > 0);
  faithful.send({ type: "ping", ref: "1" });
  t.match(await Promise.race([faithful.frame((frame) => frame.ref === "1"), faithful.closed]), { type: "pong" });
  t.match(await library.ask({ type: "ping" }), { type: "pong" });
  t.equal((await stranger.closed).code, 4408, "nobody stays without saying who it is");
  faithful.destroy();
  library.terminate();
});

t.test(
  "[realtime] the heartbeat is what the setting says: the rest of uWS's idle time is the margin to answer",
  (t) => {
    // The margin that uWS takes of an idle time (WebSocketContextData, calculateIdleTimeoutComponents).
    const marginOf = (idleTimeout: number): number => {
      let margin = 4;
      while (idleTimeout - margin * 2 >= margin * 2 && margin < 16) margin *= 2;
      return margin;
    };
    for (let heartbeat = limits.socket_heartbeat_s_min; heartbeat <= limits.socket_heartbeat_s_max; heartbeat++) {
      const idleTimeout = idleTimeoutOf(heartbeat);
      if (idleTimeout - marginOf(idleTimeout) !== heartbeat) t.fail(`${heartbeat}`);
    }
    t.equal(idleTimeoutOf(limits.socket_heartbeat_s), 46);
    t.end();
  },
);
