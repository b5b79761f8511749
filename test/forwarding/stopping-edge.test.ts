/** What clients of a node see that stops while another node has their requests. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { until } from "../support/realtime.ts";
import { idleRoute, startNode, to } from "./edge.ts";

t.test("a node that stops ends the polls of others' organizations, and answers what is under way", async (t) => {
  const held = new Map<string, ServerResponse>();
  const owner = createServer((request, response) => void held.set(request.url ?? "", response)).listen(0, "127.0.0.1");
  await once(owner, "listening");
  t.teardown(() => {
    owner.closeAllConnections();
    owner.close();
  });
  const address = `http://127.0.0.1:${(owner.address() as AddressInfo).port}`;
  const edge = await startNode(t, idleRoute, { directions: { destinationOf: () => to(address) } });
  const poll = fetch(`${edge.url}/api/v1/events?queue_id=1&last_event_id=2`);
  const post = fetch(`${edge.url}/api/v1/messages`, { method: "POST", body: "soup" });
  await until(() => held.size === 2);
  t.equal(edge.figures().requests, 2);

  let isQuiet = false;
  const quiet = Promise.resolve(edge.stopListening()).then(() => {
    isQuiet = true;
  });
  const ended = await poll;
  t.match([ended.status, await ended.json()], [503, { code: "SERVER_SHUTTING_DOWN" }], "the client polls elsewhere");
  t.notOk(isQuiet, "the post is under way");
  held.get("/api/v1/messages")?.end("stored");
  t.equal(await (await post).text(), "stored");
  await quiet;
  t.equal(edge.figures().requests, 0);
});
