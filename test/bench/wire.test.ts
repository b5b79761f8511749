// The parts of the load generator that read bytes: HTTP responses and WebSocket frames, however TCP splits them. The
// other end is an independent implementation (node:http, the `ws` package).

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { WebSocketServer } from "ws";
import { HttpConnection } from "../../bench/lib/http-connection.ts";
import { buildRequest, MARKER, markerOffsets, patchMarkers } from "../../bench/lib/http-request.ts";
import { type Response, ResponseReader } from "../../bench/lib/http-response.ts";
import { WebSocketReceiver } from "../../bench/lib/websocket.ts";

const LENGTH_ANSWER = "HTTP/1.1 200 OK\r\nuWebSockets: 20\r\nContent-Length: 11\r\n\r\nhello world";
const CHUNKED_ANSWER =
  "HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: 1\r\n\r\n";

/**
 * Feeds `text` in pieces through a buffer that contains stale bytes after each piece, as the shared read buffer does.
 */
function readInPieces(text: string, cuts: readonly number[]): Response[] {
  const responses: Response[] = [];
  const reader = new ResponseReader((response) => responses.push(response));
  const shared = Buffer.alloc(4096, "\r\n\r\nHTTP/1.1 500 stale\r\nContent-Length: 3\r\n\r\n", "latin1");
  const bounds = [0, ...cuts, text.length];
  for (const [index, from] of bounds.slice(0, -1).entries()) {
    const piece = text.slice(from, bounds[index + 1]);
    shared.write(piece, 0, "latin1");
    if (piece.length > 0) reader.push(shared, piece.length);
  }
  return responses;
}

t.test("a response is read the same wherever TCP splits it", async (t) => {
  const expected = { status: 200, bodyBytes: 11, failureBody: "" };
  t.same(readInPieces(LENGTH_ANSWER, []), [expected]);
  for (let cut = 1; cut < LENGTH_ANSWER.length; cut += 1) {
    t.same(readInPieces(LENGTH_ANSWER, [cut]), [expected], `cut at ${cut}`);
  }
});

t.test("a chunked response is read the same wherever TCP splits it, and a failure's body is kept", async (t) => {
  const expected = { status: 400, bodyBytes: 11, failureBody: "hello world" };
  t.same(readInPieces(CHUNKED_ANSWER, []), [expected]);
  for (let cut = 1; cut < CHUNKED_ANSWER.length; cut += 1) {
    t.same(readInPieces(CHUNKED_ANSWER, [cut]), [expected], `cut at ${cut}`);
  }
});

t.test("bytes after a response are an error, because nothing was pipelined", async (t) => {
  t.throws(() => readInPieces(`${LENGTH_ANSWER}x`, []), /bytes after the end/);
  t.throws(() => readInPieces("HTTP/1.1 200 OK\r\n\r\n", []), /without a length/);
});

t.test("a request carries its number in the body without changing its length", async (t) => {
  const text = buildRequest({
    method: "POST",
    path: "/api/v1/messages",
    authorization: "Basic eA==",
    form: { topic: MARKER, content: `${MARKER} some words` },
    host: "127.0.0.1:1",
  });
  const bytes = Buffer.from(text, "latin1");
  const offsets = markerOffsets(bytes);
  patchMarkers(bytes, offsets, 12_345);
  t.equal(offsets.length, 2);
  t.equal(bytes.toString("latin1"), text.replaceAll(MARKER, "bm00012345x"));
  const [head = "", body = ""] = text.split("\r\n\r\n");
  t.match(head, new RegExp(`Content-Length: ${body.length}$`));
});

t.test("one connection sends many requests to a node:http server", async (t) => {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    request.setEncoding("utf8");
    let body = "";
    request.on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      bodies.push(body);
      response.end("x".repeat(100_000));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const request = Buffer.from(
    buildRequest({ method: "POST", path: "/", authorization: null, form: { a: "b c" }, host: "x" }),
  );
  const responses = await new Promise<Response[]>((resolve, reject) => {
    const seen: Response[] = [];
    const connection: HttpConnection = new HttpConnection(
      { host: "127.0.0.1", port },
      {
        onConnect: () => connection.send(request),
        onResponse: (response) => {
          seen.push(response);
          if (seen.length < 3) connection.send(request);
          else connection.close();
        },
        onClose: (reason) => (seen.length === 3 ? resolve(seen) : reject(new Error(reason))),
      },
    );
  });
  const found = responses.map(({ status, bodyBytes }) => [status, bodyBytes]);
  t.same(found, [
    [200, 100_000],
    [200, 100_000],
    [200, 100_000],
  ]);
  t.same(bodies, ["a=b+c", "a=b+c", "a=b+c"]);
});

/** A `ws` server on a free port that runs `script` for its one client. */
async function serveSocket(t: Test, script: (socket: import("ws").WebSocket) => void): Promise<number> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  server.on("connection", script);
  t.teardown(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  await new Promise<void>((resolve) => server.once("listening", resolve));
  return (server.address() as AddressInfo).port;
}

/** Connects and collects texts until the socket is closed. */
function collect(port: number, hello: string): Promise<{ texts: string[]; reason: string }> {
  return new Promise((resolve) => {
    const texts: string[] = [];
    const socket: WebSocketReceiver = new WebSocketReceiver(
      { address: { host: "127.0.0.1", port }, path: "/", authorization: null, localAddress: "127.0.0.2" },
      {
        onOpen: () => socket.sendText(hello),
        onText: (bytes, from, to) => texts.push(bytes.toString("utf8", from, to)),
        onClose: (reason) => resolve({ texts, reason }),
      },
    );
  });
}

t.test("frames of every length, fragments and pings of an independent server arrive in order", async (t) => {
  const lengths = [0, 1, 125, 126, 65_535, 65_536, 700_000];
  const heard: string[] = [];
  const port = await serveSocket(t, (socket) => {
    socket.on("message", (data: Buffer) => {
      heard.push(data.toString("utf8"));
      for (const length of lengths) socket.send("y".repeat(length));
      socket.ping("are you there");
      socket.send("first ", { fin: false });
      socket.send("and second", { fin: true });
    });
    socket.on("pong", (data: Buffer) => {
      heard.push(data.toString("utf8"));
      socket.close(4410, "queue gone");
    });
  });
  const hello = `grüß dich ${"z".repeat(200)}`;
  const { texts, reason } = await collect(port, hello);
  t.same(heard, [hello, "are you there"]);
  const found = texts.map((text) => text.length);
  t.same(found, [...lengths, "first and second".length]);
  t.equal(texts.at(-1), "first and second");
  t.equal(reason, "close 4410 queue gone");
});

t.test("a rejected upgrade reports its status", async (t) => {
  const server = createServer((_request, response) => response.writeHead(401).end("no"));
  server.on("upgrade", (_request, socket) => socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const { reason, texts } = await collect((server.address() as AddressInfo).port, "hello");
  t.match(reason, /refused: HTTP\/1\.1 401 Unauthorized/);
  t.same(texts, []);
});
