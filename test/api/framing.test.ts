/**
 * Requests with ambiguous body framing (spec 2.1; RFC 9112, 6) are answered 400, the connection is closed, and no bytes
 * after the head are executed. docs/transport.md says what uWebSockets.js hides from the server.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { RawConnection } from "../support/http.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner, url } = server;
const isNative = server.running.transport === "native";
const content = "type=direct&to=[2]&content=x";
const post = (headers: string) =>
  `POST /api/v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${owner.authorization}\r\nContent-Type: application/x-www-form-urlencoded\r\n${headers}\r\n\r\n`;
/** The request that an attacker would like to smuggle in. */
const smuggled = `${post(`Content-Length: ${content.length}`)}${content}`;

const ambiguous: Readonly<Record<string, string>> = {
  "two lengths": `Content-Length: ${content.length}\r\nContent-Length: 3`,
  "the same length twice": `Content-Length: ${content.length}\r\nContent-Length: ${content.length}`,
  "an empty length": "Content-Length:",
  "an empty length and chunked": "Content-Length:\r\nTransfer-Encoding: chunked",
  "a length and an empty encoding": `Content-Length: ${content.length}\r\nTransfer-Encoding:`,
  "an empty encoding": "Transfer-Encoding:",
  "another encoding before chunked": "Transfer-Encoding: gzip, chunked",
  "an encoding whose name ends in chunked": "Transfer-Encoding: xchunked",
  "two encodings": "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
  "two hosts": `Content-Length: ${content.length}\r\nHost: elsewhere`,
  "two credentials": `Content-Length: ${content.length}\r\nAuthorization: Basic eDp5`,
};

t.test("[spec 2.1] a head with ambiguous framing is rejected with 400, and the connection is closed", async (t) => {
  const changes = await owner.watchChanges();
  for (const [what, headers] of Object.entries(ambiguous)) {
    const connection = new RawConnection(url);
    await connection.write(post(headers));
    const answer = await connection.answer();
    t.equal(answer?.status, 400, what);
    t.match(JSON.parse(answer?.text ?? "{}"), { result: "error", code: "BAD_REQUEST" }, what);
    await connection.closed;
  }
  t.strictSame(await changes(), [], "nothing was done");
});

t.test("[S3] host_header_bytes_max: a request or a handshake with a longer Host is rejected", async (t) => {
  const longest = "h".repeat(limits.host_header_bytes_max);
  const ask = async (head: string) => {
    const connection = new RawConnection(url);
    await connection.write(head);
    const answer = await connection.answer();
    connection.destroy();
    return answer;
  };
  const read = (host: string) => ask(`GET /api/v1/server_settings HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  const upgrade = (host: string) =>
    ask(
      `GET /api/v1/events/ws HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${"A".repeat(22)}==\r\n\r\n`,
    );
  t.equal((await read(longest))?.status, 200);
  t.equal((await upgrade(longest))?.status, 101);
  for (const over of [await read(`${longest}h`), await upgrade(`${longest}h`)]) {
    t.equal(over?.status, 400);
    t.match(JSON.parse(over?.text ?? "{}"), { code: "BAD_REQUEST", msg: /The Host header is too long$/ });
  }
});

t.test("[spec 2.1] bytes after such a head in the same segment are never executed as a request", async (t) => {
  const changes = await owner.watchChanges();
  for (const [what, headers] of Object.entries(ambiguous)) {
    const connection = new RawConnection(url);
    await connection.write(post(headers) + content + smuggled + smuggled);
    await connection.closed;
    t.notMatch(connection.rest, / 200 /, what);
  }
  t.strictSame(await changes(), [], "nothing was done");
});

const soundChunks = `1c\r\n${content}\r\n0\r\n\r\n`;
/** Malformed chunked bodies that uWebSockets.js accepts. */
const brokenChunks: Readonly<Record<string, string>> = {
  "without a line break after a chunk": `1c\r\n${content}XX0\r\n\r\n`,
  "with bare line feeds": `1c\n${content}\n0\n\n`,
  "with a bare line feed after the size": `1c\n${content}\r\n0\r\n\r\n`,
  "without a line break at the end": `1c\r\n${content}\r\n0\r\nXX`,
};

t.test(
  "[spec 2.1] native: after a chunked body the connection is closed, and no bytes after it become a request",
  { skip: isNative ? false : "Node rejects malformed chunks" },
  async (t) => {
    for (const [what, body] of Object.entries({ sound: soundChunks, ...brokenChunks })) {
      const behind = new RawConnection(url);
      const before = await owner.watchChanges();
      await behind.write(post("Transfer-Encoding: chunked") + body + smuggled);
      await behind.closed;
      const received = (await before()).filter((event) => (event as { type: string }).type === "message");
      t.ok(received.length <= 1, `${what}: ${received.length} of two messages`);

      const later = new RawConnection(url);
      await later.write(post("Transfer-Encoding: chunked") + body);
      await later.answer();
      await later.closed;
    }
  },
);

t.test(
  "[spec 2.1] node: malformed chunks are rejected with 400 and close the connection, well-formed ones do not",
  { skip: isNative ? "uWebSockets.js does not report malformed chunks" : false },
  async (t) => {
    const changes = await owner.watchChanges();
    for (const [what, body] of Object.entries(brokenChunks)) {
      const connection = new RawConnection(url);
      await connection.write(post("Transfer-Encoding: chunked") + body + smuggled);
      const answer = await connection.answer();
      t.match(answer, { status: 400, headers: { "content-type": "application/json" } }, what);
      t.match(JSON.parse(answer?.text ?? "{}"), { result: "error", code: "BAD_REQUEST" }, what);
      await connection.closed;
      t.equal(connection.rest, "", `${what}: nothing behind it is answered`);
    }
    t.strictSame(await changes(), [], "nothing was done");
    const sound = new RawConnection(url);
    await sound.write(post("Transfer-Encoding: chunked") + soundChunks);
    t.equal((await sound.answer())?.status, 200);
    await sound.write(smuggled);
    t.equal((await sound.answer())?.status, 200, "the connection serves on");
    sound.destroy();
  },
);
