/** Large answers on a socket (S3, E3; realtime.md, Bounds): in fragments, in order, held back while the client does not read. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { Outbox } from "../../src/realtime/outbox.ts";
import type { Connection } from "../../src/realtime/socket-host.ts";
import { wireMemory } from "../support/wire-memory.ts";

const buffered = 0;

/** A connection of which a client takes what the test says. */
class Wire implements Connection {
  unread = 0;
  /** "first", "next" and "last" for fragments, texts as they are. */
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
    wheel: {
      set: (name, _ms, callback) => void timers.set(name, callback),
      cancel: (name) => void timers.delete(name),
    },
  });
  return { wire, unsent, outbox, timers, stalls: () => stalls };
}

const large = Buffer.alloc(3 * limits.socket_buffer_bytes_soft_max + 1, 0x61);

t.test("[S3] answer_small_bytes_max: an answer of that size goes whole, a larger one in fragments", (t) => {
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
  "[S3] [E3] the connection never buffers more than the soft bound of a large answer, and all of it comes, in order",
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

t.test(
  "[S3] [E3] socket_buffer_bytes_soft_max: so much waits behind a large answer, a byte more ends the reader",
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

t.test("[S3] unsent_bytes_per_person_max: a large answer for which there is no room is not sent", (t) => {
  const { outbox, unsent, wire } = opened();
  unsent.hold("ann", limits.unsent_bytes_per_person_max - large.length + 1, () => undefined);
  t.equal(outbox.sendAnswer(large, false), "full");
  t.strictSame(wire.sent, []);
  t.end();
});

t.test(
  "[S3] unsent_stall_ms_max: a client that takes nothing of a large answer is given up; what it held is free",
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
