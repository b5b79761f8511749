/** Sockets of clients at an edge: what their owner sends, how it ends them, and what happens when it is gone. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { closeCodes } from "../../schemas/close-codes.ts";
import { limits } from "../../schemas/limits.ts";
import type { Destination } from "../../src/edge/forwarding/directions.ts";
import { TcpProxy } from "../cluster/tcp-proxy.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { until } from "../support/realtime.ts";
import { here, idleRoute, startEdge, startNode, to } from "./edge.ts";
import { openClient, openPair, sendWhileRoom, startOwner } from "./owner.ts";

t.test("the owner's close codes reach the client, after what it sent before", async (t) => {
  const ends = [closeCodes.queueGone, closeCodes.frameTooLarge];
  const owner = await startOwner(t, {
    open(socket) {
      const { code, reason } = ends.shift() ?? closeCodes.goingAway;
      socket.send(Buffer.from("shared"), false);
      socket.send("own", false);
      socket.end(code, reason);
    },
  });
  const url = await startEdge(t, { destination: () => to(owner.url) });
  for (const { code, reason } of [...ends]) {
    const { closed, messages } = openClient(t, url);
    t.strictSame(await closed, { code, reason });
    t.strictSame(messages.map(String), ["shared", "own"]);
  }
  t.equal(owner.sockets.length, 0);
});

t.test("a client that leaves is gone at the owner, and its frames arrive in order before", async (t) => {
  const owner = await startOwner(t);
  const url = await startEdge(t, { destination: () => to(owner.url) });
  const { socket } = await openPair(t, url, owner);
  for (let count = 0; count < 100; count++) socket.send(count % 2 === 0 ? `${count}` : Buffer.from(`${count}`));
  await until(() => owner.received.length === 100);
  const found = owner.received.map(({ bytes, isBinary }) => [String(bytes), isBinary]);
  t.strictSame(
    found,
    Array.from({ length: 100 }, (_, count) => [`${count}`, count % 2 === 1]),
  );
  socket.close();
  await until(() => owner.sockets.length === 0);
});

t.test("an owner that dies, or stands still until its lease is over, closes its sockets with 1001", async (t) => {
  let isGone = false;
  const owner = await startOwner(t);
  const proxy = await TcpProxy.start(t, Number(new URL(owner.url).port));
  const url = await startEdge(t, { destination: () => to(`http://127.0.0.1:${proxy.port}`), isGone: () => isGone });
  const first = await openPair(t, url, owner);
  proxy.weather = "cut";
  isGone = true;
  t.match(await first.closed, { code: 1001, reason: /reconnect and resume/ });
  isGone = false;
  proxy.weather = "good";
  await until(() => owner.sockets.length === 0);
  const second = await openPair(t, url, owner);
  t.match(second.socket.readyState, second.socket.OPEN, "the next one is served over a new link");
});

t.test("an edge that stops closes its clients with 1001, and they are gone at the owner", async (t) => {
  const owner = await startOwner(t);
  const edge = await startNode(t, idleRoute, { directions: { destinationOf: () => to(owner.url) } });
  const clients = [await openPair(t, edge.url, owner), await openPair(t, edge.url, owner)];
  await edge.stopListening();
  for (const { closed } of clients) t.equal((await closed).code, 1001);
  await until(() => owner.sockets.length === 0);
});

for (const weather of ["cut", "cut outward", "cut inward"] as const) {
  t.test(`a link on which nothing arrives (${weather}) closes its sockets with 1001 at both ends`, async (t) => {
    const clock = new ManualClock(0);
    const owner = await startOwner(t, { clock });
    const proxy = await TcpProxy.start(t, Number(new URL(owner.url).port));
    const destinationOf = () => to(`http://127.0.0.1:${proxy.port}`);
    const edge = await startNode(t, idleRoute, { directions: { destinationOf }, clock });
    const { closed } = await openPair(t, edge.url, owner);
    let isClosed = false;
    void closed.then(() => {
      isClosed = true;
    });
    const beat = async () => {
      clock.advance(limits.forward_link_beat_ms);
      // Each end reads what the other one has sent.
      for (let pass = 0; pass < 50; pass++) await new Promise((resolve) => setImmediate(resolve));
    };
    const beatS = limits.forward_link_beat_ms / 1000;
    for (let count = 0; count < 10; count++) {
      await beat();
      // A busy kernel may take longer. The owner hears that its beat was handled with the next one.
      await until(() => isClosed || (edge.figures().silenceS === 0 && owner.figures().silenceS <= beatS));
    }
    t.notOk(isClosed, "a link without news stays");
    proxy.weather = weather;
    for (
      let ms = 0;
      ms <= limits.forward_link_silence_ms_max + limits.forward_link_beat_ms;
      ms += limits.forward_link_beat_ms
    )
      await beat();
    t.equal((await closed).code, 1001);
    await until(() => owner.sockets.length === 0);
  });
}

t.test("a handshake waits for an owner, and its refusal reaches the client unchanged", async (t) => {
  let isHere = false;
  const refusals = ["", "401 INVALID_API_KEY"];
  const owner = await startOwner(t, {
    destination: () => {
      const destination = isHere ? here : to("http://127.0.0.1:1");
      isHere = true;
      return destination;
    },
    refuse(response) {
      const status = refusals.shift() ?? "";
      if (status === "") return false;
      response.cork(() => {
        response.writeStatus(status);
        response.writeHeader("WWW-Authenticate", "Basic");
        response.end('{"result":"error"}', true);
      });
      return true;
    },
  });
  // Nobody, a node that does not answer, one that does not serve it yet.
  const ways: Destination[] = [{ kind: "nobody" }, to("http://127.0.0.1:1"), to(owner.url)];
  const url = await startEdge(t, { destination: () => (ways.length > 1 ? ways.shift() : ways[0]) as Destination });
  await openPair(t, url, owner);
  const { socket } = openClient(t, url);
  const [, answer] = await once(socket, "unexpected-response");
  t.strictSame([answer.statusCode, answer.statusMessage], [401, "INVALID_API_KEY"]);
  t.equal(answer.headers["www-authenticate"], "Basic");
  const body: Buffer[] = [];
  for await (const chunk of answer) body.push(chunk as Buffer);
  t.equal(String(Buffer.concat(body)), '{"result":"error"}');
});

t.test("an owner that speaks no version of links gets no socket: clients get 503 and try again", async (t) => {
  const clock = new ManualClock(0);
  const old = createServer((_request, response) => response.writeHead(404).end());
  old.listen(0, "127.0.0.1");
  await once(old, "listening");
  t.teardown(() => old.close());
  const destination = to(`http://127.0.0.1:${(old.address() as AddressInfo).port}`);
  const url = await startEdge(t, { destination: () => destination, clock });
  const { socket } = openClient(t, url);
  const answered = once(socket, "unexpected-response");
  const turning = setInterval(() => clock.advance(1000), 5);
  const [, answer] = await answered;
  clearInterval(turning);
  t.strictSame([answer.statusCode, answer.headers["retry-after"]], [503, String(limits.forward_retry_s)]);
});

t.test("[E3] a client that reads slowly holds back what the owner sends to it, and gets all in order", async (t) => {
  const pieces = 1024;
  const bytes = 64 * 1024;
  let sent = 0;
  const sendMore = (socket: Parameters<typeof sendWhileRoom>[0]) => {
    while (sent < pieces) {
      const piece = Buffer.alloc(bytes);
      piece.writeUInt32BE(sent);
      if (!sendWhileRoom(socket, piece)) return;
      sent++;
    }
  };
  const owner = await startOwner(t, { drained: sendMore });
  const url = await startEdge(t, { destination: () => to(owner.url) });
  const slow = await openPair(t, url, owner);
  const quick = await openPair(t, url, owner);
  slow.socket.pause();
  sendMore(slow.owner);
  // All buffers on the way are full when the owner does not get rid of more.
  for (let before = -1; before !== sent; ) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  t.ok(sent < pieces / 2, `${sent} of ${pieces} pieces have left the owner`);
  for (let count = 0; count < 100; count++) {
    quick.owner.send(Buffer.from(`${count}`), false);
    await until(() => quick.messages.length === count + 1);
  }
  slow.socket.resume();
  await until(() => slow.messages.length === pieces);
  const found = slow.messages.map((message) => message.readUInt32BE());
  t.strictSame(
    found,
    Array.from({ length: pieces }, (_, count) => count),
  );
});

t.test("[E3] the end of a large message leaves once a slow client reads on, not with the next ping", async (t) => {
  const bytes = 1024 * 1024;
  const owner = await startOwner(t, { open: (socket) => void socket.send(Buffer.alloc(bytes), true) });
  const url = await startEdge(t, { destination: () => to(owner.url) });
  for (let attempt = 0; attempt < 10; attempt++) {
    const { socket } = openClient(t, url);
    let pings = 0;
    socket.on("ping", () => pings++);
    await once(socket, "open");
    socket.pause();
    await until(() => (owner.sockets.at(-1)?.getBufferedAmount() ?? 0) > 0 || attempt > 0);
    socket.resume();
    const [message] = await once(socket, "message");
    t.equal(message.length, bytes);
    t.equal(pings, 0);
    socket.terminate();
  }
});
