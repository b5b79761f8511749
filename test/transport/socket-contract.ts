/** The behaviour required of every transport with WebSockets and TLS (docs/transport.md). */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get } from "node:https";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { WebSocket } from "ws";
import { sendStatus } from "../../src/edge/transport/transport.ts";
import { certificateObstacle, newCertificate } from "../support/certificate.ts";
import { exchange, RawConnection } from "../support/http.ts";
import { frameBytes, opcodes } from "../support/raw-frames.ts";
import { temporaryFolder } from "../support/server.ts";
import {
  answering,
  type Contract,
  connectSocket,
  respond,
  serve,
  socketPath,
  until,
  upgradeHead,
  watchedRoute,
} from "./app.ts";

const lateUpgrades = 300;

function nextMessage(client: WebSocket): Promise<{ data: Buffer; isBinary: boolean }> {
  return once(client, "message").then(
    ([data, isBinary]) => ({ data, isBinary }) as { data: Buffer; isBinary: boolean },
  );
}

export const socketContract: Contract = {
  "an accepted upgrade opens a socket with its data and protocol, for text and bytes": async (t, transport) => {
    const watched = watchedRoute();
    const { url } = await serve(t, transport, { route: watched.route });
    const client = await connectSocket(t, url, "?somebody", ["msgpack"]);
    t.equal(client.protocol, "msgpack");
    const socket = await watched.opened;
    t.equal(socket.getUserData().name, "somebody");
    client.send("hello \u{1f600}");
    client.send(Buffer.from([0, 255]));
    await until(() => watched.events.length === 3);
    t.equal(socket.send("text", false), sendStatus.sent);
    t.match(await nextMessage(client), { data: Buffer.from("text"), isBinary: false });
    socket.send(Buffer.from([1, 2]), true);
    t.match(await nextMessage(client), { data: Buffer.from([1, 2]), isBinary: true });
    client.close(1000);
    await watched.closed;
    t.strictSame(watched.events, ["open somebody", "text hello \u{1f600}", "binary 00ff", "closed"]);
  },

  "an upgrade without a protocol has none, and bytes sent before the response are not frames": async (t, transport) => {
    const watched = watchedRoute();
    const { url } = await serve(t, transport, { route: watched.route });
    const connection = new RawConnection(url);
    const early = frameBytes(opcodes.text, "early");
    await connection.write(Buffer.concat([Buffer.from(upgradeHead(socketPath)), early]));
    await watched.opened;
    await connection.write(frameBytes(opcodes.text, "late"));
    await until(() => watched.events.length > 1);
    t.strictSame(watched.events, ["open ", "text late"]);
    t.match(connection.rest, /^HTTP\/1\.1 101 [\s\S]*sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/i);
    t.notMatch(connection.rest, /sec-websocket-(?:protocol|extensions)/i);
    connection.destroy();
  },

  "sockets that are accepted in a later pass of the loop stay open": async (t, transport) => {
    let blocks: readonly Buffer[] = [];
    const watched = watchedRoute();
    const route: typeof watched.route = {
      ...watched.route,
      upgrade(response, _request, accept) {
        response.onAborted(() => undefined);
        setImmediate(() => accept({ name: "" }, ""));
      },
      open(socket) {
        // A library that reads memory which is free by now reads this.
        if (watched.events.length > 0)
          blocks = Array.from({ length: 250 }, (_, index) => Buffer.allocUnsafeSlow(8 + index).fill(0x10));
        watched.route.open(socket);
      },
    };
    const { url } = await serve(t, transport, { route });
    await connectSocket(t, url);
    for (let count = 0; count < lateUpgrades; count++) {
      const before = watched.events.length;
      const connection = new RawConnection(url);
      await connection.write(upgradeHead(socketPath));
      await until(() => watched.events.length > before);
      await connection.write(frameBytes(opcodes.text, "here"));
      await until(() => watched.events.length > before + 1);
      connection.destroy();
      await until(() => watched.events.at(-1) === "closed");
    }
    t.equal(watched.events.filter((event) => event === "text here").length, lateUpgrades);
    t.equal(blocks.length, 250);
  },

  "a rejected upgrade gets its response, and the connection is closed": async (t, transport) => {
    const watched = watchedRoute({
      upgrade(response) {
        let isOver = false;
        response.onAborted(() => {
          isOver = true;
        });
        setImmediate(() => {
          if (isOver) return;
          response.cork(() => {
            response.writeStatus("403 Forbidden");
            response.end("no", true);
          });
        });
      },
    });
    const { url } = await serve(t, transport, { route: watched.route });
    const connection = new RawConnection(url);
    await connection.write(upgradeHead(socketPath));
    t.match(await connection.answer(), { status: 403, text: "no" });
    await connection.closed;
    t.strictSame(watched.events, []);
  },

  "the path of sockets: a GET without an upgrade is answered, other methods are requests": async (t, transport) => {
    const { url } = await serve(t, transport, { route: watchedRoute().route, handler: answering("request") });
    const ask = async (method: string, path: string) =>
      (await exchange(url, `${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`))?.text;
    t.equal(await ask("GET", socketPath), "no upgrade");
    t.equal(await ask("GET", `${socketPath}?x=1`), "no upgrade");
    t.equal(await ask("POST", socketPath), "request");
    t.equal(await ask("GET", `${socketPath}/x`), "request");
    const elsewhere = await exchange(url, upgradeHead("/elsewhere"));
    t.equal(elsewhere?.text, "request", "an upgrade elsewhere is ignored");
  },

  "the fragments of a message arrive as one message, in both directions": async (t, transport) => {
    const watched = watchedRoute();
    const { url } = await serve(t, transport, { route: watched.route });
    const client = await connectSocket(t, url);
    const socket = await watched.opened;
    socket.sendFirstFragment(Buffer.from("one "), false);
    socket.sendFragment(Buffer.from("two "));
    socket.sendLastFragment(Buffer.from("three"));
    t.match(await nextMessage(client), { data: Buffer.from("one two three"), isBinary: false });
    client.send("a", { fin: false });
    client.send("b", { fin: true });
    await until(() => watched.events.length === 2);
    t.equal(watched.events[1], "text ab");
  },

  "[S3, E3] if a client does not read, sends are buffered, then dropped, and the socket is closed": async (
    t,
    transport,
  ) => {
    const watched = watchedRoute();
    const { url } = await serve(t, transport, { route: watched.route });
    const client = await connectSocket(t, url);
    const socket = await watched.opened;
    client.pause();
    const piece = Buffer.alloc(64 * 1024);
    const sent: number[] = [];
    while (sent.at(-1) !== sendStatus.buffered) sent.push(socket.send(piece, true));
    t.ok(
      sent.slice(0, -1).every((status) => status === sendStatus.sent),
      `the kernel took ${sent.length - 1} pieces`,
    );
    t.ok(socket.getBufferedAmount() > 0);
    client.resume();
    let received = 0;
    client.on("message", () => received++);
    await until(() => received === sent.length);
    await until(() => watched.events.includes("drained"));
    t.equal(socket.getBufferedAmount(), 0, "it has read all, and the drain callback was called");

    client.pause();
    let status: number = sendStatus.sent;
    while (status !== sendStatus.dropped) status = socket.send(piece, true);
    await watched.closed;
    t.equal(watched.events.at(-1), "closed");
  },

  "[S3] a message over the bound closes the socket, also in fragments": async (t, transport) => {
    for (const isWhole of [true, false]) {
      const watched = watchedRoute();
      const { url } = await serve(t, transport, { route: watched.route });
      const client = await connectSocket(t, url);
      const closed = once(client, "close");
      const half = "x".repeat(watched.route.messageBytesMax / 2);
      client.send(half + half);
      await until(() => watched.events.length === 2);
      if (isWhole) client.send(`${half}${half}x`);
      else for (const last of [half, half, "x"]) client.send(last, { fin: last === "x" });
      await watched.closed;
      const [code] = await closed;
      t.ok([1006, 1009].includes(code as number));
      t.equal(watched.events.length, 3, "it was not shown");
    }
  },

  "`end` sends its code and reason after everything that was sent, and closes before it returns": async (
    t,
    transport,
  ) => {
    const watched = watchedRoute();
    const { url } = await serve(t, transport, { route: watched.route });
    const client = await connectSocket(t, url);
    const socket = await watched.opened;
    const closed = once(client, "close");
    const message = nextMessage(client);
    socket.send("last", false);
    socket.end(4321, "good bye");
    t.equal(watched.events.at(-1), "closed");
    t.equal(String((await message).data), "last");
    const [code, reason] = await closed;
    t.strictSame([code, String(reason)], [4321, "good bye"]);
    t.equal(watched.events.filter((event) => event === "closed").length, 1);
  },

  "the socket of a client that violates the protocol or vanishes is closed once": async (t, transport) => {
    const broken = watchedRoute();
    const { url } = await serve(t, transport, { route: broken.route });
    const connection = new RawConnection(url);
    await connection.write(upgradeHead(socketPath));
    await broken.opened;
    await connection.write(frameBytes(3, "no such opcode"));
    await broken.closed;
    await connection.closed;
    const gone = watchedRoute();
    const second = await serve(t, transport, { route: gone.route });
    const client = await connectSocket(t, second.url);
    client.terminate();
    await gone.closed;
    t.strictSame(
      [broken.events, gone.events],
      [
        ["open ", "closed"],
        ["open ", "closed"],
      ],
    );
  },

  "closing the app closes its sockets": async (t, transport) => {
    const watched = watchedRoute();
    const { app, url } = await serve(t, transport, { route: watched.route });
    const client = await connectSocket(t, url);
    const closed = once(client, "close");
    await watched.opened;
    await app.stopListening();
    client.send("still here");
    await until(() => watched.events.includes("text still here"));
    app.close();
    await closed;
    await watched.closed;
    t.equal(watched.events.at(-1), "closed");
  },
};

