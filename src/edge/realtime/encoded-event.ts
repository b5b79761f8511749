/**
 * An event that is being delivered, encoded once for all queues that get the same bytes: as JSON for long-polls, and as
 * bytes in either format for socket frames (frame-batch.ts). It lives only during delivery.
 */
import { Packr } from "msgpackr";
import type { View } from "../../../domain/view.ts";
import type { WireEvent } from "../../../schemas/events.ts";
import type { EventRecord } from "../../../schemas/runtime.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { RecipientQueue } from "./recipient-queue.ts";
import { buildEvents, eventKey } from "./redacted-events.ts";
import type { Format } from "./socket-frames.ts";

const packr = new Packr({ useRecords: false, variableMapSize: true });

type SentEvent = WireEvent & { readonly id: number };

/** The event for all queues with one key. Encodings are made on first use. */
export class Encoding {
  readonly events: readonly SentEvent[];
  readonly #position: number;
  readonly #first: number;
  #json: readonly string[] | null = null;
  readonly #bytes: { [F in Format]?: readonly Buffer[] } = {};

  /** An event's parts have consecutive ids that end at the record's position (effects.ts, `span`). */
  constructor(bodies: readonly WireEvent[], position: number) {
    const first = position - bodies.length + 1;
    this.#position = position;
    this.#first = first;
    this.events = bodies.map((body, index) => ({ ...body, id: first + index }));
  }

  /** The parts after a position, so that acknowledged parts are not sent again; null if there are none. */
  after(position: number): Encoding | null {
    if (position < this.#first) return this;
    const left = this.events.slice(position - this.#first + 1);
    return left.length === 0 ? null : new Encoding(left, this.#position);
  }

  /** One JSON text per event. */
  get json(): readonly string[] {
    this.#json ??= this.events.map((event) => JSON.stringify(event));
    return this.#json;
  }

  /** One buffer per event, for frames. */
  bytes(format: Format): readonly Buffer[] {
    this.#bytes[format] ??=
      format === "json" ? this.json.map((text) => Buffer.from(text)) : this.events.map((event) => packr.pack(event));
    return this.#bytes[format];
  }
}

export class EncodedEvent {
  readonly record: EventRecord;
  /** null for a durable event. */
  readonly replaces: string | null;
  readonly #view: View;
  readonly #encodings = new Map<string, Encoding | null>();

  constructor(view: View, record: EventRecord, replaces: string | null) {
    this.#view = view;
    this.record = record;
    this.replaces = replaces;
  }

  /**
   * The same event at a newer position: a volatile event that was kept is sent after events that arrived meanwhile
   * (E1).
   */
  renumbered(position: number): EncodedEvent {
    return new EncodedEvent(this.#view, { ...this.record, position }, this.replaces);
  }

  /** Returns null if this queue gets nothing of the event. */
  for(user: UserRecord, queue: RecipientQueue): Encoding | null {
    const key = eventKey(this.#view, this.record, user, queue);
    if (key === null) return null;
    const known = this.#encodings.get(key);
    if (known !== undefined) return known;
    const bodies = buildEvents(this.#view, this.record, user, queue);
    const encoding = bodies.length === 0 ? null : new Encoding(bodies, this.record.position);
    this.#encodings.set(key, encoding);
    return encoding;
  }
}
