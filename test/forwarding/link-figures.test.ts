/** What metrics say of the links between nodes (docs/metrics.md). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { TcpProxy } from "../cluster/tcp-proxy.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { until } from "../support/realtime.ts";
import { here, idleRoute, startNode, to } from "./edge.ts";
import { openPair, startOwner } from "./owner.ts";

t.test("links, their sockets, messages and bytes are counted at both ends", async (t) => {
  // No beat of the link is counted in between.
  const clock = new ManualClock(0);
  const owner = await startOwner(t, { clock });
  const edge = await startNode(t, idleRoute, { directions: { destinationOf: () => to(owner.url) }, clock });
  const none = { links: 0, sockets: 0, waitingBytes: 0 };
  t.match(edge.figures(), { ends: { edge: none, owner: none }, sentBytes: 0, receivedBytes: 0, lost: 0, requests: 0 });
  const [first, second] = [await openPair(t, edge.url, owner), await openPair(t, edge.url, owner)];
  t.match(edge.figures(), { ends: { edge: { links: 1, sockets: 2 }, owner: none } });
  t.match(owner.figures(), { ends: { edge: none, owner: { links: 1, sockets: 2 } } });

  const before = { edge: edge.figures(), owner: owner.figures() };
  const payload = Buffer.alloc(5000, "x");
  for (const { owner: end } of [first, second]) end.send(payload, false);
  await until(() => [first, second].every(({ messages }) => messages.length === 1));
  const received = edge.figures().receivedBytes - before.edge.receivedBytes;
  t.ok(received >= payload.length && received < 2 * payload.length, "one message for both clients crosses once");
  t.equal(owner.figures().sentBytes - before.owner.sentBytes, received);
  t.equal(owner.figures().sentMessages - before.owner.sentMessages, 1);

  first.socket.send("hello");
  await until(() => owner.received.length === 1);
  t.ok(edge.figures().sentBytes - before.edge.sentBytes >= "hello".length);
  t.equal(owner.figures().receivedBytes, edge.figures().sentBytes);

  first.socket.close();
  await until(() => owner.sockets.length === 1);
  t.match(owner.figures(), { ends: { owner: { links: 1, sockets: 1 } }, lost: 0 });
  await edge.stopListening();
  await until(() => owner.figures().ends.owner.links === 0);
  t.match(edge.figures(), { ends: { edge: none }, lost: 0 }, "it ended in order");
});

t.test("what waits for a link, its silence and its loss are seen", async (t) => {
  const clock = new ManualClock(0);
  const owner = await startOwner(t, { clock });
  const proxy = await TcpProxy.start(t, Number(new URL(owner.url).port));
  let isServed = true;
  const destinationOf = () => (isServed ? to(`http://127.0.0.1:${proxy.port}`) : here);
  const edge = await startNode(t, idleRoute, { directions: { destinationOf }, clock });
  const { owner: end, closed } = await openPair(t, edge.url, owner);
  proxy.weather = "cut";
  const payload = Buffer.alloc(limits.forward_link_shared_message_bytes_max / 2);
  end.send(payload, true);
  await until(() => owner.figures().ends.owner.waitingBytes >= payload.length);
  clock.advance(limits.forward_link_beat_ms);
  t.equal(edge.figures().silenceS, limits.forward_link_beat_ms / 1000);
  t.equal(edge.figures().lost, 0);
  isServed = false;
  proxy.end();
  await closed;
  t.match(edge.figures(), { ends: { edge: { links: 0, sockets: 0 } }, lost: 1, silenceS: 0 });
});
