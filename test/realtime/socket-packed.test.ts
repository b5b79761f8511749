/**
 * MessagePack and JSON are equivalent (realtime.md, WebSocket): every frame has the same response in both, and whatever
 * bytes arrive, each frame is answered once and the connection stays open.
 */
import fc from "fast-check";
import { Packr } from "msgpackr";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Client } from "../support/client.ts";
import { connect } from "../support/realtime.ts";
import { seedOf } from "../support/seed.ts";
import { startTestServer } from "../support/server.ts";
import { type Frame, Socket } from "../support/socket.ts";

const server = await startTestServer(t);
const { owner } = server;
const packr = new Packr({ useRecords: false });

type Format = "json" | "msgpack";

async function open(format: Format, as?: Client): Promise<Socket> {
  const socket = new Socket(server.url, {
    ...(as === undefined ? {} : { as }),
    ...(format === "msgpack" ? { protocol: format } : {}),
  });
  await socket.opened();
  return socket;
}

function send(socket: Socket, format: Format, frame: unknown): void {
  socket.ws.send(format === "msgpack" ? packr.pack(frame) : JSON.stringify(frame));
}

t.test("every frame has the same response in JSON and in MessagePack, from the first one on", async (t) => {
  const person = await server.user("bilingual");
  const queue = await person.openQueue(["message"]);
  const frames: readonly Frame[] = [
    { type: "authenticate", email: person.account?.email, api_key: person.account?.key },
    { type: "ping" },
    { type: "register", event_types: ["message", "realm"], fetch_event_types: ["realm"] },
    { type: "register", event_types: "message" },
    { type: "resume", queue_id: queue.queue_id, last_event_id: queue.last_event_id },
    { type: "resume", queue_id: "none", last_event_id: 1 },
    { type: "ack", last_event_id: "wrong" },
    { type: "presence", status: "active", last_update_id: -1, ping_only: true },
    { type: "presence", status: "asleep" },
    { type: "typing", op: "start", to: [owner.userId] },
    { type: "typing", op: "pause", to: [owner.userId] },
    { type: "call", method: "GET", path: "/users/me", params: { include_custom_profile_fields: true } },
    { type: "call", method: "GET", path: "/messages/0" },
    { type: "authenticate", email: "x", api_key: "y" },
    { type: "moon", ref: undefined },
    { type: "ping", ref: "x".repeat(limits.ws_ref_code_points_max + 1) },
  ];
  const answersIn = async (format: Format): Promise<Frame[]> => {
    const socket = await open(format);
    for (const [index, frame] of frames.entries()) {
      send(socket, format, { ref: `f${index}`, ...frame });
      await socket.frame(() => socket.frames.length > index);
    }
    socket.terminate();
    // Fields that depend on the moment are left out.
    return socket.frames.map(({ queue_id: _id, last_event_id: _at, ...answer }) => answer);
  };
  const answers = [await answersIn("json"), await answersIn("msgpack")];
  t.equal(answers[0]?.length, frames.length);
  t.strictSame(answers[1], answers[0]);
});

/** One response for each frame and one for the ping after them: no frame is swallowed, none closes the connection. */
async function answersEach(socket: Socket, frames: readonly Buffer[], format: Format): Promise<Frame[]> {
  const before = socket.frames.length;
  for (const frame of frames) socket.ws.send(frame, { binary: format === "msgpack" });
  send(socket, format, { type: "ping", ref: "fence" });
  const isFence = (frame: Frame) => frame.type === "pong" && frame.ref === "fence";
  await Promise.race([
    socket.frame((frame) => isFence(frame) && socket.frames.indexOf(frame) >= before),
    socket.closed,
  ]);
  return socket.frames.slice(before);
}

const header = { depth: 0x91, pointer: [0xd6, 0x70], name: [0xd6, 0x69] } as const;

/** A ping whose field holds the bytes. */
function around(bytes: readonly number[]): Buffer {
  return Buffer.from([0x82, 0xa4, ...Buffer.from("type"), 0xa4, ...Buffer.from("ping"), 0xa1, 0x78, ...bytes]);
}

