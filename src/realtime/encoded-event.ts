/**
 * An event on its way out: encoded once for all queues that get the same bytes (architecture, Encoding), as JSON for
 * long-polls, as a ready frame for sockets in either format. Lives only while it is being delivered.
 */
import { Packr } from "msgpackr";
import type { EventRecord, UserRecord } from "../../schemas/records.ts";
import type { View } from "../domain/view.ts";
import { eventKind } from "./event-bodies.ts";
import type { EventBody } from "./event-kind.ts";
import type { LiveQueue } from "./queue.ts";

const packr = new Packr({ useRecords: false, variableMapSize: true });

/** The same event for everybody with one key. Encodings are made when they are first asked for. */
export class Encoding {
  readonly events: readonly EventBody[];
  readonly #position: number;
  #json: readonly string[] | null = null;
  #jsonFrame: Buffer | null = null;
  #packedFrame: Buffer | null = null;

  /** The pieces of one record end at its position (effects.ts, `span`). */
  constructor(bodies: readonly EventBody[], position: number) {
    this.#position = position;
    const first = position - bodies.length + 1;
    this.events = bodies.map((body, index) => ({ ...body, id: first + index }));
  }

  /** The pieces that come after a position: what a client has acknowledged is not sent again. */
  after(position: number): Encoding {
    const left = this.events.filter((event) => (event["id"] as number) > position);
    return left.length === this.events.length ? this : new Encoding(left, this.#position);
  }

  /** One text per event. */
  get json(): readonly string[] {
    this.#json ??= this.events.map((event) => JSON.stringify(event));
    return this.#json;
  }

  get jsonFrame(): Buffer {
    this.#jsonFrame ??= Buffer.from(
      this.json.length === 1
        ? `{"type":"event","event":${this.json[0]}}`
        : `{"type":"events","events":[${this.json.join(",")}]}`,
    );
    return this.#jsonFrame;
  }

  get packedFrame(): Buffer {
    this.#packedFrame ??= packr.pack(
      this.events.length === 1 ? { type: "event", event: this.events[0] } : { type: "events", events: this.events },
    );
    return this.#packedFrame;
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
