/** Sockets that a node forwards: the owner here is a server of the test. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { WebSocket, WebSocketServer } from "ws";
import type { Destination } from "../../src/forwarding/directions.ts";
import { elsewhereHeader } from "../../src/forwarding/node-header.ts";
import { until } from "../support/realtime.ts";
import { startEdge, to } from "./edge.ts";

async function startOwner(t: Test, serve: (socket: WebSocket) => void, refuse: () => string | null = () => null) {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    const refusal = refuse();
    if (refusal === null) sockets.handleUpgrade(request, socket, head, serve);
    else socket.end(refusal);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function open(t: Test, url: string) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/v1/events/ws`);
  t.teardown(() => socket.terminate());
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  return { socket, closed };
}

t.test("[cluster] the owner's close codes reach the client; an owner that dies closes with 1001", async (t) => {
  const ends = [
    (socket: WebSocket) => socket.close(4410, "queue gone: register again"),
    (socket: WebSocket) => socket.close(1009, "frame too large"),
    (socket: WebSocket) => socket.terminate(),
  ];
  const owner = await startOwner(t, (socket) => ends.shift()?.(socket));
  const url = await startEdge(t, { destination: () => to(owner) });
  t.strictSame(await open(t, url).closed, { code: 4410, reason: "queue gone: register again" });
  t.strictSame(await open(t, url).closed, { code: 1009, reason: "frame too large" });
  t.match(await open(t, url).closed, { code: 1001, reason: /reconnect and resume/ });
});

t.test("[cluster] a process that stands still closes its sockets with 1001 when its lease is over", async (t) => {
  let isGone = false;
  const owner = await startOwner(t, (socket) => socket.send("hello"));
  const url = await startEdge(t, { destination: () => to(owner), isGone: () => isGone });
  const { socket, closed } = open(t, url);
  await once(socket, "message");
  isGone = true;
  t.equal((await closed).code, 1001);
});

t.test("[cluster] a handshake waits for an owner, and a refusal is passed on", async (t) => {
  const refusals = [
    `HTTP/1.1 503 x\r\n${elsewhereHeader}: 1\r\nContent-Length: 0\r\n\r\n`,
    null,
    "HTTP/1.1 401 x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
  ];
  const owner = await startOwner(
    t,
    (socket) => socket.send("hello"),
    () => refusals.shift() ?? null,
  );
  const ways: Destination[] = [{ kind: "nobody" }, to("http://127.0.0.1:1"), to(owner)];
  const url = await startEdge(t, { destination: () => (ways.length > 1 ? ways.shift() : ways[0]) as Destination });
  const { socket } = open(t, url);
  t.equal(String(((await once(socket, "message")) as [Buffer])[0]), "hello");
  const refused = open(t, url).socket;
  const [error] = (await once(refused, "error")) as [Error];
  t.match(error.message, /401/);
});

t.test("[cluster] a client that reads slowly holds back the owner, and gets everything in order", async (t) => {
  const pieces = 1024;
  const bytes = 64 * 1024;
  let sent = 0;
  const owner = await startOwner(t, (socket) => {
    const sendNext = () => {
      const piece = Buffer.alloc(bytes);
      piece.writeUInt32BE(sent);
      // Called when the kernel has taken it.
      if (sent < pieces) socket.send(piece, sendNext);
      sent++;
    };
    sendNext();
  });
  const url = await startEdge(t, { destination: () => to(owner) });
  const { socket } = open(t, url);
  const received: number[] = [];
  socket.on("message", (message: Buffer) => received.push(message.readUInt32BE()));
  await once(socket, "open");
  socket.pause();
  // All buffers on the way are full when the owner does not get rid of more.
  for (let before = -1; before !== sent; ) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  t.ok(sent < pieces / 2, `${sent} of ${pieces} pieces have left the owner`);
  socket.resume();
  await until(() => received.length === pieces);
  t.strictSame(
    received,
    received.toSorted((a, b) => a - b),
  );
  t.equal(new Set(received).size, pieces);
});

t.test(
  "[E3] the end of a large message leaves as soon as a slow client reads on, not with the next ping",
  async (t) => {
    const bytes = 8 * 1024 * 1024;
    const owner = await startOwner(t, (socket) => socket.send(Buffer.alloc(bytes)));
    const url = await startEdge(t, { destination: () => to(owner) });
    for (let attempt = 0; attempt < 10; attempt++) {
      const { socket } = open(t, url);
      let pings = 0;
      socket.on("ping", () => pings++);
      await once(socket, "open");
      socket.pause();
      // Until all buffers on the way are full.
      await new Promise((resolve) => setTimeout(resolve, 50));
      socket.resume();
      await once(socket, "message");
      t.equal(pings, 0);
      socket.terminate();
    }
  },
);