t.test("[S3] MessagePack that JSON cannot express is rejected with a reply, at no cost", async (t) => {
  const nested = (depth: number) => around([...new Uint8Array(depth).fill(header.depth), 0x01]);
  const refused: Readonly<Record<string, Buffer>> = {
    "an integer beyond the 64 bits of JSON": around([0xcf, ...new Uint8Array(8).fill(0xff)]),
    "a time": around([0xd6, 0xff, 0, 0, 0, 1]),
    bytes: around([0xc4, 1, 2]),
    "no number": around([0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0]),
    "an infinite number": around([0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0]),
    "an unknown extension": around([0xd4, 99, 1]),
    "a value that contains itself": around([...header.name, 0, 0, 0, 1, 0x91, ...header.pointer, 0, 0, 0, 1]),
    "one thing twice": around([0x92, ...header.name, 0, 0, 0, 1, 0x91, 0x01, ...header.pointer, 0, 0, 0, 1]),
    "nested one level too deep": nested(limits.json_nesting_max),
    "nested without end": nested(500_000),
    "an array shorter than announced": around([0xdd, 0x00, 0xff, 0xff, 0xff]),
    "a map shorter than announced": around([0xdf, 0x00, 0xff, 0xff, 0xff]),
    "a string shorter than announced": around([0xdb, 0xff, 0xff, 0xff, 0xff]),
    "trailing bytes": Buffer.from([...packr.pack({ type: "ping" }), 0x01]),
  };
  const socket = await open("msgpack", owner);
  for (const [name, bytes] of Object.entries(refused)) {
    const [reply, ...rest] = await answersEach(socket, [bytes], "msgpack");
    t.match(reply, { type: "reply", result: "error", code: "BAD_REQUEST" }, name);
    t.equal(rest.length, 1, `${name}: one reply, and the socket stays open`);
  }
  const fits = await answersEach(socket, [nested(limits.json_nesting_max - 1)], "msgpack");
  t.match(fits[0], { type: "pong" }, "as deep as JSON may be");
  const absent = {
    type: "call",
    method: "GET",
    path: "/users/me",
    params: { x: undefined },
    idempotency_key: undefined,
  };
  const answers = await answersEach(socket, [packr.pack(absent)], "msgpack");
  t.ok(
    answers.some((answer) => answer.result === "success"),
    "fields without a value are omitted",
  );
  socket.terminate();
});

/** The MessagePack of an array of `count` values that take one byte each. */
function flat(count: number, value: number): readonly number[] {
  return [0xdd, ...uint32(count), ...new Uint8Array(count).fill(value)];
}

function uint32(value: number): readonly number[] {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return [...bytes];
}

/** The values of a ping beside what is in its field `x`: the frame, two names and two values. */
const besides = 5;
const packedOne = 0x01;
const emptyMap = 0x80;

t.test("[S3, D46] json_values_max: a frame with more values is rejected, in both formats", async (t) => {
  const most = limits.json_values_max;
  const tooMany = { type: "reply", code: "BAD_REQUEST", msg: `The frame has too many values (limit: ${most})` };
  const fitting = most - besides;
  /** An empty map counts as two values. */
  const maps = Math.floor(fitting / 2);
  const ping = (x: unknown) => Buffer.from(JSON.stringify({ type: "ping", x }));
  const cases = {
    msgpack: {
      fits: [around(flat(fitting, packedOne)), around(flat(maps, emptyMap))],
      over: [
        around(flat(fitting + 1, packedOne)),
        around(flat(maps + 1, emptyMap)),
        around(flat(1_000_000, emptyMap)),
        around([0xdd, ...uint32(2 ** 32 - 1), ...new Uint8Array(1_000_000).fill(packedOne)]),
        around([0xdf, ...uint32(maps + 1), ...new Uint8Array(limits.ws_frame_bytes_max / 2).fill(0xa0)]),
      ],
    },
    json: {
      fits: [ping(Array(fitting).fill(1)), ping(Array(maps).fill({}))],
      over: [ping(Array(fitting + 1).fill(1)), ping(Array(maps + 1).fill({})), ping(Array(349_000).fill({}))],
    },
  } as const;
  for (const format of ["json", "msgpack"] as const) {
    const socket = await open(format, owner);
    for (const [index, bytes] of cases[format].fits.entries()) {
      const [reply] = await answersEach(socket, [bytes], format);
      t.match(reply, { type: "pong" }, `${format}, as many as the bound: ${index}`);
    }
    for (const [index, bytes] of cases[format].over.entries()) {
      const [reply, ...rest] = await answersEach(socket, [bytes], format);
      t.match(reply, tooMany, `${format}, over the bound: ${index}`);
      t.equal(rest.length, 1, "the socket stays open");
    }
    socket.terminate();
  }
});

t.test("[S3] form_parameters_max: a frame has no more parameters, and no longer names, than a form", async (t) => {
  for (const format of ["json", "msgpack"] as const) {
    const socket = await open(format, owner);
    const ask = async (params: Readonly<Record<string, unknown>>, type = "call") => {
      const call = { method: "GET", path: "/users/me", params };
      send(socket, format, { ref: "asked", ...(type === "call" ? { type, ...call } : { type, ...params }) });
      const answer = await socket.frame((frame) => frame.ref === "asked");
      socket.frames.length = 0;
      return answer;
    };
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, 1]));
    const full = await ask(many(limits.form_parameters_max));
    t.equal(full.ignored_parameters_unsupported.length, limits.form_parameters_max);
    const refused = { result: "error", code: "BAD_REQUEST" };
    const name = "é".repeat(limits.form_name_characters_max);
    t.match(await ask({ [name]: 1 }), { result: "success" });
    for (const type of ["call", "register", "presence", "typing"]) {
      t.match(await ask(many(limits.form_parameters_max + 1), type), { ...refused, msg: "Too many parameters" }, type);
      t.match(await ask({ [`${name}é`]: 1 }, type), { ...refused, msg: "A parameter's name is too long" }, type);
    }
    socket.terminate();
  }
});

