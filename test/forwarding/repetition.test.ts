/** What a node does with a request whose owner does not answer: the owner here is a server of the test. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Destination } from "../../src/edge/forwarding/directions.ts";
import { elsewhereHeader, nodeHeader, readNodeHeader } from "../../src/edge/forwarding/node-header.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { startEdge, to } from "./edge.ts";

type Owner = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** An owner that answers as told, one after the other; the last answer repeats. */
async function startOwner(t: Test, ...answers: readonly [Owner, ...Owner[]]) {
  const bodies: string[] = [];
  const requests: IncomingMessage[] = [];
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    bodies.push(body);
    requests.push(request);
    (answers[Math.min(bodies.length, answers.length) - 1] as Owner)(request, response, body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, requests };
}

const answerWith =
  (body: string): Owner =>
  (_request, response) =>
    void response.end(body);
const die: Owner = (_request, response) => void response.socket?.destroy();
const elsewhere: Owner = (_request, response) => {
  response.writeHead(503, { [elsewhereHeader]: "1", "Content-Length": "0" });
  response.end();
};

t.test("a change whose owner goes away is not sent again without a key: 503 OWNER_UNREACHABLE", async (t) => {
  const owner = await startOwner(t, die, answerWith("done"));
  const url = await startEdge(t, { destination: () => to(owner.address) });
  const answer = await fetch(url, { method: "POST", body: "soup" });
  t.match(await answer.json(), { result: "error", code: "OWNER_UNREACHABLE" });
  t.strictSame([answer.status, answer.headers.get("retry-after")], [503, String(limits.forward_retry_s)]);
  t.strictSame(owner.bodies, ["soup"], "the owner got it once");
});

t.test("a read, and a change under an Idempotency-Key, are sent again", async (t) => {
  const owner = await startOwner(t, die, answerWith("read"), die, answerWith("changed"));
  const url = await startEdge(t, { destination: () => to(owner.address) });
  t.equal(await (await fetch(url)).text(), "read");
  const headers = { "Idempotency-Key": "k" };
  t.equal(await (await fetch(url, { method: "POST", body: "soup", headers })).text(), "changed");
  t.strictSame(owner.bodies, ["", "", "soup", "soup"]);
});

t.test("a change that no node has seen waits for one", async (t) => {
  const wrong = await startOwner(t, elsewhere);
  const owner = await startOwner(t, answerWith("done"));
  const ways = [{ kind: "nobody" } as const, to("http://127.0.0.1:1"), to(wrong.address), to(owner.address)];
  const url = await startEdge(t, { destination: () => (ways.length > 1 ? ways.shift() : ways[0]) as Destination });
  t.equal(await (await fetch(url, { method: "POST", body: "soup" })).text(), "done");
  t.strictSame([wrong.bodies, owner.bodies], [["soup"], ["soup"]]);
});

t.test("a poll that an owner ends because it stops is held by the next one", async (t) => {
  const stopping: Owner = (_request, response) => {
    response.statusCode = 503;
    response.end('{"result":"error","code":"SERVER_SHUTTING_DOWN"}');
  };
  const owner = await startOwner(t, stopping, answerWith("events"));
  const url = await startEdge(t, { destination: () => to(owner.address) });
  t.equal(await (await fetch(url)).text(), "events");
  t.equal(owner.bodies.length, 2);
});

t.test("a request waits forward_wait_ms_max for a node", async (t) => {
  const clock = new ManualClock(0);
  let looks = 0;
  const destination = (): Destination => {
    looks++;
    clock.advance(limits.forward_wait_ms_max / 10);
    return { kind: "nobody" };
  };
  const url = await startEdge(t, { destination, clock });
  t.equal((await fetch(url, { method: "POST", body: "soup" })).status, 503);
  // Once for the way, then until the time is over.
  t.equal(looks, 11);
});

