/**
 * Large responses on a socket (S3, E3; realtime.md, Bounds): sent in fragments, in order, and paused while the client
 * does not read.
 */
import t from "tap";
import { newValueBudget } from "../../schemas/json.ts";
import { limits } from "../../schemas/limits.ts";
import { GatedConnection } from "../../src/edge/realtime/gated-connection.ts";
import { unpackJson } from "../../src/edge/realtime/packed-json.ts";
import { type BufferedConnection, SendBuffer } from "../../src/edge/realtime/send-buffer.ts";
import { encodeAnswer } from "../../src/edge/realtime/socket-frames.ts";
import { openManualGate } from "../support/manual-gate.ts";
import { wireMemory } from "../support/wire-memory.ts";

const buffered = 0;

/** A connection whose client accepts as many bytes as the test says. */
class Wire implements BufferedConnection {
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

  // The gate is open.
  readonly shown = 0;
  readonly isOpenFor = () => true;

  wait(_position: number, goOn: () => void): void {
    goOn();
  }

  beginPassed(): void {}
  endPassed(): void {}
}

function opened(through: (wire: Wire) => BufferedConnection = (wire) => wire) {
  const wire = new Wire();
  const { unsent } = wireMemory(() => 0);
  const timers = new Map<string, () => void>();
  let stalls = 0;
  const sendBuffer = new SendBuffer(through(wire), {
    unsent,
    sender: "ann",
    stalled: () => {
      stalls++;
    },
    volatileTimers: {
      set: (name, _ms, callback) => void timers.set(name, callback),
      cancel: (name) => void timers.delete(name),
    },
  });
  return { wire, unsent, outbox: sendBuffer, timers, stalls: () => stalls };
}

const large = Buffer.alloc(3 * limits.socket_buffer_bytes_soft_max + 1, 0x61);

t.test("[S3] answer_small_bytes_max: a response of that size is sent whole, a larger one in fragments", async (t) => {
  const { wire, outbox: sendBuffer } = opened();
  const small = Buffer.alloc(limits.answer_small_bytes_max, 0x61);
  t.equal(sendBuffer.sendAnswer(small, false), "sent");
  t.strictSame(wire.sent, [String(small)]);
  wire.sent.length = 0;
  t.equal(sendBuffer.sendAnswer(Buffer.alloc(limits.answer_small_bytes_max + 1, 0x61), false), "sent");
  t.strictSame(wire.sent, ["first", "last"]);
  const lengths = wire.pieces.map(({ length }) => length);
  t.strictSame(lengths, [limits.socket_fragment_bytes, 1]);
});

t.test(
  "[S3, E3] the connection buffers at most the soft bound of a large response, and sends all in order",
  async (t) => {
    const { wire, outbox: sendBuffer, unsent, timers } = opened();
    t.equal(sendBuffer.sendAnswer(large, false), "sent");
    t.equal(sendBuffer.send("after", false), "sent");
    t.equal(sendBuffer.sendAnswer(large, true), "sent");
    t.ok(unsent.sum >= 2 * large.length, "both count");
    t.equal(timers.size, 1, "and are watched");
    while (sendBuffer.isWaiting) {
      t.ok(wire.unread <= limits.socket_buffer_bytes_soft_max);
      wire.unread = 0;
      sendBuffer.drained();
    }
    wire.unread = 0;
    sendBuffer.drained();
    const order = wire.sent.filter((what) => what !== "next");
    t.strictSame(order, ["first", "last", "after", "first", "last"]);
    t.ok(Buffer.concat(wire.pieces).equals(Buffer.concat([large, large])));
    t.equal(unsent.sum, 0);
    t.equal(timers.size, 0);
  },
);

/** An outbox whose connection waits at a gate, as that of a session does. */
function openedAtGate() {
  const { journal, gate, write } = openManualGate();
  const gated: GatedConnection[] = [];
  const { wire, outbox: sendBuffer } = opened((inner) => {
    gated.push(new GatedConnection(inner, gate, { drained: () => {}, dropped: () => {} }));
    return gated[0] as GatedConnection;
  });
  /** Sends an event of the last turn when that is durable, as a publication does. */
  const publish = (event: string) =>
    gate.waitFor(() => {
      gated[0]?.beginPassed();
      sendBuffer.send(Buffer.from(event), false);
      gated[0]?.endPassed();
    });
  return { journal, wire, outbox: sendBuffer, write, publish };
}

