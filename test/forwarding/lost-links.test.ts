/** A real server behind an edge whose link breaks: its clients are told, come back, and miss nothing. */
import t from "tap";
import { TcpProxy } from "../cluster/tcp-proxy.ts";
import { Client } from "../support/client.ts";
import { follow, messageIds, resume } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import { startEdge, to } from "./edge.ts";

t.test("[E2] clients of a link that breaks are closed with 1001, and resume without a gap or a double", async (t) => {
  const server = await startTestServer(t, { isNode: true });
  const proxy = await TcpProxy.start(t, server.running.port);
  let address = `http://127.0.0.1:${proxy.port}`;
  const url = await startEdge(t, { destination: () => to(address) });
  const reader = new Client(url, server.owner.account);
  const readers = await Promise.all(Array.from({ length: 3 }, () => follow(reader, { event_types: ["message"] })));
  const ids: number[] = [];
  const post = async (count: number) => {
    for (let left = count; left > 0; left--) ids.push(await server.owner.say("general", "links", `${ids.length}`));
  };
  await post(5);
  for (const { socket } of readers) await socket.event((event) => event.message.id === ids.at(-1));
  // What is posted now has left the owner and waits on the way.
  proxy.weather = "cut";
  await post(5);
  address = server.url;
  proxy.end();
  for (const { socket } of readers) t.equal((await socket.closed).code, 1001);
  await post(5);
  for (const { socket: before, queue } of readers) {
    const { socket } = await resume(reader, queue, before.events.at(-1).id);
    await socket.event((event) => event.message.id === ids.at(-1));
    t.strictSame(messageIds([...before.events, ...socket.events]), ids);
  }
});
