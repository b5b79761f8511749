/** Malformed bytes: valid requests and frames, damaged by accident or on purpose. */
import fc from "fast-check";
import { frameBytes, opcodes } from "../support/raw-frames.ts";

/** Bytes that confuse parsers. */
const nasty: readonly Buffer[] = [
  "\r\n",
  "\n",
  "\0",
  "\r\n\r\n",
  " ",
  ":",
  "Content-Length: -1\r\n",
  "Content-Length: 5\r\nContent-Length: 6\r\n",
  "Content-Length: 99999999999999999999\r\n",
  "Content-Length: 0x10\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding: gzip, chunked\r\n",
  "Transfer-Encoding : chunked\r\nContent-Length: 3\r\n",
  "Expect: 100-continue\r\n",
  "Upgrade: h2c\r\nConnection: Upgrade\r\n",
  "ffffffffffffffffffff\r\n",
  "-1\r\n",
  "0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
  " HTTP/0.9\r\n",
  " HTTP/2.0\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
  "%00%0d%0a",
  "/../../../etc/passwd",
  "\xff\xfe\xfd",
  `X: ${"y".repeat(5000)}\r\n`,
  "x:\r\n folded\r\n",
  "Host: a\r\nHost: b\r\n",
].map((text) => Buffer.from(text, "latin1"));

type Damage = (bytes: Buffer) => Buffer;

function at(where: number, bytes: Buffer): number {
  return Math.floor(where * bytes.length);
}

const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

const damages: fc.Arbitrary<Damage> = fc.oneof(
  place.map(
    (where): Damage =>
      (bytes) =>
        bytes.subarray(0, at(where, bytes)),
  ),
  fc.tuple(place, fc.integer({ min: 1, max: 255 })).map(
    ([where, mask]): Damage =>
      (bytes) => {
        const changed = Buffer.from(bytes);
        const index = at(where, bytes);
        if (index < changed.length) changed[index] = (changed[index] ?? 0) ^ mask;
        return changed;
      },
  ),
  fc.tuple(place, fc.constantFrom(...nasty)).map(
    ([where, more]): Damage =>
      (bytes) => {
        const index = at(where, bytes);
        return Buffer.concat([bytes.subarray(0, index), more, bytes.subarray(index)]);
      },
  ),
  fc.tuple(place, place).map(
    ([from, to]): Damage =>
      (bytes) => {
        const [start, end] = [at(Math.min(from, to), bytes), at(Math.max(from, to), bytes)];
        return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
      },
  ),
  fc.tuple(place, place).map(
    ([from, to]): Damage =>
      (bytes) => {
        const [start, end] = [at(Math.min(from, to), bytes), at(Math.max(from, to), bytes)];
        return Buffer.concat([bytes, bytes.subarray(start, end)]);
      },
  ),
  // After the first line, where headers are.
  fc.constantFrom(...nasty).map(
    (more): Damage =>
      (bytes) => {
        const index = bytes.indexOf("\r\n") + 2;
        return Buffer.concat([bytes.subarray(0, index), more, bytes.subarray(index)]);
      },
  ),
);

/** How bytes are damaged: once or a few times, or not at all, with several requests in one segment. */
export const damage: fc.Arbitrary<Damage> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.array(damages, { minLength: 1, maxLength: 4 }).map(
      (all): Damage =>
        (bytes) => {
          return all.reduce((broken, one) => one(broken), bytes);
        },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 2, max: 5 }).map(
      (times): Damage =>
        (bytes) => {
          return Buffer.concat(Array.from({ length: times }, () => bytes));
        },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 300 }).map(
      (noise): Damage =>
        () =>
          Buffer.from(noise),
    ),
  },
);

const frameTexts = fc.oneof(
  fc
    .constantFrom<object>(
      { type: "ping", ref: "a" },
      { type: "auth", email: "owner@localhost", key: "wrong" },
      { type: "call", ref: "b", method: "GET", path: "/users/me", params: {} },
      { type: "call", ref: "c", method: "POST", path: "/messages", params: { type: "direct", to: [2], content: "x" } },
      { type: "call", method: "PATCH", path: "/settings", params: { twenty_four_hour_time: [] } },
      { type: "register", ref: "d", event_types: ["message"] },
      { type: "resume", queue_id: "x", last_event_id: -1 },
      { type: "ack", last_event_id: 2 ** 53 },
      { type: 5 },
      [],
      { type: "__proto__" },
      { type: "call", method: {}, path: [], params: "x" },
    )
    .map((frame) => JSON.stringify(frame)),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constantFrom("[".repeat(5000), `{"type":"ping","ref":"${"r".repeat(5000)}"}`, "x".repeat(70_000)),
);

/** A malformed frame closes the socket: frames after it are not read. */
function mostly<T>(usual: T, other: T): fc.Arbitrary<T> {
  return fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constant(other) });
}

/** One frame, valid or not. */
const frame = fc
  .record({
    text: frameTexts,
    opcode: fc.oneof(
      { weight: 8, arbitrary: fc.constant<number>(opcodes.text) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(opcodes.binary, opcodes.continuation, opcodes.ping, opcodes.close, 3, 15),
      },
    ),
    isFinal: mostly(true, false),
    isMasked: mostly(true, false),
    reserved: mostly(0, 4),
  })
  .map(({ text, opcode, ...shape }) => frameBytes(opcode, text, shape));

/** The frames of a client after the handshake. */
export const frameStream: fc.Arbitrary<Buffer> = fc
  .tuple(
    fc.array(frame, { minLength: 1, maxLength: 5 }).map((frames) => Buffer.concat(frames)),
    fc.option(damages, { nil: null, freq: 1 }),
  )
  .map(([bytes, spoil]) => (spoil === null ? bytes : spoil(bytes)));