t.test("[M1] a large response waits for what it shows; then nothing comes between its fragments", async (t) => {
  const { journal, wire, outbox: sendBuffer, write, publish } = openedAtGate();
  write();
  sendBuffer.sendAnswer(large, false);
  sendBuffer.send("answer behind it", false);
  publish("event of its turn");
  t.strictSame(wire.sent, [], "nothing is durable");
  journal.flush();
  t.equal(wire.sent[0], "first");
  write();
  publish("event of the next turn");
  for (let reads = 0; reads < 100 && sendBuffer.isWaiting; reads++) {
    wire.unread = 0;
    sendBuffer.drained();
    if (reads === 1) journal.flush();
  }
  const order = wire.sent.filter((what) => what !== "next");
  t.strictSame(order, ["first", "last", "answer behind it", "event of its turn", "event of the next turn"]);
  t.ok(Buffer.concat(wire.pieces).equals(large));
});

t.test("[M1] an answer behind a large one waits for what it shows, and what comes after waits behind it", async (t) => {
  const { journal, wire, outbox: sendBuffer, write, publish } = openedAtGate();
  sendBuffer.sendAnswer(large, false);
  write();
  sendBuffer.send("shows a turn", false);
  publish("event of that turn");
  const read = () => {
    wire.unread = 0;
    sendBuffer.drained();
  };
  for (let reads = 0; reads < 100; reads++) read();
  const found = wire.sent.filter((what) => what !== "next");
  t.strictSame(found, ["first", "last"]);
  t.ok(sendBuffer.isWaiting);
  journal.flush();
  read();
  const order = wire.sent.filter((what) => what !== "next");
  t.strictSame(order, ["first", "last", "shows a turn", "event of that turn"]);
  t.notOk(sendBuffer.isWaiting);
});

/** A message list: long enough for several fragments, with pieces of either type and characters of several bytes. */
const pieces = [
  '"messages":[',
  ...Array.from({ length: 40 }, (_, index) => {
    const piece = `${index === 0 ? "" : ","}"${index} ${"\u6f22".repeat(2000)}"`;
    return index % 3 === 0 ? piece : Buffer.from(piece);
  }),
  "]",
];

for (const format of ["json", "msgpack"] as const) {
  t.test(`[S3] a large response in pieces arrives as one ${format} reply`, async (t) => {
    const { wire, outbox: sendBuffer, unsent } = opened();
    t.equal(
      sendBuffer.sendAnswer(
        encodeAnswer(format, "seven", { kind: "encoded", fields: pieces }, []),
        format === "msgpack",
      ),
      "sent",
    );
    wire.unread = 0;
    sendBuffer.drained();
    t.ok(wire.pieces.length > 3);
    const sent = Buffer.concat(wire.pieces);
    const reply = format === "json" ? JSON.parse(sent.toString("utf8")) : unpackJson(sent, newValueBudget());
    t.strictSame(reply, {
      type: "reply",
      ref: "seven",
      result: "success",
      msg: "",
      ...JSON.parse(`{${pieces.join("")}}`),
    });
    t.equal(unsent.sum, 0);
  });
}

t.test(
  "[S3, E3] socket_buffer_bytes_soft_max: that many bytes may wait behind a large response; one byte more closes the socket",
  async (t) => {
    const { outbox: sendBuffer } = opened();
    sendBuffer.sendAnswer(large, false);
    const half = Buffer.alloc(limits.socket_buffer_bytes_soft_max / 2, 0x62);
    t.equal(sendBuffer.send(half, false), "sent");
    t.equal(sendBuffer.send(half, false), "sent");
    t.equal(sendBuffer.send("x", false), "slow");
  },
);

t.test("[S3] unsent_bytes_per_user_max: a large response that exceeds the user's budget is not sent", async (t) => {
  const { outbox: sendBuffer, unsent, wire } = opened();
  unsent.reserve("ann", limits.unsent_bytes_per_user_max - large.length + 1, () => undefined);
  t.equal(sendBuffer.sendAnswer(large, false), "full");
  t.strictSame(wire.sent, []);
});

t.test(
  "[S3] unsent_stall_ms_max: a client that reads nothing of a large response is closed, its memory released",
  async (t) => {
    const { outbox: sendBuffer, timers, stalls, unsent } = opened();
    sendBuffer.sendAnswer(large, false);
    for (const ring of timers.values()) ring();
    t.equal(stalls(), 1);
    sendBuffer.close();
    t.equal(unsent.sum, 0);
  },
);
