/** The HTTP behaviour required of every transport (docs/transport.md). Clients are bare TCP connections. */
import { once } from "node:events";
import { connect } from "node:net";
import { limits } from "../../schemas/limits.ts";
import type { TransportResponse } from "../../src/edge/transport/transport.ts";
import { exchange, RawConnection } from "../support/http.ts";
import { StalledReader } from "../support/stalled-reader.ts";
import { answering, bodyOf, type Contract, respond, serve, until } from "./app.ts";

const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const post = (headers: string) => `POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`;

/** Pieces of a long body, in which each byte depends on its offset. */
function longBody(bytes: number): Buffer {
  const body = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) body.writeUInt32BE(at, at);
  return body;
}

/** Sends a body in pieces, as fast as the client reads. @returns the offset at each call */
function sendLong(
  response: TransportResponse,
  body: Buffer,
  pieceBytes: number,
): { offsets: number[]; isDone: boolean } {
  const state = { offsets: [] as number[], isDone: false };
  const offer = (offset: number): boolean => {
    state.offsets.push(offset);
    let [at, isTaken] = [offset, true];
    while (isTaken && !state.isDone) {
      const piece = body.subarray(at, at + pieceBytes);
      [isTaken, state.isDone] = response.tryEnd(piece, body.length);
      at += piece.length;
    }
    return isTaken;
  };
  response.onWritable(offer);
  response.cork(() => void offer(0));
  return state;
}

