/** What a node that forwards keeps in memory, for one client and for all of them (S3). */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { readForwardedHead } from "../../src/edge/forwarding/forwarded-head.ts";
import { KeptBytes } from "../../src/edge/forwarding/kept-bytes.ts";
import type { TransportRequest } from "../../src/edge/transport/transport.ts";
import { until } from "../support/realtime.ts";
import { startEdge, to } from "./edge.ts";

/** An owner whose answers the test decides about. */
async function startAnswering(t: Test, serve: (response: ServerResponse, count: number) => void) {
  let count = 0;
  const server = createServer((_request, response) => serve(response, ++count));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { destination: () => to(`http://127.0.0.1:${port}`), requests: () => count };
}

t.test("[S3] forward_requests_max: one more gets 503, and fits when another one was answered", async (t) => {
  const waiting: ServerResponse[] = [];
  const owner = await startAnswering(t, (response) => waiting.push(response));
  const url = await startEdge(t, { destination: owner.destination, bounds: { requestsMax: 2 } });
  const held = [fetch(url), fetch(url)];
  await until(() => owner.requests() === 2);
  const over = await fetch(url);
  t.strictSame([over.status, ((await over.json()) as { code: string }).code], [503, "OVERLOADED"]);
  waiting.shift()?.end("done");
  t.equal((await Promise.race(held)).status, 200);
  const next = fetch(url);
  await until(() => owner.requests() === 3);
  for (const response of waiting) response.end("done");
  t.equal((await next).status, 200);
});

t.test("[S3] forward_head_bytes_max: a longer head is not forwarded", async (t) => {
  const headOf = (bytes: number) => {
    const value = "x".repeat(bytes - "x-long".length);
    const request = {
      getMethod: () => "get",
      getUrl: () => "/",
      getQuery: () => "",
      getHeader: (name: string) => (name === "x-long" ? value : ""),
      forEach: (callback: (name: string, value: string) => void) => callback("x-long", value),
    };
    return readForwardedHead(request as unknown as TransportRequest);
  };
  t.ok(headOf(limits.forward_head_bytes_max));
  t.equal(headOf(limits.forward_head_bytes_max + 1), null);
});

t.test("[S3] forward_answers_bytes_max holds for all answers together", async (t) => {
  const bytes = 1000;
  const half = (response: ServerResponse) => {
    response.writeHead(200, { "Content-Length": String(bytes) });
    response.write(Buffer.alloc(bytes - 1, "x"));
  };
  const halves: ServerResponse[] = [];
  const owner = await startAnswering(t, (response, count) => {
    if (count > 3) {
      response.end("again");
      return;
    }
    half(response);
    halves.push(response);
  });
  const url = await startEdge(t, { destination: owner.destination, bounds: { answersBytesMax: 2 * bytes } });
  const kept = [fetch(url), fetch(url)];
  await until(() => halves.length === 2);
  // There is no room for the third one, so its client gets the head before the end.
  const passed = await fetch(url);
  t.equal(passed.status, 200);
  for (const response of halves) response.destroy();
  for (const answer of await Promise.all(kept)) t.equal(await answer.text(), "again", "what was kept is asked again");
  await t.rejects(passed.text(), "what was passed on is cut off");
});

t.test("[S3] a share of kept bytes is counted once, at the bound and one over", async (t) => {
  const bytes = new KeptBytes(10);
  const [a, b] = [bytes.open(), bytes.open()];
  t.strictSame([a.set(6), b.set(4), b.set(5), a.set(3), b.set(7)], [true, true, false, true, true]);
  a.release();
  a.release();
  t.equal(bytes.sum, 7);
});
