/**
 * The WebSocket protocol itself (RFC 6455) with a client on bare TCP: handshakes, fragments, control frames, closing,
 * and violations. uWebSockets.js drops a connection that violates the protocol without a close frame (clients see
 * 1006); `ws` sends one.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { closePayload, type FrameShape, frameBytes, opcodes } from "../support/raw-frames.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { messageIds } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const isNative = server.running.transport === "native";

const { text, continuation, close, ping, pong } = opcodes;

function pingFrame(ref: string): string {
  return JSON.stringify({ type: "ping", ref });
}

/** Waits for the reply to a ping that was sent, or fails with the reason why the connection ended. */
function answered(socket: RawSocket, ref: string): Promise<unknown> {
  return Promise.race([socket.frame((frame) => frame.ref === ref), socket.closed]);
}

/** Whether the connection is open: it answers a ping. */
async function isAlive(socket: RawSocket): Promise<boolean> {
  socket.send(pingFrame("alive"));
  return JSON.stringify(await answered(socket, "alive")) === '{"type":"pong","ref":"alive"}';
}

t.test("RFC 6455 5.4: three fragments form one frame, and a ping between them is answered", async (t) => {
  const socket = await RawSocket.of(owner);
  const frame = pingFrame("three");
  const isFinal = false;
  socket.write(
    frameBytes(text, frame.slice(0, 5), { isFinal }),
    frameBytes(ping, "between"),
    frameBytes(continuation, frame.slice(5, 9), { isFinal }),
  );
  socket.write(frameBytes(continuation, frame.slice(9)));
  t.strictSame(await answered(socket, "three"), { type: "pong", ref: "three" });
  t.strictSame(socket.pongs.map(String), ["between"]);
  t.strictSame(socket.frames.length, 1);
  socket.destroy();
});

t.test("RFC 6455 5.2: a frame that arrives byte by byte is read, and so are many frames in one segment", async (t) => {
  const socket = await RawSocket.of(owner);
  for (const byte of frameBytes(text, pingFrame("bytes"))) {
    socket.write(Buffer.from([byte]));
    await new Promise<void>((resume) => setImmediate(resume));
  }
  t.strictSame(await answered(socket, "bytes"), { type: "pong", ref: "bytes" });
  const refs = Array.from({ length: 50 }, (_, index) => `many ${index}`);
  socket.send(...refs.map(pingFrame));
  await answered(socket, refs.at(-1) ?? "");
  const found = socket.frames.slice(1).map((frame) => frame.ref);
  t.strictSame(found, refs, "all, in order");
  socket.destroy();
});

t.test("RFC 6455 8.1: a character split between fragments is decoded whole", async (t) => {
  const socket = await RawSocket.of(owner);
  const bytes = Buffer.from(pingFrame("\u{1f600}"));
  const cut = bytes.indexOf(0xf0) + 2;
  socket.write(
    frameBytes(text, bytes.subarray(0, cut), { isFinal: false }),
    frameBytes(continuation, bytes.subarray(cut)),
  );
  t.strictSame(await answered(socket, "\u{1f600}"), { type: "pong", ref: "\u{1f600}" });
  socket.destroy();
});

t.test("RFC 6455 5.5.2: a ping is answered with its own payload, up to 125 bytes", async (t) => {
  const socket = await RawSocket.of(owner);
  const payloads = ["", "x", "\u0000\u{1f600}", "x".repeat(125)];
  socket.write(...payloads.map((payload) => frameBytes(ping, payload)), frameBytes(pong, "nobody asked"));
  t.ok(await isAlive(socket), "and an unsolicited pong is ignored");
  t.strictSame(socket.pongs.map(String), payloads);
  socket.destroy();
});

t.test("RFC 6455 5.5.1, 7.1: a close frame is echoed with its code, and the connection ends", async (t) => {
  for (const [payload, code] of [
    [closePayload(1000, "bye"), 1000],
    [closePayload(4321), 4321],
    [Buffer.alloc(0), 1005],
  ] as const) {
    const socket = await RawSocket.of(owner);
    socket.write(frameBytes(close, payload), frameBytes(text, pingFrame("late")));
    t.equal((await socket.closed).code, code);
    await socket.ended;
    t.strictSame(socket.frames, [], "bytes after it are not read");
  }
  for (const payload of [Buffer.from("x"), closePayload(999), closePayload(1005), closePayload(1006)]) {
    const socket = await RawSocket.of(owner);
    socket.write(frameBytes(close, payload));
    t.equal((await socket.closed).code, isNative ? 1005 : 1002, "a reserved code is not echoed");
    await socket.ended;
  }
});

