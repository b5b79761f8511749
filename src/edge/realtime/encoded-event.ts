/**
 * An event that is being delivered, encoded once for all queues that get the same bytes: as JSON for long-polls, and
 * as bytes in either format for socket frames (frame-batch.ts). It lives only during delivery.
 *
 * Redacts events for restricted guests: names and addresses of users that they may not know are replaced (S1). All
 * other users still share encodings. A guest's message event is shared with guests to whom the same users are unknown.
 */
import { Packr } from "msgpackr";
import { canAccessAllUsers } from "../../../domain/permissions.ts";
import { redactor, renderedMentions } from "../../../domain/redaction.ts";
import { merged, type Plan, planFor } from "../../../domain/redaction-plan.ts";
import type { View } from "../../../domain/view.ts";
import { type WireEvent, wireSchemas } from "../../../schemas/events.ts";
import { hasTrait } from "../../../schemas/message-traits.ts";
import type { EventRecord } from "../../../schemas/runtime.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { eventKind } from "./event-bodies.ts";
import type { ClassedQueue, RecipientQueue } from "./recipient-queue.ts";
import type { Format } from "./socket-frames.ts";

/** By type and op; null: the event shows no person. */
const plans = new Map(
  Object.entries(wireSchemas).flatMap(([type, schemas]) =>
    Object.entries(schemas).map(([op, forms]) => [`${type} ${op}`, merged(forms.map(planFor))] as const),
  ),
);

function planOf(event: WireEvent): Plan | null {
  const plan = plans.get(`${event.type} ${"op" in event ? event.op : ""}`);
  // An event that is in no catalogue is not sent unredacted.
  if (plan === undefined) throw new Error(`${event.type}: no such event is declared`);
  return plan;
}

/** The key of EventKind, for a viewer who may be a restricted guest. */
function eventKey(view: View, record: EventRecord, viewer: UserRecord, queue: RecipientQueue): string | null {
  const key = eventKind(record.type).key(view, record, viewer, queue);
  if (key === null || canAccessAllUsers(view, viewer)) return key;
  return `${key}?${sharedWith(view, record, viewer, queue)}`;
}

function buildEvents(view: View, record: EventRecord, viewer: UserRecord, queue: RecipientQueue): readonly WireEvent[] {
  const events = eventKind(record.type).build(view, record, viewer, queue);
  const hidden = redactor(view, viewer);
  return hidden === null ? events : events.map((event) => hidden.follow(event, planOf(event)));
}

/** Guests with the same key get the same bytes. Most kinds are rare or small, so the key is the guest's own. */
function sharedWith(view: View, record: EventRecord, viewer: UserRecord, queue: RecipientQueue): string {
  const row = record.type === "message" ? view.row("messages", record.body.message_id) : undefined;
  const isDirect = row === undefined || view.row("conversations", row.conversationId)?.channelId === null;
  if (row === undefined || isDirect || !queue.options.applyMarkdown) return `guest ${viewer.id}`;
  // Options of a poll may mention more users than its message.
  if (hasTrait(row.traits, "hasSubmessages")) return `guest ${viewer.id}`;
  const hidden = redactor(view, viewer);
  const people = new Set([row.senderId, ...renderedMentions(row.rendered)]);
  return [...people].filter((id) => hidden?.isHidden(id)).join(",");
}

const packr = new Packr({ useRecords: false, variableMapSize: true });

type SentEvent = WireEvent & { readonly id: number };

/** The event for all queues with one key. Encodings are made on first use. */
export class Encoding {
  readonly events: readonly SentEvent[];
  readonly #position: number;
  readonly #first: number;
  #json: readonly string[] | null = null;
  readonly #bytes: { [F in Format]?: readonly Buffer[] } = {};

  /** An event's parts have consecutive ids that end at the record's position (`EmitEffect.span`). */
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
  /** The queue that a message was sent from: its client gets back the id that it gave the message. */
  readonly #origin: string | undefined;
  /** The last decision: the queues of a class come one after the other. */
  #class: RecipientQueue | null = null;
  #ofClass: Encoding | null = null;

  constructor(view: View, record: EventRecord, replaces: string | null) {
    this.#view = view;
    this.record = record;
    this.replaces = replaces;
    this.#origin = record.type === "message" ? record.body.queue_id : undefined;
  }

  /**
   * The same event at a newer position: a volatile event that was kept is sent after events that arrived meanwhile
   * (E1).
   */
  renumbered(position: number): EncodedEvent {
    return new EncodedEvent(this.#view, { ...this.record, position }, this.replaces);
  }

  /** Returns null if this queue gets nothing of the event. */
  for(queue: ClassedQueue): Encoding | null {
    const { readerClass } = queue;
    if (this.#origin !== undefined && queue.id === this.#origin) return this.#decide(queue);
    if (readerClass !== this.#class) {
      this.#class = null;
      this.#ofClass = this.#decide(readerClass);
      this.#class = readerClass;
    }
    return this.#ofClass;
  }

  #decide(queue: RecipientQueue): Encoding | null {
    const user = this.#view.users.get(queue.userId);
    const key = user === undefined ? null : eventKey(this.#view, this.record, user, queue);
    if (user === undefined || key === null) return null;
    const known = this.#encodings.get(key);
    if (known !== undefined) return known;
    const bodies = buildEvents(this.#view, this.record, user, queue);
    const encoding = bodies.length === 0 ? null : new Encoding(bodies, this.record.position);
    this.#encodings.set(key, encoding);
    return encoding;
  }
}
