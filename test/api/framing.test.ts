/**
 * Requests whose body cannot be told from what follows it (spec 2.1; RFC 9112, 6): 400 and the end of the connection, and nothing
 * behind them is carried out. What uWebSockets.js hides is written down in the README (Behind a proxy).
 */
import t from "tap";
import { RawConnection, watchChanges } from "../support/http.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner, url } = server;
const content = "type=direct&to=[2]&content=x";
const post = (headers: string) =>
  `POST /api/v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${owner.authorization}\r\nContent-Type: application/x-www-form-urlencoded\r\n${headers}\r\n\r\n`;
/** What somebody would like to be taken for a request of its own. */
const smuggled = `${post(`Content-Length: ${content.length}`)}${content}`;

const ambiguous: Readonly<Record<string, string>> = {
  "two lengths": `Content-Length: ${content.length}\r\nContent-Length: 3`,
  "the same length twice": `Content-Length: ${content.length}\r\nContent-Length: ${content.length}`,
  "an empty length": "Content-Length:",
  "an empty length and chunks": "Content-Length:\r\nTransfer-Encoding: chunked",
  "a length and no encoding": `Content-Length: ${content.length}\r\nTransfer-Encoding:`,
  "an empty encoding": "Transfer-Encoding:",
  "another encoding before chunks": "Transfer-Encoding: gzip, chunked",
  "an encoding that ends like chunked": "Transfer-Encoding: xchunked",
  "two encodings": "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
  "two hosts": `Content-Length: ${content.length}\r\nHost: elsewhere`,
  "two credentials": `Content-Length: ${content.length}\r\nAuthorization: Basic eDp5`,
};

t.test("[spec 2.1] a head that can be read in two ways is answered 400, and the connection ends", async (t) => {
  const changes = await watchChanges(owner);
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

t.test("[spec 2.1] what stands behind such a head in the same segment is never a request", async (t) => {
  const changes = await watchChanges(owner);
  for (const [what, headers] of Object.entries(ambiguous)) {
    const connection = new RawConnection(url);
    await connection.write(post(headers) + content + smuggled + smuggled);
    await connection.closed;
    t.notMatch(connection.rest, / 200 /, what);
  }
  t.strictSame(await changes(), [], "nothing was done");
});

/** What uWebSockets.js takes for a body of chunks, whatever is wrong with it. */
const chunks: Readonly<Record<string, string>> = {
  sound: `1c\r\n${content}\r\n0\r\n\r\n`,
  "without a line break after a chunk": `1c\r\n${content}XX0\r\n\r\n`,
  "with bare line feeds": `1c\n${content}\n0\n\n`,
  "with a bare line feed after the size": `1c\n${content}\r\n0\r\n\r\n`,
  "without a line break at the end": `1c\r\n${content}\r\n0\r\nXX`,
};

t.test(
  "[spec 2.1] a body of chunks ends the connection: nothing behind it is a request, however it is framed",
  async (t) => {
    for (const [what, body] of Object.entries(chunks)) {
      const behind = new RawConnection(url);
      const before = await watchChanges(owner);
      await behind.write(post("Transfer-Encoding: chunked") + body + smuggled);
      await behind.closed;
      const told = (await before()).filter((event) => (event as { type: string }).type === "message");
      t.ok(told.length <= 1, `${what}: ${told.length} of two messages`);

      const later = new RawConnection(url);
      await later.write(post("Transfer-Encoding: chunked") + body);
      await later.answer();
      await later.closed;
    }
  },
);