t.test("RFC 6455 7.1.1: a client that half-closes its TCP connection gets the reply, then the end", async (t) => {
  const socket = await RawSocket.of(owner);
  socket.send(pingFrame("last"));
  socket.halfClose();
  await socket.ended;
  t.strictSame(socket.frames, [{ type: "pong", ref: "last" }]);
});

const isFinal = false;
const violations: Readonly<Record<string, readonly Buffer[]>> = {
  "invalid UTF-8 in a text frame": [frameBytes(text, Buffer.from([0x22, 0xff, 0x22]))],
  "truncated UTF-8": [frameBytes(text, Buffer.from([0x22, 0xe2, 0x82]))],
  "invalid UTF-8 across fragments": [
    frameBytes(text, Buffer.from([0x22, 0xe2]), { isFinal }),
    frameBytes(continuation, '"'),
  ],
  "a continuation without a first fragment": [frameBytes(continuation, pingFrame("x"))],
  "a new frame inside another": [frameBytes(text, "{", { isFinal }), frameBytes(text, pingFrame("x"))],
  "a fragmented ping": [frameBytes(ping, "x", { isFinal }), frameBytes(continuation, "y")],
  "a ping of 126 bytes": [frameBytes(ping, "x".repeat(126))],
  "a close of 126 bytes": [frameBytes(close, closePayload(1000, "x".repeat(124)))],
  ...Object.fromEntries([1, 2, 4].map((reserved) => [`reserved bit ${reserved}`, [reservedFrame({ reserved })]])),
  ...Object.fromEntries(
    [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode) => [`opcode ${opcode}`, [frameBytes(opcode, pingFrame("x"))]]),
  ),
};

function reservedFrame(shape: FrameShape): Buffer {
  return frameBytes(text, pingFrame("x"), shape);
}

t.test("RFC 6455 5, 8.1: a protocol violation ends the connection, and its frame is not executed", async (t) => {
  const others = await RawSocket.of(owner);
  for (const [name, bytes] of Object.entries(violations)) {
    const socket = await RawSocket.of(owner);
    socket.write(...bytes, frameBytes(text, pingFrame("after")));
    t.ok([1002, 1006, 1007].includes((await socket.closed).code), name);
    await socket.ended;
    t.strictSame(socket.frames, [], `${name}: no answer`);
  }
  t.ok(await isAlive(others), "other connections are unaffected");
  others.destroy();
});

t.test("RFC 6455 5.1: an unmasked frame is never executed as what it says", async (t) => {
  const queue = await owner.openQueue(["message"]);
  const params = { type: "direct", to: [owner.userId], content: "not masked" };
  const call = JSON.stringify({ type: "call", method: "POST", path: "/messages", params });
  const socket = await RawSocket.of(owner);
  // uWS unmasks it anyway, with the frame's own first bytes, and then misreads what follows.
  socket.write(frameBytes(text, call, { isMasked: false }), frameBytes(text, pingFrame("after")));
  t.equal((await socket.closed).code, isNative ? 1006 : 1002);
  t.strictSame(socket.frames, []);
  t.strictSame(messageIds(await owner.readNow(queue)), []);
});

t.test(
  "[S3] a fragmented frame counts as a whole: ws_frame_bytes_max is accepted, one byte more closes with 1009",
  async (t) => {
    const bare = '{"type":"ping","ref":"big","pad":""}';
    const inTwo = (bytes: number): Buffer[] => {
      const frame = bare.replace('""', `"${"x".repeat(bytes - bare.length)}"`);
      const half = Math.floor(bytes / 2);
      return [frameBytes(text, frame.slice(0, half), { isFinal }), frameBytes(continuation, frame.slice(half))];
    };
    const socket = await RawSocket.of(owner);
    socket.write(...inTwo(limits.ws_frame_bytes_max));
    t.strictSame(await answered(socket, "big"), { type: "pong", ref: "big" });
    socket.write(...inTwo(limits.ws_frame_bytes_max + 1));
    t.strictSame(await socket.closed, { code: 1009, reason: "frame too large" });
    t.match(socket.frames.slice(1), [{ type: "reply", result: "error", code: "BAD_REQUEST" }]);
    await socket.ended;
  },
);