export const tlsContract: Contract = {
  "TLS: https and wss with the given key, and nothing else": async (t, transport) => {
    const obstacle = certificateObstacle();
    if (obstacle !== null) {
      t.pass(`skipped: ${obstacle}`);
      return;
    }
    const tls = newCertificate(temporaryFolder(t));
    const watched = watchedRoute();
    const long = "x".repeat(1024 * 1024);
    let isFull = false;
    const { url } = await serve(t, transport, {
      tls,
      admits: () => !isFull,
      route: watched.route,
      handler(response) {
        response.onAborted(() => undefined);
        respond(response, long);
      },
    });
    const ca = readFileSync(tls.certFile);
    const [response] = await once(get(url, { ca, agent: false }), "response");
    t.equal(await text(response), long);
    const client = new WebSocket(`${url.replace("https", "wss")}${socketPath}`, { ca });
    await once(client, "open");
    client.send("secret");
    await until(() => watched.events.includes("text secret"));
    client.terminate();
    const plain = connect(Number(new URL(url).port), "127.0.0.1");
    plain.end("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    t.notMatch(await text(plain), "HTTP/1.1 200");
    isFull = true;
    const refused = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined);
    await once(refused.resume(), "close");
    isFull = false;
    const again = get(url, { ca, agent: false });
    t.equal((await once(again, "response"))[0].statusCode, 200, "after a connection that was not admitted");
    again.destroy();
    const wrong = { tls: { keyFile: tls.certFile, certFile: tls.keyFile }, malformedBody: "" };
    const timers = { monotonic: () => 0, after: () => () => undefined };
    t.equal(transport.createApp({ ...wrong, timers }), null, "a key and its certificate, not the other way round");
  },
};
