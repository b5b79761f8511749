/**
 * Large responses on a socket (S3, E3; realtime.md, Bounds): sent in fragments, in order, and paused while the client
 * does not read.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { Outbox } from "../../src/realtime/outbox.ts";
import { unpackJson } from "../../src/realtime/packed-json.ts";
import { encodeAnswer } from "../../src/realtime/socket-frames.ts";
import type { SocketConnection } from "../../src/transport/transport.ts";
import { wireMemory } from "../support/wire-memory.ts";

const buffered = 0;

/** A connection whose client accepts as many bytes as the test says. */
class Wire implements SocketConnection {
  unread = 0;
  /** "first", "next" and "last" for fragments; complete texts verbatim. */
  readonly sent: string[] = [];
  readonly pieces: Buffer[] = [];

  #take(what: string, data: string | Buffer): number {
    this.sent.push(what);
    this.unread += data.length;
    return buffered;
  }

  send(data: string | Buffer): number {
    return this.#take(String(data), data);
  }

  sendFirstFragment(data: Buffer): number {
    this.pieces.push(data);
    return this.#take("first", data);
  }

  sendFragment(data: Buffer): number {
    this.pieces.push(data);
    return this.#take("next", data);
  }

  sendLastFragment(data: Buffer): number {
    this.pieces.push(data);
    return this.#take("last", data);
  }

  getBufferedAmount(): number {
    return this.unread;
  }

  end(): void {}
}

function opened() {
  const wire = new Wire();
  const { unsent } = wireMemory(() => 0);
  const timers = new Map<string, () => void>();
  let stalls = 0;
  const outbox = new Outbox({
    connection: wire,
    unsent,
    who: () => "ann",
    onStalled: () => {
      stalls++;
    },
    volatileTimers: {
      set: (name, _ms, callback) => void timers.set(name, callback),
      cancel: (name) => void timers.delete(name),
    },
  });
  return { wire, unsent, outbox, timers, stalls: () => stalls };
}

const large = Buffer.alloc(3 * limits.socket_buffer_bytes_soft_max + 1, 0x61);

t.test("[S3] answer_small_bytes_max: a response of that size is sent whole, a larger one in fragments", (t) => {
  const { wire, outbox } = opened();
  const small = Buffer.alloc(limits.answer_small_bytes_max, 0x61);
  t.equal(outbox.sendAnswer(small, false), "sent");
  t.strictSame(wire.sent, [String(small)]);
  wire.sent.length = 0;
  t.equal(outbox.sendAnswer(Buffer.alloc(limits.answer_small_bytes_max + 1, 0x61), false), "sent");
  t.strictSame(wire.sent, ["first", "last"]);
  t.strictSame(
    wire.pieces.map(({ length }) => length),
    [limits.socket_fragment_bytes, 1],
  );
  t.end();
});

t.test(
  "[S3] [E3] the connection buffers at most the soft bound of a large response, and delivers all of it in order",
  (t) => {
    const { wire, outbox, unsent, timers } = opened();
    t.equal(outbox.sendAnswer(large, false), "sent");
    t.equal(outbox.send("after", false), "sent");
    t.equal(outbox.sendAnswer(large, true), "sent");
    t.ok(unsent.sum >= 2 * large.length, "both count");
    t.equal(timers.size, 1, "and are watched");
    while (outbox.isWaiting) {
      t.ok(wire.unread <= limits.socket_buffer_bytes_soft_max);
      wire.unread = 0;
      outbox.drained();
    }
    wire.unread = 0;
    outbox.drained();
    const order = wire.sent.filter((what) => what !== "next");
    t.strictSame(order, ["first", "last", "after", "first", "last"]);
    t.ok(Buffer.concat(wire.pieces).equals(Buffer.concat([large, large])));
    t.equal(unsent.sum, 0);
    t.equal(timers.size, 0);
    t.end();
  },
);

/** A message list: long enough for several fragments, with pieces of either type and characters of several bytes. */
const pieces = [
  '{"result":"success","messages":[',
  ...Array.from({ length: 40 }, (_, index) => {
    const piece = `${index === 0 ? "" : ","}"${index} ${"\u6f22".repeat(2000)}"`;
    return index % 3 === 0 ? piece : Buffer.from(piece);
  }),
  "]}",
];

for (const format of ["json", "msgpack"] as const) {
  t.test(`[S3] [realtime, Bounds] a large response in pieces arrives as one ${format} reply`, (t) => {
    const { wire, outbox, unsent } = opened();
    t.equal(outbox.sendAnswer(encodeAnswer(format, "seven", pieces), format === "msgpack"), "sent");
    wire.unread = 0;
    outbox.drained();
    t.ok(wire.pieces.length > 3);
    const sent = Buffer.concat(wire.pieces);
    const reply = format === "json" ? JSON.parse(sent.toString("utf8")) : unpackJson(sent);
    t.strictSame(reply, { type: "reply", ref: "seven", ...JSON.parse(pieces.join("")) });
    t.equal(unsent.sum, 0);
    t.end();
  });
}

t.test(
  "[S3] [E3] socket_buffer_bytes_soft_max: that many bytes may wait behind a large response; one byte more closes the socket",
  (t) => {
    const { outbox } = opened();
    outbox.sendAnswer(large, false);
    const half = Buffer.alloc(limits.socket_buffer_bytes_soft_max / 2, 0x62);
    t.equal(outbox.send(half, false), "sent");
    t.equal(outbox.send(half, false), "sent");
    t.equal(outbox.send("x", false), "slow");
    t.end();
  },
);

t.test("[S3] unsent_bytes_per_user_max: a large response that exceeds the user's budget is not sent", (t) => {
  const { outbox, unsent, wire } = opened();
  unsent.hold("ann", limits.unsent_bytes_per_user_max - large.length + 1, () => undefined);
  t.equal(outbox.sendAnswer(large, false), "full");
  t.strictSame(wire.sent, []);
  t.end();
});

t.test(
  "[S3] unsent_stall_ms_max: a client that reads nothing of a large response is closed, and its memory is released",
  (t) => {
    const { outbox, timers, stalls, unsent } = opened();
    outbox.sendAnswer(large, false);
    for (const ring of timers.values()) ring();
    t.equal(stalls(), 1);
    outbox.close();
    t.equal(unsent.sum, 0);
    t.end();
  },
);
