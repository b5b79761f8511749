/**
 * What a socket gets in one go. A write costs a socket more than all else that is done for it, so the events of a turn
 * are collected and go out as one frame; sockets that get the same events in the same format share its bytes. A bundle is
 * a step in a tree of such sequences: whoever takes the same next step arrives at the same bundle.
 */
import { Packr } from "msgpackr";
import { limits } from "../../schemas/limits.ts";
import type { Encoding } from "./encoded-event.ts";
import type { Format } from "./socket-frames.ts";

const packr = new Packr({ useRecords: false, variableMapSize: true });

/** An object up to the place of its last value, which is one byte when it is null or empty. */
function packedUpTo(value: object): Buffer {
  return packr.pack(value).subarray(0, -1);
}

const packedOne = Buffer.from(packedUpTo({ type: "event", event: null }));
const packedMany = Buffer.from(packedUpTo({ type: "events", events: [] }));
const comma = Buffer.from(",");

/** How the events of a frame become its bytes. */
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

/** MessagePack: how an array of a length begins. */
function arrayHead(length: number): Buffer {
  if (length < 16) return Buffer.from([0x90 | length]);
  const head = Buffer.from([0xdd, 0, 0, 0, 0]);
  head.writeUInt32BE(length, 1);
  return head;
}

/** Frames have a bound (S3), so that a reader who stops costs little more than what it may leave unread; a longer event goes alone. */
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

export class Bundle {
  readonly format: Format;
  /** Bytes of its events. */
  readonly size: number;
  readonly #before: Bundle | null;
  readonly #encoding: Encoding | null;
  #steps: Map<Encoding, Bundle> | null = null;
  #isAskedFor = false;
  #frames: readonly Buffer[] | null = null;

  private constructor(format: Format, before: Bundle | null, encoding: Encoding | null) {
    this.format = format;
    this.#before = before;
    this.#encoding = encoding;
    const added = encoding?.bytes(format).reduce((sum, event) => sum + event.length, 0) ?? 0;
    this.size = (before?.size ?? 0) + added;
  }

  static empty(format: Format): Bundle {
    return new Bundle(format, null, null);
  }

  /** The same with one event more. */
  and(encoding: Encoding): Bundle {
    const known = this.#steps?.get(encoding);
    if (known !== undefined) return known;
    const next = new Bundle(this.format, this, encoding);
    this.#steps ??= new Map();
    this.#steps.set(encoding, next);
    return next;
  }

  /** It makes a frame of its own by now: what comes later goes into the next. */
  get isFull(): boolean {
    return this.size >= limits.socket_events_frame_bytes_max;
  }

  /** In the order in which they go out. Kept from the second time on: what only one socket gets is not. */
  get frames(): readonly Buffer[] {
    if (this.#frames !== null) return this.#frames;
    const frames = cut(this.#events()).map(joins[this.format]);
    if (this.#isAskedFor) this.#frames = frames;
    this.#isAskedFor = true;
    return frames;
  }

  #events(): readonly Buffer[] {
    const encodings: Encoding[] = [];
    for (let step: Bundle | null = this; step !== null; step = step.#before) {
      if (step.#encoding !== null) encodings.push(step.#encoding);
    }
    return encodings.reverse().flatMap((encoding) => encoding.bytes(this.format));
  }
}

/** A reader that takes what a publication brings at its end. */
export interface Addressee {
  flush(): void;
}

/** One publication: where its bundles begin, and who has one. */
export class Mailing {
  readonly #starts: Readonly<Record<Format, Bundle>> = { json: Bundle.empty("json"), msgpack: Bundle.empty("msgpack") };
  readonly #addressees: Addressee[] = [];

  /** An empty bundle for somebody who has none yet. */
  begin(addressee: Addressee, format: Format): Bundle {
    this.#addressees.push(addressee);
    return this.#starts[format];
  }

  /** The next bundle of somebody who has sent a full one. */
  goOn(format: Format): Bundle {
    return this.#starts[format];
  }

  send(): void {
    for (const addressee of this.#addressees) addressee.flush();
  }
}
