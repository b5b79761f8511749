/**
 * Batches the events that a socket gets at once, because a write is the most expensive thing done for a socket. Sockets
 * that get the same events in the same format share the frame's bytes: batches form a tree of event sequences, and
 * sockets that add the same next event reach the same batch.
 */
import { Packr } from "msgpackr";
import { limits } from "../../../schemas/limits.ts";
import type { DurabilityGate } from "../../durability/journal/durability-gate.ts";
import type { Encoding } from "./encoded-event.ts";
import type { Format } from "./socket-frames.ts";

const packr = new Packr({ useRecords: false, variableMapSize: true });

/** The encoding of an object without its last value, which must take one byte when it is null or empty. */
function packedUpTo(value: object): Buffer {
  return packr.pack(value).subarray(0, -1);
}

const packedOne = Buffer.from(packedUpTo({ type: "event", event: null }));
const packedMany = Buffer.from(packedUpTo({ type: "events", events: [] }));
const comma = Buffer.from(",");

/** Joins the events of a frame into its bytes. */
const joins: Readonly<Record<Format, (events: readonly Buffer[]) => Buffer>> = {
  json(events) {
    const [one] = events;
    if (one !== undefined && events.length === 1) {
      return Buffer.concat([Buffer.from('{"type":"event","event":'), one, Buffer.from("}")]);
    }
    const parted = events.flatMap((event, index) => (index === 0 ? [event] : [comma, event]));
    return Buffer.concat([Buffer.from('{"type":"events","events":['), ...parted, Buffer.from("]}")]);
  },
  msgpack: (events) =>
    Buffer.concat(events.length === 1 ? [packedOne, ...events] : [packedMany, arrayHead(events.length), ...events]),
};

/** The head of a MessagePack array of this length. */
function arrayHead(length: number): Buffer {
  if (length < 16) return Buffer.from([0x90 | length]);
  const head = Buffer.from([0xdd, 0, 0, 0, 0]);
  head.writeUInt32BE(length, 1);
  return head;
}

/**
 * Splits events into frames of bounded size (S3), so that a reader that stops costs little more than its allowed
 * backlog. A longer event is sent alone.
 */
function cut(events: readonly Buffer[]): Buffer[][] {
  const frames: Buffer[][] = [];
  let room = 0;
  for (const event of events) {
    room -= event.length;
    const frame = frames.at(-1);
    if (frame !== undefined && room >= 0) frame.push(event);
    else {
      frames.push([event]);
      room = limits.socket_events_frame_bytes_max - event.length;
    }
  }
  return frames;
}

export class FrameBatch {
  readonly format: Format;
  /** Total size of its events in bytes. */
  readonly size: number;
  readonly #before: FrameBatch | null;
  readonly #encoding: Encoding | null;
  #steps: Map<Encoding, FrameBatch> | null = null;
  #last: FrameBatch | null = null;
  #isRequested = false;
  #frames: readonly Buffer[] | null = null;

  private constructor(format: Format, before: FrameBatch | null, encoding: Encoding | null) {
    this.format = format;
    this.#before = before;
    this.#encoding = encoding;
    const added = encoding?.bytes(format).reduce((sum, event) => sum + event.length, 0) ?? 0;
    this.size = (before?.size ?? 0) + added;
  }

  static empty(format: Format): FrameBatch {
    return new FrameBatch(format, null, null);
  }

  /** The batch with one more event. */
  and(encoding: Encoding): FrameBatch {
    // Nearly all readers get what the reader before them got.
    if (this.#last !== null && this.#last.#encoding === encoding) return this.#last;
    const next = this.#steps?.get(encoding) ?? new FrameBatch(this.format, this, encoding);
    this.#steps ??= new Map();
    this.#steps.set(encoding, next);
    this.#last = next;
    return next;
  }

  /** The batch already fills a frame. */
  get isFull(): boolean {
    return this.size >= limits.socket_events_frame_bytes_max;
  }

  /**
   * Frames in sending order. They are cached from the second request on, so that frames of a single socket are not
   * kept.
   */
  get frames(): readonly Buffer[] {
    if (this.#frames !== null) return this.#frames;
    const frames = cut(this.#events()).map(joins[this.format]);
    if (this.#isRequested) this.#frames = frames;
    this.#isRequested = true;
    return frames;
  }

  #events(): readonly Buffer[] {
    const encodings: Encoding[] = [];
    for (let step: FrameBatch | null = this; step !== null; step = step.#before) {
      if (step.#encoding !== null) encodings.push(step.#encoding);
    }
    return encodings.reverse().flatMap((encoding) => encoding.bytes(this.format));
  }
}

/** A reader that gets what a publication brought when the publication ends. */
export interface Addressee {
  readonly outlet: Outlet;
  /** @returns null: nothing */
  take(): FrameBatch | null;
}

interface Outlet {
  /** Sends what a reader took, which has passed the gate. */
  sendPassed(frameBatch: FrameBatch): void;
}

/** One publication: the empty batches it starts from, and the readers that have one. */
export class PublishBatch {
  readonly #starts: Readonly<Record<Format, FrameBatch>> = {
    json: FrameBatch.empty("json"),
    msgpack: FrameBatch.empty("msgpack"),
  };
  readonly #addressees: Addressee[] = [];

  /** An empty batch for a reader that has none yet. */
  begin(addressee: Addressee, format: Format): FrameBatch {
    this.#addressees.push(addressee);
    return this.#starts[format];
  }

  /**
   * The publication is over. Its frames are sent in chunks when it is durable (M1): if each socket waited at the gate,
   * that would cost as much as writing to it.
   */
  end(gate: Pick<DurabilityGate, "waitFor">, reportBug: (error: unknown) => void): void {
    const outlets: Outlet[] = [];
    const taken: FrameBatch[] = [];
    const distinct = new Set<FrameBatch>();
    for (const to of this.#addressees) {
      const frameBatch = to.take();
      if (frameBatch === null || frameBatch.size === 0) continue;
      if (frameBatch !== taken.at(-1)) distinct.add(frameBatch);
      outlets.push(to.outlet);
      taken.push(frameBatch);
    }
    // Counted until the last piece has left.
    const bytes = [...distinct].reduce((sum, { size }) => sum + size, 0);
    const parcels = { outlets, taken };
    for (let from = 0; from < outlets.length; from += limits.gate_piece_sockets) {
      const to = Math.min(from + limits.gate_piece_sockets, outlets.length);
      gate.waitFor(() => sendAll(parcels, from, to, reportBug), undefined, to < outlets.length ? 0 : bytes);
    }
  }
}

/** Outlets, and the batch of each. */
interface Parcels {
  readonly outlets: readonly Outlet[];
  readonly taken: readonly FrameBatch[];
}

function sendAll({ outlets, taken }: Parcels, from: number, to: number, reportBug: (error: unknown) => void): void {
  for (let index = from; index < to; index++) {
    try {
      outlets[index]?.sendPassed(taken[index] as FrameBatch);
    } catch (error) {
      reportBug(error);
    }
  }
}