t.test(
  "[S3] a frame header that announces more than the hard bound ends the connection before its payload",
  async (t) => {
    const tooMuch = Buffer.alloc(limits.ws_frame_bytes_hard_max + 1, "x");
    const socket = await RawSocket.of(owner);
    socket.write(frameBytes(text, tooMuch).subarray(0, 14));
    t.ok([1006, 1009].includes((await socket.closed).code), "announced");
    const piecemeal = await RawSocket.of(owner);
    const half = tooMuch.subarray(0, limits.ws_frame_bytes_hard_max / 2 + 1);
    piecemeal.write(frameBytes(text, half, { isFinal }), frameBytes(continuation, half, { isFinal }));
    t.ok([1006, 1009].includes((await piecemeal.closed).code), "in endless fragments");
  },
);

t.test("RFC 6455 4.2: a request that is not a version 13 handshake is rejected with the version", async (t) => {
  const cases: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
    "Sec-WebSocket-Version must be 13": { "Sec-WebSocket-Version": "8" },
    "Sec-WebSocket-Key is missing or malformed": { "Sec-WebSocket-Key": null },
    "Upgrade must be websocket": { Upgrade: "h2c" },
    "Connection must be Upgrade": { Connection: "keep-alive" },
  };
  const more: typeof cases = {
    "Sec-WebSocket-Version must be 13": { "Sec-WebSocket-Version": null },
    "Sec-WebSocket-Key is missing or malformed": { "Sec-WebSocket-Key": "!".repeat(24) },
    "Upgrade must be websocket": { Upgrade: null },
    "Connection must be Upgrade": { Connection: null },
  };
  for (const [fault, headers] of [...Object.entries(cases), ...Object.entries(more)]) {
    const socket = new RawSocket(server.url, { authorization: owner.authorization, headers });
    const { status, headers: head, body } = await socket.handshake;
    const msg = `No WebSocket handshake: ${fault}`;
    t.strictSame([status, JSON.parse(body)], [400, { result: "error", msg, code: "BAD_REQUEST" }]);
    t.match(head, /sec-websocket-version: 13/i);
    t.notMatch(head, /sec-websocket-accept/i);
    socket.destroy();
  }
  const short = new RawSocket(server.url, { authorization: "", headers: { "Sec-WebSocket-Key": "abc" } });
  t.equal((await short.handshake).status, 400);
  short.destroy();
});

t.test("RFC 6455 4.2: a handshake is accepted whatever the case of its headers, with the matching key", async (t) => {
  const socket = new RawSocket(server.url, {
    authorization: owner.authorization,
    headers: {
      Upgrade: "WebSocket",
      Connection: "keep-alive, upgrade",
      // The example key of RFC 6455, and its response.
      "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Protocol": "chat, msgpack",
      "Sec-WebSocket-Extensions": "permessage-deflate",
    },
  });
  const { status, headers } = await socket.handshake;
  t.equal(status, 101);
  t.match(headers, /sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/i);
  t.match(headers, /sec-websocket-protocol: msgpack/i, "exactly one of the offered protocols");
  t.notMatch(headers, /sec-websocket-extensions/i, "compression is off");
  socket.destroy();
  const unknown = new RawSocket(server.url, {
    authorization: owner.authorization,
    headers: { "Sec-WebSocket-Protocol": "chat" },
  });
  t.notMatch((await unknown.handshake).headers, /sec-websocket-protocol/i, "nor one that the server does not support");
  t.ok(await isAlive(unknown), "JSON is the default");
  unknown.destroy();
});

t.test("RFC 6455 4.1: frames sent before the handshake response are ignored; those after it are read", async (t) => {
  const early = frameBytes(text, pingFrame("early"));
  const socket = new RawSocket(server.url, { authorization: owner.authorization, early });
  t.equal((await socket.handshake).status, 101);
  t.ok(await isAlive(socket));
  const refs = socket.frames.map((frame) => frame.ref);
  t.strictSame(refs, ["alive"]);
  socket.destroy();
});