t.test("[D39] MessagePack text that is not UTF-8 is rejected, as in JSON", async (t) => {
  const malformed = [[0xed, 0xa0, 0x80], [0xff], [0xc0, 0x80], [0xe2, 0x82], [0xf4, 0x90, 0x80, 0x80]];
  const socket = await open("msgpack", owner);
  for (const bytes of malformed) {
    const text = [0xa0 + bytes.length, ...bytes];
    for (const [frame, where] of [
      [around(text), "a value"],
      [around([0x81, ...text, 0x01]), "a name"],
      [around([0xd9, 40 + bytes.length, ...Buffer.alloc(40, "a"), ...bytes]), "a longer value"],
    ] as const) {
      const [reply] = await answersEach(socket, [frame], "msgpack");
      t.match(reply, { type: "reply", code: "BAD_REQUEST", msg: "Malformed MessagePack" }, `${where}: ${bytes}`);
    }
  }
  socket.terminate();
});

/** Almost valid frames: known types and names with any value. */
const plausible = fc.record(
  {
    type: fc.oneof(
      fc.constantFrom("ping", "resume", "ack", "presence", "typing", "call", "authenticate", "moon"),
      fc.jsonValue(),
    ),
    ref: fc.oneof(fc.string({ maxLength: 70 }), fc.jsonValue()),
    queue_id: fc.jsonValue(),
    last_event_id: fc.oneof(fc.integer(), fc.jsonValue()),
    status: fc.jsonValue(),
    op: fc.constantFrom("start", "stop", "pause"),
    to: fc.jsonValue(),
    method: fc.oneof(fc.constantFrom("GET", "POST", "PATCH", "DELETE", "HEAD", "__proto__"), fc.jsonValue()),
    path: fc.oneof(fc.constantFrom("/users/me", "/messages", "/messages/1", "/a/%zz", "", "//"), fc.jsonValue()),
    params: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
    idempotency_key: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

/** The account's own deactivation, which would close the connection. */
function isFarewell({ method, path }: { readonly method?: unknown; readonly path?: unknown }): boolean {
  return method === "DELETE" && path === "/users/me";
}

for (const format of ["json", "msgpack"] as const) {
  t.test(`every frame of random input in ${format} is answered once, and the connection stays open`, async (t) => {
    const seed = seedOf(t);
    const person = await server.user(`fuzzer ${format}`);
    const socket = await open(format, person);
    const encode = (frame: unknown) => (format === "json" ? Buffer.from(JSON.stringify(frame)) : packr.pack(frame));
    const frame = plausible.filter((candidate) => !isFarewell(candidate));
    const noise =
      format === "json"
        ? fc.oneof(
            fc.string().map((text) => Buffer.from(text)),
            fc.json().map((text) => Buffer.from(text)),
          )
        : fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
    const isAnswered = (bytes: Buffer) => {
      const frame = readBack(format, bytes);
      return !(frame?.type === "ack" && Number.isSafeInteger(frame.last_event_id) && hasGoodRef(frame));
    };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(frame.map(encode), noise), { maxLength: 20 }), async (frames) => {
        const due = frames.filter(isAnswered).length + 1;
        await answersEach(socket, frames, format);
        // An operation that waits for the disk is answered after the ping.
        const replies = () => socket.frames.filter((frame) => frame.type === "reply" || frame.type === "pong");
        await Promise.race([socket.frame(() => replies().length >= due), socket.closed]);
        const answers = replies().length;
        socket.frames.length = 0;
        if (answers !== due) throw new Error(`${answers} responses instead of ${due}`);
        if (socket.ws.readyState !== socket.ws.OPEN) throw new Error("closed");
      }),
      { seed, numRuns: 100 },
    );
    t.match(await (await connect(owner)).ask({ type: "ping" }), { type: "pong" });
    socket.terminate();
  });
}

function readBack(format: Format, bytes: Buffer): Frame {
  try {
    return format === "json" ? JSON.parse(bytes.toString()) : packr.unpack(bytes);
  } catch {
    return undefined;
  }
}

function hasGoodRef({ ref }: Frame): boolean {
  return ref === undefined || (typeof ref === "string" && [...ref].length <= limits.ws_ref_code_points_max);
}
