/**
 * Silent connections: a handshake that never completes, and a client that vanished without closing (S3). uWS uses its
 * own clock, so these tests wait in real time with the shortest heartbeat, all at once.
 */
import { connect } from "node:net";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { idleTimeoutOf } from "../../src/edge/transport/native.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { connect as connectSocket, queueOf, until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const environment = { SOCKET_HEARTBEAT_S: String(limits.socket_heartbeat_s_min) };
const server = await startTestServer(t, { environment });
const { owner } = server;

/** A client that answers no pings and follows a queue. */
async function halfOpen() {
  const queue = await owner.openQueue(["message"]);
  const silent = new RawSocket(server.url, { authorization: owner.authorization, answersPings: false });
  await silent.handshake;
  silent.send({ type: "resume", queue_id: queue.queue_id, last_event_id: queue.last_event_id, ref: "resume" });
  await silent.frame((frame) => frame.ref === "resume");
  return { silent, queue };
}

/** Sends an upgrade request that never completes. @returns when the server closes the connection */
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
  // Writes a byte whenever another socket receives a ping: slower than a heartbeat, for as long as the server allows.
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

t.test("[S3] silent connections are closed, those that answer pings stay open", async (t) => {
  const { silent, queue } = await halfOpen();
  const faithful = await RawSocket.of(owner);
  const library = await connectSocket(owner);
  const outsider = new RawSocket(server.url, { authorization: "" });
  const bytes = await Promise.all([endlessHandshake(), silent.ended]).then(([count]) => count);
  t.ok(bytes >= 1, `slow headers: ${bytes} more bytes were accepted before the close`);
  t.equal((await silent.closed).code, 1006);
  t.ok(silent.pings.length > 0, "it was pinged first");
  await until(() => queueOf(server, queue)?.state.kind === "unread");
  t.pass("and its queue waits for the next reader");
  t.ok(faithful.pings.length > 0);
  faithful.send({ type: "ping", ref: "1" });
  t.match(await Promise.race([faithful.frame((frame) => frame.ref === "1"), faithful.closed]), { type: "pong" });
  t.match(await library.ask({ type: "ping" }), { type: "pong" });
  t.equal((await outsider.closed).code, 4408, "no connection stays open without authenticating");
  faithful.destroy();
  library.terminate();
});

t.test(
  "the ping interval equals the setting: the rest of uWS's idle timeout is the grace period for the pong",
  async (t) => {
    // The grace period that uWS takes from an idle timeout (WebSocketContextData, calculateIdleTimeoutComponents).
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
  },
);