export const httpContract: Contract = {
  "a request has its method, path, query and every header as sent": async (t, transport) => {
    const seen: unknown[] = [];
    const { url } = await serve(t, transport, {
      handler(response, request) {
        response.onAborted(() => undefined);
        const headers: string[] = [];
        request.forEach((name, value) => {
          headers.push(`${name}=${value}`);
        });
        const method = request.getMethod().toUpperCase();
        const first = request.getHeader("x-two");
        seen.push({ method, path: request.getUrl(), query: request.getQuery() ?? "", headers, first });
        seen.push(request.getHeader("x-none"));
        respond(response, "");
      },
    });
    await exchange(url, `PATCH /a%2Fb/c?d=e?f HTTP/1.1\r\nHost: x\r\nX-Two: 1\r\nX-TWO:  2 \r\nX-Empty:\r\n\r\n`);
    const headers = ["host=x", "x-two=1", "x-two=2", "x-empty="];
    t.strictSame(seen, [{ method: "PATCH", path: "/a%2Fb/c", query: "d=e?f", headers, first: "1" }, ""]);
  },

  "a response has its status, headers and length, and the connection serves the next request": async (t, transport) => {
    const { url } = await serve(t, transport, {
      handler(response, request) {
        response.onAborted(() => undefined);
        const path = request.getUrl();
        response.cork(() => {
          if (path === "/missing") response.writeStatus("404 Not Found");
          if (path === "/none") response.writeStatus("204 No Content");
          response.writeHeader("X-Path", path);
          if (path === "/lines") response.writeHeader("X-One", "1\r\nX-Two: 2: b\r\nX-Three: ");
          if (path === "/head") response.writeHeader("Content-Length", "5");
          if (path === "/none" || path === "/head") response.endWithoutBody();
          else if (path === "/tried") response.tryEnd("tried \u{1f600}", 10);
          else response.end(path, false);
        });
      },
    });
    const connection = new RawConnection(url);
    const ask = async (path: string, hasBody = true) => {
      await connection.write(get(path).replace(/^GET/, hasBody ? "GET" : "HEAD"));
      return connection.answer(hasBody);
    };
    t.match(await ask("/plain"), {
      status: 200,
      headers: { "x-path": "/plain", "content-length": "6" },
      text: "/plain",
    });
    t.match(await ask("/lines"), { headers: { "x-one": "1", "x-two": "2: b", "x-three": "", "x-path": "/lines" } });
    t.match(await ask("/missing"), { status: 404, headers: { "x-path": "/missing" }, text: "/missing" });
    t.match(await ask("/tried"), { status: 200, headers: { "content-length": "10" }, text: "tried \u{1f600}" });
    t.match(await ask("/head", false), { status: 200, headers: { "content-length": "5" } });
    t.match(await ask("/none", false), { status: 204, headers: { "x-path": "/none" } });
    t.match(await ask("/last"), { status: 200, text: "/last" }, "all on one connection");
    connection.destroy();
  },

  "a body arrives in chunks of which exactly one is the last, whether its length is known or not": async (
    t,
    transport,
  ) => {
    const { url } = await serve(t, transport, {
      handler(response) {
        response.onAborted(() => undefined);
        void bodyOf(response).then((body) => respond(response, `${body.length} ${body.subarray(-3)}`, true));
      },
    });
    t.equal((await exchange(url, `${post("Content-Length: 3")}abc`))?.text, "3 abc");
    const long = longBody(300_000);
    const split = new RawConnection(url);
    await split.write(post(`Content-Length: ${long.length + 3}`));
    for (let at = 0; at < long.length; at += 100_000) await split.write(long.subarray(at, at + 100_000));
    await split.write("end");
    t.equal((await split.answer())?.text, "300003 end");
    const chunked = new RawConnection(url);
    await chunked.write(`${post("Transfer-Encoding: chunked")}3\r\nabc\r\n`);
    await chunked.write("3\r\nxyz\r\n0\r\n\r\n");
    t.equal((await chunked.answer())?.text, "6 xyz");
    t.equal((await exchange(url, `${post("Transfer-Encoding: chunked")}0\r\n\r\n`))?.text, "0 ", "an empty one");
  },

  "[S3] a paused body stops arriving, and is complete after it is resumed": async (t, transport) => {
    const body = longBody(8 * 1024 * 1024);
    let received = 0;
    let held: TransportResponse | null = null;
    const { url } = await serve(t, transport, {
      handler(response, request) {
        response.onAborted(() => undefined);
        if (request.getUrl() === "/other") {
          respond(response, "");
          return;
        }
        const chunks: Buffer[] = [];
        response.onData((chunk, isLast) => {
          chunks.push(Buffer.from(chunk.slice(0)));
          if (received === 0) {
            held = response;
            response.pause();
          }
          received += chunk.byteLength;
          if (isLast) respond(response, String(Buffer.concat(chunks).equals(body)));
        });
      },
    });
    const connection = new RawConnection(url);
    const written = connection.write(Buffer.concat([Buffer.from(post(`Content-Length: ${body.length}`)), body]));
    await until(() => held !== null);
    // A server that kept reading would have had many passes of the loop for it.
    for (let round = 0; round < 20; round++) await exchange(url, get("/other"));
    t.ok(received < body.length / 2, `${received} bytes came before and while it was paused`);
    (held as TransportResponse | null)?.resume();
    await written;
    t.equal((await connection.answer())?.text, "true");
    connection.destroy();
  },

  "after a response that closes the connection, no bytes after the request are handled": async (t, transport) => {
    let handled = 0;
    const { url } = await serve(t, transport, {
      handler(response) {
        handled++;
        let isOver = false;
        response.onAborted(() => {
          isOver = true;
        });
        setImmediate(() => {
          if (!isOver) respond(response, "last", true);
        });
      },
    });
    const connection = new RawConnection(url);
    await connection.write(get("/first"));
    t.match(await connection.answer(), { text: "last", headers: { connection: /close/i } });
    await connection.closed;
    const together = new RawConnection(url);
    await together.write(get("/first") + get("/second"));
    await together.closed;
    t.equal(handled, 2, "one of each connection");
  },

  "a client that hangs up aborts its response once; `close` aborts it before it returns": async (t, transport) => {
    const aborted: string[] = [];
    let waiting: TransportResponse | null = null;
    const { url } = await serve(t, transport, {
      handler(response, request) {
        const path = request.getUrl();
        response.onAborted(() => aborted.push(path));
        waiting = response;
        if (path !== "/close") return;
        response.close();
        aborted.push("closed");
      },
    });
    const connection = new RawConnection(url);
    await connection.write(get("/hangs-up"));
    await until(() => waiting !== null);
    connection.destroy();
    await until(() => aborted.length > 0);
    const half = new RawConnection(url);
    await half.write(get("/half"));
    half.finish();
    await half.closed;
    const closed = new RawConnection(url);
    await closed.write(get("/close"));
    await closed.closed;
    t.equal(closed.rest, "");
    t.strictSame(aborted, ["/hangs-up", "/half", "/close", "closed"]);
  },

  "[S3] a client that stops reading pauses the response, which is complete after it reads on": async (t, transport) => {
    const body = longBody(32 * 1024 * 1024);
    const pieceBytes = 256 * 1024;
    let sent: { offsets: number[]; isDone: boolean } | null = null;
    let isAborted = false;
    const { url } = await serve(t, transport, {
      handler(response, request) {
        response.onAborted(() => {
          isAborted = true;
        });
        if (request.getUrl() === "/other") respond(response, "");
        else sent = sendLong(response, body, pieceBytes);
      },
    });
    const reader = new StalledReader(url);
    t.teardown(() => reader.destroy());
    reader.write(get("/long"));
    t.equal(await reader.status, 200);
    await exchange(url, get("/other"));
    const { offsets, isDone } = sent ?? { offsets: [], isDone: true };
    t.notOk(isDone, "the client has not taken it");
    const calls = offsets.length;
    t.ok((offsets.at(-1) ?? 0) < body.length / 2, "what it has not taken stays with us");
    const text = await reader.whole();
    t.ok(offsets.length > calls, "it was asked for more");
    t.ok(
      offsets.every((offset, index) => offset > (offsets[index - 1] ?? -1)),
      "offsets grow",
    );
    t.equal(Buffer.byteLength(text), Buffer.byteLength(body.toString("utf8")));
    t.notOk(isAborted);
  },

  "[D33] bytes that are not a request close the connection; a head that is too large is rejected with 431": async (
    t,
    transport,
  ) => {
    const { url } = await serve(t, transport, { handler: answering("handled") });
    const broken = [
      "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
      `${get("/").slice(0, -2)}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ];
    for (const bytes of broken) {
      const connection = new RawConnection(url);
      await connection.write(Buffer.from(bytes, "latin1"));
      connection.finish();
      await connection.closed;
      t.notMatch(connection.rest, "handled", JSON.stringify(bytes));
    }
    const large = `X-Long: ${"y".repeat(limits.http_head_bytes_max)}\r\n`;
    t.equal((await exchange(url, get("/", large)))?.status ?? 431, 431);
    t.equal((await exchange(url, get("/")))?.text, "handled", "the next one is served");
    const fits = `X-Long: ${"y".repeat(limits.http_head_bytes_max - 1024)}\r\n`;
    t.equal((await exchange(url, get("/", fits)))?.text, "handled", "so is a large head");
  },

  "Upgrade headers of other protocols are ignored": async (t, transport) => {
    const { url } = await serve(t, transport, {
      handler(response, request) {
        response.onAborted(() => undefined);
        const path = request.getUrl();
        if (request.getMethod().toUpperCase() === "GET") respond(response, path);
        else void bodyOf(response).then((body) => respond(response, `${path} ${body}`));
      },
    });
    const upgrade = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";
    const connection = new RawConnection(url);
    await connection.write(get("/first", upgrade));
    t.equal((await connection.answer())?.text, "/first");
    await connection.write(`${get("/second", `${upgrade}Content-Length: 4\r\n`).replace("GET", "POST")}body`);
    t.equal((await connection.answer())?.text, "/second body");
    await connection.write(get("/third"));
    t.equal((await connection.answer())?.text, "/third", "the connection serves on");
    connection.destroy();
  },

  "Expect: 100-continue is answered, an unknown expectation is ignored": async (t, transport) => {
    const { url } = await serve(t, transport, {
      handler(response) {
        response.onAborted(() => undefined);
        void bodyOf(response).then((body) => respond(response, String(body), true));
      },
    });
    const connection = new RawConnection(url);
    await connection.write(post("Content-Length: 4\r\nExpect: 100-continue"));
    t.equal((await connection.answer())?.status, 100);
    await connection.write("body");
    t.equal((await connection.answer())?.text, "body");
    for (const expected of ["magic", "100-Continue"]) {
      const answers = new RawConnection(url);
      await answers.write(`${post(`Content-Length: 4\r\nExpect: ${expected}`)}body`);
      const first = await answers.answer();
      // Node's transport sends the interim answer to any spelling (docs/transport.md).
      t.equal((first?.status === 100 ? await answers.answer() : first)?.text, "body");
      answers.destroy();
    }
  },

  "a client's address is in dotted IPv4 form, or in full IPv6 form": async (t, transport) => {
    const handler = (response: TransportResponse) => {
      response.onAborted(() => undefined);
      respond(response, Buffer.from(response.getRemoteAddressAsText()).toString());
    };
    const { url } = await serve(t, transport, { handler });
    t.equal((await exchange(url, get("/")))?.text, "127.0.0.1");
    const six = await serve(t, transport, { handler, host: "::1" }).catch(() => null);
    if (six === null || six.url.endsWith("null")) return;
    const socket = connect(Number(new URL(six.url).port), "::1");
    socket.write(get("/"));
    const [bytes] = await once(socket, "data");
    t.match(String(bytes), /\r\n\r\n(?:0000:){7}0001$/);
    socket.destroy();
  },

  "[D43] a connection that is not admitted ends at once, and those that were accepted are served": async (
    t,
    transport,
  ) => {
    let isFull = false;
    const { url } = await serve(t, transport, { handler: answering("served"), admits: () => !isFull });
    const open = new RawConnection(url);
    await open.write(get("/"));
    t.equal((await open.answer())?.text, "served");
    isFull = true;
    for (let count = 0; count < 3; count++) {
      const refused = new RawConnection(url);
      await refused.closed;
      t.equal(refused.rest, "");
    }
    await open.write(get("/"));
    t.equal((await open.answer())?.text, "served");
    isFull = false;
    t.equal((await exchange(url, get("/")))?.text, "served");
  },

  "a port in use is not shared": async (t, transport) => {
    const { url } = await serve(t, transport, { handler: answering("first") });
    const second = transport.createApp({
      tls: null,
      malformedBody: "",
      timers: { monotonic: () => 0, after: () => () => undefined },
    });
    t.equal(await second?.listen("127.0.0.1", Number(new URL(url).port)), null);
    t.equal((await exchange(url, get("/")))?.text, "first");
    second?.close();
  },

  "while draining, open connections are served and new ones refused, until `close` drops all": async (t, transport) => {
    const { app, url } = await serve(t, transport, { handler: answering("served") });
    const [open, silent] = [new RawConnection(url), new RawConnection(url)];
    for (const connection of [open, silent]) {
      await connection.write(get("/"));
      t.equal((await connection.answer())?.text, "served");
    }
    await app.stopListening();
    const late = new RawConnection(url);
    t.equal(await late.answer(), null, "nobody listens");
    await open.write(get("/"));
    t.equal((await open.answer())?.text, "served");
    app.close();
    await Promise.all([open.closed, silent.closed]);
  },
};
