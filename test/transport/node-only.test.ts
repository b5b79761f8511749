/**
 * Behaviour of Node's transport that uWebSockets.js does not have (docs/transport.md): pipelining, HTTP/1.0, expectations
 * in capital letters, and framing errors that are reported.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { nodeTransport } from "../../src/edge/transport/node.ts";
import type { TransportResponse } from "../../src/edge/transport/transport.ts";
import { exchange, RawConnection } from "../support/http.ts";
import { answering, bodyOf, malformedBody, respond, serve, socketPath, until, watchedRoute } from "./app.ts";

const get = (path: string, headers = "Host: x\r\n") => `GET ${path} HTTP/1.1\r\n${headers}\r\n`;
const chunked = "POST /chunks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
const broken = { status: 400, headers: { connection: "close" }, text: malformedBody };

/** Answers each request with its path, when the test permits it. */
function held() {
  const waiting: { path: string; response: TransportResponse }[] = [];
  const aborted: string[] = [];
  return {
    waiting,
    aborted,
    handler(response: TransportResponse, request: { getUrl(): string }) {
      const path = request.getUrl();
      response.onAborted(() => aborted.push(path));
      waiting.push({ path, response });
    },
    async answer(text?: string): Promise<void> {
      await until(() => waiting.length > 0);
      const next = waiting.shift();
      if (next !== undefined) respond(next.response, text ?? next.path);
    },
  };
}

t.test("node: requests that arrive together are handled one by one, however late they are answered", async (t) => {
  const { handler, waiting, answer } = held();
  const { url } = await serve(t, nodeTransport, { handler });
  const connection = new RawConnection(url);
  await connection.write(get("/one") + get("/two") + get("/three"));
  for (const path of ["/one", "/two", "/three"]) {
    await until(() => waiting.length > 0);
    t.equal(waiting.length, 1, "the next one waits");
    await answer();
    t.equal((await connection.answer())?.text, path);
  }
  connection.destroy();
});

t.test("[S3] node: requests_pipelined_max: with one more waiting request the connection is closed", async (t) => {
  const { handler, waiting, aborted, answer } = held();
  const { url } = await serve(t, nodeTransport, { handler });
  const full = new RawConnection(url);
  await full.write(get("/full").repeat(1 + limits.requests_pipelined_max));
  for (let count = 0; count <= limits.requests_pipelined_max; count++) {
    await answer();
    t.equal((await full.answer())?.status, 200);
  }
  full.destroy();
  const over = new RawConnection(url);
  await over.write(get("/over").repeat(2 + limits.requests_pipelined_max));
  await over.closed;
  await until(() => aborted.length > 0);
  t.strictSame([over.rest, aborted, waiting.length], ["", ["/over"], 1], "the first one was begun, no other");
});

t.test("node: an HTTP/1.0 request is answered, and closed unless the client asks to keep it", async (t) => {
  const { url } = await serve(t, nodeTransport, { handler: answering("old") });
  const connection = new RawConnection(url);
  await connection.write("GET / HTTP/1.0\r\n\r\n");
  t.match(await connection.answer(), { status: 200, text: "old", headers: { connection: "close" } });
  await connection.closed;
  const kept = new RawConnection(url);
  for (let count = 0; count < 2; count++) {
    await kept.write("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    t.match(await kept.answer(), { status: 200, headers: { connection: "keep-alive" } });
  }
  kept.destroy();
});

t.test("node: a request line may arrive byte by byte", async (t) => {
  const { url } = await serve(t, nodeTransport, { handler: answering("whole") });
  const connection = new RawConnection(url);
  for (const byte of get("/a?b=c")) {
    await connection.write(byte);
    await new Promise<void>((resume) => setImmediate(resume));
  }
  t.equal((await connection.answer())?.text, "whole");
  connection.destroy();
});

t.test("node: Expect: 100-Continue is answered before the body, whatever its case", async (t) => {
  const { url } = await serve(t, nodeTransport, {
    handler(response) {
      response.onAborted(() => undefined);
      void bodyOf(response).then((body) => respond(response, String(body), true));
    },
  });
  const connection = new RawConnection(url);
  await connection.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-Continue\r\n\r\n");
  t.equal((await connection.answer())?.status, 100);
  await connection.write("body");
  t.equal((await connection.answer())?.text, "body");
  connection.destroy();
});

t.test("[D33] node: bytes that are not a request are rejected with 400 in the envelope", async (t) => {
  const { url } = await serve(t, nodeTransport, { handler: answering("handled") });
  const requests = [
    "GARBAGE\r\n\r\n",
    "GET http://elsewhere/ HTTP/1.1\r\nHost: x\r\n\r\n",
    get("/", "Host: x\r\nSpace : before a colon\r\n"),
    get("/", "Host: x\r\nFolded: one\r\n two\r\n"),
    get("/", "Host: x\r\nControl: a\x01b\r\n"),
    "GET / HTTP/1.1\nHost: x\n\n",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
  ];
  for (const bytes of requests) {
    const connection = new RawConnection(url);
    await connection.write(bytes);
    t.match(await connection.answer(), broken, JSON.stringify(bytes));
    await connection.closed;
  }
});

t.test("[spec 2.1] node: malformed chunks abort their request and are rejected with 400", async (t) => {
  const bodies: string[] = [];
  let aborts = 0;
  const { url } = await serve(t, nodeTransport, {
    handler(response) {
      response.onAborted(() => aborts++);
      void bodyOf(response).then((body) => {
        bodies.push(String(body));
        respond(response, "whole");
      });
    },
  });
  const wrong = ["xyz\r\n", "3\r\nabcXX0\r\n\r\n", "3\nabc\r\n0\r\n\r\n", "3\r\nabc\n0\n\n", "3\r\nabc\r\n0\r\nXX"];
  for (const [index, body] of wrong.entries()) {
    const connection = new RawConnection(url);
    await connection.write(chunked + body + get("/behind"));
    t.match(await connection.answer(), broken, JSON.stringify(body));
    await connection.closed;
    t.equal(connection.rest, "", "nothing behind it is answered");
    t.equal(aborts, index + 1);
  }
  t.strictSame(bodies, []);
  t.equal((await exchange(url, `${chunked}3\r\nabc\r\n0\r\n\r\n`))?.text, "whole");
});

t.test("node: bytes that are not a request are answered after the requests before them", async (t) => {
  const { handler, answer, aborted } = held();
  const { url } = await serve(t, nodeTransport, { handler });
  const connection = new RawConnection(url);
  await connection.write(`${get("/one") + get("/two")}GARBAGE\r\n\r\n`);
  await answer();
  t.equal((await connection.answer())?.text, "/one");
  await answer();
  t.equal((await connection.answer())?.text, "/two");
  t.match(await connection.answer(), broken);
  await connection.closed;
  t.strictSame(aborted, []);
  const inBody = new RawConnection(url);
  await inBody.write(`${get("/one") + chunked}xyz\r\n`);
  await answer();
  t.equal((await inBody.answer())?.text, "/one");
  t.match(await inBody.answer(), broken, "the request with the broken body was never begun");
  await inBody.closed;
});

t.test("node: an upgrade that follows an unanswered request closes the connection", async (t) => {
  const { handler, aborted } = held();
  const watched = watchedRoute();
  const { url } = await serve(t, nodeTransport, { handler, route: watched.route });
  const connection = new RawConnection(url);
  const upgrade = "Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n";
  await connection.write(get("/one") + get(socketPath, `${upgrade}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`));
  await connection.closed;
  await until(() => aborted.length > 0);
  t.strictSame([connection.rest, watched.events, aborted], ["", [], ["/one"]]);
});
