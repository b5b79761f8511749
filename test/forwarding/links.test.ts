/** The links between an edge and an owner: what crosses them once, who may open one, and what they keep in memory (S3). */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import t, { type Test } from "tap";
import { WebSocket } from "ws";
import { closeCodes } from "../../schemas/close-codes.ts";
import { limits } from "../../schemas/limits.ts";
import {
  decodeLinkMessage,
  encodeLinkMessage,
  linkPath,
  linkVersions,
} from "../../src/edge/forwarding/link-messages.ts";
import { nodeHeader } from "../../src/edge/forwarding/node-header.ts";
import { sendStatus } from "../../src/edge/transport/transport.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { until } from "../support/realtime.ts";
import { nodeKey, startEdge, to } from "./edge.ts";
import { type OwnerSocket, openPair, startOwner } from "./owner.ts";

/** Counts what an owner sends to an edge. */
async function startCounter(t: Test, ownerUrl: string) {
  let bytes = 0;
  const pairs: Socket[] = [];
  const listener = createServer((client) => {
    const server = connect(Number(new URL(ownerUrl).port), "127.0.0.1");
    pairs.push(client, server);
    for (const socket of [client, server]) socket.on("error", () => undefined);
    client.pipe(server);
    server.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    server.pipe(client);
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  t.teardown(() => {
    for (const socket of pairs) socket.destroy();
    listener.close();
  });
  return { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`, bytes: () => bytes };
}

t.test("a payload for several clients of an edge crosses the link once, each gets it in order", async (t) => {
  const owner = await startOwner(t);
  const counter = await startCounter(t, owner.url);
  const url = await startEdge(t, { destination: () => to(counter.url) });
  const clients: Awaited<ReturnType<typeof openPair>>[] = [];
  for (let count = 0; count < 50; count++) clients.push(await openPair(t, url, owner));
  const before = counter.bytes();
  const size = 10_000;
  const rounds = 10;
  for (let round = 0; round < rounds; round++) {
    // Two formats in turn, each as an object of its own for its first receiver, as batches of frames make them.
    const [json, packed] = [Buffer.alloc(size, `j${round}`), Buffer.alloc(size - 2, `p${round}`)];
    for (const [index, { owner: end }] of clients.entries()) {
      const payload = index % 2 === 0 ? json : packed;
      end.send(index < 2 ? Buffer.from(payload) : payload, index % 2 === 1);
      if (index === 7) end.send(`only for one ${round}`, false);
    }
    // The rest of a batch leaves in a later pass.
    await until(() => clients.every(({ messages }) => messages.length >= round + 1));
    for (const [index, { owner: end }] of clients.entries())
      if (index >= 40) end.send(index % 2 === 0 ? json : packed, index % 2 === 1);
  }
  await until(() =>
    clients.every(({ messages }, index) => messages.length === rounds * (index === 7 || index >= 40 ? 2 : 1)),
  );
  for (const [index, { messages }] of clients.entries()) {
    const events = messages
      .filter((message) => message.length >= size - 2)
      .map((message) => message.toString("latin1", 0, 2));
    const kind = index % 2 === 0 ? "j" : "p";
    t.strictSame(
      events,
      Array.from({ length: rounds * (index >= 40 ? 2 : 1) }, (_, n) => `${kind}${index >= 40 ? n >> 1 : n}`),
    );
  }
  const payloads = 2 * rounds * size;
  const crossed = counter.bytes() - before;
  t.ok(crossed < 1.03 * payloads, `${crossed} bytes crossed for ${payloads} bytes of payload`);
});

t.test("what a client gets in one pass keeps its order, whoever else gets the same", async (t) => {
  const owner = await startOwner(t);
  const url = await startEdge(t, { destination: () => to(owner.url) });
  const [a, b] = [await openPair(t, url, owner), await openPair(t, url, owner)];
  const [one, two] = [Buffer.from("1"), Buffer.from("22")];
  for (const payload of [one, two, one, "own", two, one]) a.owner.send(payload, false);
  for (const payload of ["own", two, one]) b.owner.send(payload, false);
  await until(() => a.messages.length === 6 && b.messages.length === 3);
  t.strictSame(a.messages.map(String), ["1", "22", "1", "own", "22", "1"]);
  t.strictSame(b.messages.map(String), ["own", "22", "1"]);
});

t.test("a long answer to one client does not hold up what others get", async (t) => {
  const owner = await startOwner(t, {
    drained(socket) {
      if (socket === large.owner) feed(socket);
    },
  });
  const url = await startEdge(t, { destination: () => to(owner.url) });
  const large = await openPair(t, url, owner);
  const small = await openPair(t, url, owner);
  const pieces = 320;
  let sent = 0;
  const feed = (socket: OwnerSocket) => {
    while (sent < pieces && socket.getBufferedAmount() < limits.socket_buffer_bytes_soft_max / 2) {
      const piece = Buffer.alloc(limits.socket_fragment_bytes);
      sent++;
      if (sent === 1) socket.sendFirstFragment(piece, true);
      else if (sent === pieces) socket.sendLastFragment(piece);
      else socket.sendFragment(piece);
    }
  };
  feed(large.owner);
  small.owner.send(Buffer.from("event"), false);
  await until(() => small.messages.length === 1);
  t.ok(sent < pieces, `the event arrives while the answer is under way (${sent} of ${pieces} pieces)`);
  await until(() => large.messages.length === 1);
  t.equal(large.messages[0]?.length, pieces * limits.socket_fragment_bytes);
});

/** Asks for a link as nobody or as a node. @returns the status, or the version that was agreed on */
async function askForLink(
  t: Test,
  url: string,
  options: { readonly key?: string; readonly versions?: readonly string[] },
) {
  const { key, versions = linkVersions } = options;
  const headers = key === undefined ? {} : { [nodeHeader]: `${key} http 127.0.0.1` };
  const socket = new WebSocket(`${url.replace("http", "ws")}${linkPath}`, [...versions], { headers });
  t.teardown(() => socket.terminate());
  return new Promise<string>((resolve) => {
    socket.on("open", () => resolve(socket.protocol));
    socket.on("unexpected-response", (_request, { statusCode }) => resolve(String(statusCode)));
    socket.on("error", () => undefined);
  });
}

t.test("only a node opens a link, and only in a version that both speak", async (t) => {
  const { url } = await startOwner(t);
  const plain = await fetch(`${url}${linkPath}`);
  t.equal(await plain.text(), "here", "for everybody else the path is like any other");
  t.equal(await askForLink(t, url, {}), "200");
  t.equal(await askForLink(t, url, { key: "guess" }), "200");
  t.not(await askForLink(t, url, { key: nodeKey, versions: ["colloquy-link-0"] }), "colloquy-link-0");
  t.equal(await askForLink(t, url, { key: nodeKey, versions: ["colloquy-link-99", ...linkVersions] }), linkVersions[0]);
});

t.test("[S3] forward_links_max: one more link is refused", async (t) => {
  const { url } = await startOwner(t);
  for (let count = 0; count < limits.forward_links_max; count++) {
    t.equal(await askForLink(t, url, { key: nodeKey }), linkVersions[0]);
  }
  t.equal(await askForLink(t, url, { key: nodeKey }), "503");
});

/** An edge that opens sockets and then reads nothing. */
async function openUnread(t: Test, owner: Awaited<ReturnType<typeof startOwner>>, count: number) {
  const headers = { [nodeHeader]: `${nodeKey} http 127.0.0.1` };
  const link = new WebSocket(`${owner.url.replace("http", "ws")}${linkPath}`, [...linkVersions], { headers });
  t.teardown(() => link.terminate());
  await once(link, "open");
  const accepted = new Promise<void>((resolve) => {
    let left = count;
    link.on("message", (message: Buffer) => {
      if (decodeLinkMessage(message).kind === "accepted" && --left === 0) resolve();
    });
  });
  const opening = { path: "/api/v1/events/ws", headers: [nodeHeader, headers[nodeHeader] ?? ""] };
  for (let id = 1; id <= count; id++) link.send(encodeLinkMessage({ kind: "open", id, request: opening }));
  await accepted;
  link.pause();
  return link;
}

t.test("[S3] forward_link_window_bytes and the bounds of what waits hold for a link that is not read", async (t) => {
  const kibibyte = 1024;
  const bounds = { sharedBytesMax: 64 * kibibyte, linesBytesMax: 64 * kibibyte };
  // Passes of the loop do not end for lack of time.
  const clock = new ManualClock(0);
  const owner = await startOwner(t, { bounds: { link: bounds }, clock });
  const link = await openUnread(t, owner, 3);
  const [a, b, c] = owner.sockets as [OwnerSocket, OwnerSocket, OwnerSocket];
  // What the link takes without news of the edge, in messages for one client after the other.
  let taken = 0;
  while (a.send(Buffer.alloc(kibibyte, `${taken}`), false) === sendStatus.sent) {
    taken++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  // One more counts as sent, because its place in the window is known only when it leaves.
  t.equal(taken, Math.ceil((limits.forward_link_window_bytes - 100) / (kibibyte + 9)) + 1, "as much as the window has");
  // The last two wait. So do these, until there is no room for more.
  let waiting = 2;
  while (b.send(Buffer.alloc(kibibyte, `b${waiting}`), false) !== sendStatus.dropped) waiting++;
  t.equal(waiting, bounds.sharedBytesMax / kibibyte);
  t.equal(
    c.send(Buffer.alloc(kibibyte, `b${waiting - 1}`), false),
    sendStatus.buffered,
    "the bytes of another one join it",
  );
  t.equal(c.getBufferedAmount(), kibibyte);
  // Answers wait in lines of their own: who has most makes room.
  for (let count = 0; count < 63; count++) t.equal(a.send("x".repeat(kibibyte), false), sendStatus.buffered);
  t.equal(b.send("y".repeat(kibibyte), false), sendStatus.buffered, "at the bound");
  t.equal(owner.sockets.length, 3);
  t.equal(b.send("y".repeat(kibibyte), false), sendStatus.buffered, "one over");
  t.strictSame(owner.sockets, [b, c], "the other one is closed");
  // The edge reads again.
  const ends: unknown[] = [];
  link.on("message", (message: Buffer) => {
    const decoded = decodeLinkMessage(message);
    if (decoded.kind === "end") ends.push({ id: decoded.id, code: decoded.code });
  });
  let handledBytes = 0;
  link.on("message", (message: Buffer) => {
    handledBytes += message.length;
    link.send(encodeLinkMessage({ kind: "progress", handledBytes, clients: [] }));
  });
  link.resume();
  await until(() => ends.length === 1);
  t.strictSame(ends, [{ id: 1, code: closeCodes.slowReader.code }]);
});

t.test("[S3] forward_messages_bytes_max holds for what waits for all clients of an edge together", async (t) => {
  const messagesBytesMax = 3 * 1024 * 1024;
  const owner = await startOwner(t);
  const url = await startEdge(t, { destination: () => to(owner.url), bounds: { messagesBytesMax } });
  const pairs: Awaited<ReturnType<typeof openPair>>[] = [];
  for (let count = 0; count < 8; count++) pairs.push(await openPair(t, url, owner));
  const [reading, ...slow] = pairs as [(typeof pairs)[number], ...typeof pairs];
  for (const { socket } of slow) socket.pause();
  const codes: number[] = [];
  for (const { closed } of slow) void closed.then(({ code }) => codes.push(code));
  let rounds = 0;
  while (owner.sockets.length === 8) {
    const piece = Buffer.alloc(64 * 1024, `${rounds}`);
    rounds++;
    for (const { owner: end } of pairs) if (owner.sockets.includes(end)) end.send(piece, true);
    await until(() => reading.messages.length === rounds || owner.sockets.length < 8);
  }
  t.equal(owner.sockets.includes(reading.owner), true, "one who reads is not closed for others");
  for (const { socket } of slow) socket.resume();
  await until(() => codes.length > 0);
  t.ok(
    codes.every((code) => code === 1001),
    "the client comes back and resumes",
  );
});

t.test("[S3] forward_link_client_bytes_max: a client that sends more is closed with 1001", async (t) => {
  const owner = await startOwner(t);
  const { port } = new URL(owner.url);
  const flows: { pause(): void; resume(): void }[] = [];
  const listener = createServer((client) => {
    const server = connect(Number(port), "127.0.0.1");
    for (const socket of [client, server]) socket.on("error", () => undefined);
    client.pipe(server);
    server.pipe(client);
    flows.push({ pause: () => void client.unpipe(server).pause(), resume: () => void client.pipe(server) });
    t.teardown(() => [client, server].map((socket) => socket.destroy()));
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  t.teardown(() => listener.close());
  const url = await startEdge(t, {
    destination: () => to(`http://127.0.0.1:${(listener.address() as AddressInfo).port}`),
  });
  const flood = await openPair(t, url, owner);
  const other = await openPair(t, url, owner);
  for (const flow of flows) flow.pause();
  let isClosed = false;
  void flood.closed.then(() => {
    isClosed = true;
  });
  const frame = Buffer.alloc(256 * 1024);
  for (let count = 0; !isClosed; count++) {
    // The buffers of kernels and of the proxy have the rest.
    if (count * frame.length > limits.forward_link_client_bytes_max + 16 * 1024 * 1024)
      throw new Error("it is not closed");
    flood.socket.send(frame);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  t.equal((await flood.closed).code, 1001);
  other.socket.send("hello");
  for (const flow of flows) flow.resume();
  await until(() => owner.received.some(({ bytes }) => String(bytes) === "hello"));
  t.pass("the other one's frames arrive");
});
