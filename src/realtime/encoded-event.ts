/**
 * An event on its way out: encoded once for all queues that get the same bytes (architecture, Encoding), as JSON for
 * long-polls, as bytes in either format for the frames of sockets (bundle.ts). Lives only while it is being delivered.
 */
import { Packr } from "msgpackr";
import type { EventRecord, UserRecord } from "../../schemas/records.ts";
import type { View } from "../domain/view.ts";
import { eventKind } from "./event-bodies.ts";
import type { EventBody } from "./event-kind.ts";
import type { LiveQueue } from "./queue.ts";
import type { Format } from "./socket-frames.ts";

const packr = new Packr({ useRecords: false, variableMapSize: true });

/** The same event for everybody with one key. Encodings are made when they are first asked for. */
export class Encoding {
  readonly events: readonly EventBody[];
  readonly #position: number;
  readonly #first: number;
  #json: readonly string[] | null = null;
  readonly #bytes: { [F in Format]?: readonly Buffer[] } = {};

  /** The pieces of one record end at its position (effects.ts, `span`). */
  constructor(bodies: readonly EventBody[], position: number) {
    const first = position - bodies.length + 1;
    this.#position = position;
    this.#first = first;
    this.events = bodies.map((body, index) => ({ ...body, id: first + index }));
  }

  /** The pieces that come after a position: what a client has acknowledged is not sent again. null: none. */
  after(position: number): Encoding | null {
    if (position < this.#first) return this;
    const left = this.events.slice(position - this.#first + 1);
    return left.length === 0 ? null : new Encoding(left, this.#position);
  }

  /** One text per event. */
  get json(): readonly string[] {
    this.#json ??= this.events.map((event) => JSON.stringify(event));
    return this.#json;
  }

  /** One piece per event, for frames. */
  bytes(format: Format): readonly Buffer[] {
    this.#bytes[format] ??=
      format === "json" ? this.json.map((text) => Buffer.from(text)) : this.events.map((event) => packr.pack(event));
    return this.#bytes[format];
  }
}

export class EncodedEvent {
  readonly record: EventRecord;
  /** null: durable. */
  readonly replaces: string | null;
  readonly #view: View;
  readonly #encodings = new Map<string, Encoding | null>();

  constructor(view: View, record: EventRecord, replaces: string | null) {
    this.#view = view;
    this.record = record;
    this.replaces = replaces;
  }

  /** The same event under a newer position: a volatile one that was kept goes out after what came meanwhile (E1). */
  renumbered(position: number): EncodedEvent {
    return new EncodedEvent(this.#view, { ...this.record, position }, this.replaces);
  }

  /** null: this queue gets nothing of it. */
  for(user: UserRecord, queue: LiveQueue): Encoding | null {
    const kind = eventKind(this.record.type);
    const key = kind.key(this.#view, this.record, user, queue);
    if (key === null) return null;
    const known = this.#encodings.get(key);
    if (known !== undefined) return known;
    const bodies = kind.build(this.#view, this.record, user, queue);
    const encoding = bodies.length === 0 ? null : new Encoding(bodies, this.record.position);
    this.#encodings.set(key, encoding);
    return encoding;
  }
}