t.test("a process that stands still loses its requests when its lease is over", async (t) => {
  let isGone = false;
  const owner = await startOwner(
    t,
    () => {
      isGone = true;
    },
    answerWith("read"),
  );
  const url = await startEdge(t, {
    destination: () => to(owner.address),
    isGone: () => isGone && owner.bodies.length < 2,
  });
  t.equal(await (await fetch(url)).text(), "read");
  t.strictSame(owner.bodies.length, 2);
});

t.test("a body over forward_replay_bytes_max is sent once, and streams with back-pressure", async (t) => {
  const large = "x".repeat(limits.forward_replay_bytes_max + 1);
  const owner = await startOwner(t, answerWith("done"), die);
  const url = await startEdge(t, { destination: () => to(owner.address) });
  t.equal(await (await fetch(url, { method: "POST", body: large })).text(), "done");
  const headers = { "Idempotency-Key": "k" };
  t.equal((await fetch(url, { method: "POST", body: large, headers })).status, 503);
  const lengths = owner.bodies.map(({ length }) => length);
  t.strictSame(lengths, [large.length, large.length]);
});

t.test("an answer of forward_answer_bytes_max is kept until it is whole; a longer one is passed on", async (t) => {
  const breaksOff =
    (bytes: number): Owner =>
    (_request, response) => {
      response.writeHead(200, { "Content-Length": String(bytes) });
      response.write(Buffer.alloc(bytes - 1, "x"), () => response.socket?.destroy());
    };
  const bound = limits.forward_answer_bytes_max;
  const kept = await startOwner(t, breaksOff(bound), answerWith("whole"));
  t.equal(
    await (await fetch(await startEdge(t, { destination: () => to(kept.address) }))).text(),
    "whole",
    "asked again",
  );
  const passed = await startOwner(t, breaksOff(bound + 1), answerWith("whole"));
  const url = await startEdge(t, { destination: () => to(passed.address) });
  await t.rejects(
    fetch(url).then((answer) => answer.text()),
    "it is cut off",
  );
  t.equal(passed.bodies.length, 1, "the client has a part of it");
});

t.test("a client cannot pass as a node, and its header does not reach the owner", async (t) => {
  const owner = await startOwner(t, answerWith("done"));
  const url = await startEdge(t, { destination: () => to(owner.address) });
  await fetch(url, { headers: { [nodeHeader]: "guessed http 198.51.100.9", "X-Forwarded-For": "198.51.100.9" } });
  const sent = owner.requests[0]?.headers;
  t.equal(sent?.[nodeHeader], "secret http 127.0.0.1");
  t.equal(sent?.["x-forwarded-for"], undefined);
  t.equal(readNodeHeader("secret https 203.0.113.7", "secret")?.address, "203.0.113.7");
  for (const forged of ["", "secret", "secre http 1.2.3.4", "secrets http 1.2.3.4"]) {
    t.equal(readNodeHeader(forged, "other"), null);
  }
  t.equal(readNodeHeader(" http 1.2.3.4", ""), null, "a node without a key trusts nobody");
  const misdirected = await fetch(url, { headers: { [nodeHeader]: "secret http 127.0.0.1" } });
  t.strictSame(
    [misdirected.status, misdirected.headers.get(elsewhereHeader), owner.bodies.length],
    [503, "1", 1],
    "a request of a node is never forwarded again",
  );
});

t.test("a slow client of a large answer holds back the owner", async (t) => {
  const size = 64 * 1024 * 1024;
  let written = 0;
  const owner = await startOwner(t, (_request, response) => {
    response.writeHead(200, { "Content-Length": String(size) });
    const piece = Buffer.alloc(64 * 1024);
    const more = () => {
      while (written < size) {
        written += piece.length;
        if (!response.write(piece)) {
          response.once("drain", more);
          return;
        }
      }
      response.end();
    };
    more();
  });
  const url = await startEdge(t, { destination: () => to(owner.address) });
  const answer = await fetch(url);
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  let last = -1;
  // It stands still when all buffers on the way are full.
  while (written !== last) {
    last = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  t.ok(written < size / 2, `${written} bytes were written`);
  let received = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) received += next.value.length;
  t.equal(received, size);
});
