/**
 * One live event queue: who reads it, what it wants, how far it is. Its durable part is a row; what it delivers are
 * positions in the realm's log, so a restart forgets nothing but volatile events (realtime.md).
 */
import { limits } from "../../schemas/limits.ts";
import type { EventRecord, QueueRecord, UserRecord } from "../../schemas/records.ts";
import { type ExtraType, extraTypeFor } from "../domain/emoji/extra-type.ts";
import { type Narrowed, nothingNarrowed, readNarrow, termsOf } from "../domain/narrow.ts";
import type { View } from "../domain/view.ts";
import type { Mailing } from "./bundle.ts";
import type { EncodedEvent } from "./encoded-event.ts";

/** The parameters of POST /register that shape events. Plain data: it is stored. */
export interface QueueOptions {
  readonly applyMarkdown: boolean;
  readonly clientGravatar: boolean;
  readonly slimPresence: boolean;
  readonly allPublicStreams: boolean;
  readonly includeSubscribers: boolean;
  /** null: every type. */
  readonly eventTypes: readonly string[] | null;
  readonly narrow: readonly (readonly [string, string])[];
  /** Names of the capabilities that the client declared true (behaviour 4.3). */
  readonly capabilities: readonly string[];
}

/** Who takes events now. */
export type Reader =
  | { readonly kind: "none" }
  | {
      readonly kind: "poll";
      push(event: EncodedEvent): void;
      finish(): void;
      replace(): void;
      dismiss(): void;
      failed(): void;
    }
  | {
      readonly kind: "socket";
      push(event: EncodedEvent, mailing: Mailing): void;
      takenOver(): void;
      gone(): void;
      failed(): void;
    };

export const noReader: Reader = { kind: "none" };

/** Events that tell clients again, which do not take `user_settings` events, what changed (behaviour 4.3). */
const olderSettingsTypes: ReadonlySet<string> = new Set(["update_display_settings", "update_global_notifications"]);

/** What follows from the options of a queue. Equal options are one object (projections/queues.ts), and so is this. */
interface Shape {
  readonly variant: string;
  readonly capabilities: ReadonlySet<string>;
  readonly types: ReadonlySet<string> | null;
}

const shapes = new WeakMap<QueueOptions, Shape>();

function shapeOf(options: QueueOptions): Shape {
  const known = shapes.get(options);
  if (known !== undefined) return known;
  const capabilities = new Set(options.capabilities);
  const variant = [
    options.applyMarkdown,
    options.clientGravatar,
    capabilities.has("empty_topic_name"),
    capabilities.has("bulk_message_deletion"),
    capabilities.has("simplified_presence_events"),
    options.slimPresence,
  ]
    .map((flag) => (flag ? "1" : "0"))
    .join("");
  const types = options.eventTypes === null ? null : new Set(options.eventTypes);
  const shape = { variant, capabilities, types };
  shapes.set(options, shape);
  return shape;
}

export class LiveQueue {
  readonly record: QueueRecord;
  reader: Reader = noReader;
  /** When the last reader went away, on the monotonic clock: a wall clock that is set ends no queue. */
  unreadSince: number;
  /** Everything up to this position was given to the client, or was not for it. */
  deliveredUpTo: number;
  /** Position of the first durable event that waits in the log; null: none since `deliveredUpTo`. */
  firstPending: number | null = null;
  readonly #shape: Shape;
  readonly #narrowed: Narrowed | null;
  /** The highest `last_event_id` that a poll has sent. In memory only: after a restart the log decides what can be read again. */
  #acknowledgedUpTo = -1;
  /** The latest of each kind, in order of arrival; null: none, as nearly always. */
  #volatile: Map<string, EncodedEvent> | null = null;

  /**
   * @param position the realm's next position: what is older is in the log, if it was for this queue at all
   * @param now of the monotonic clock, in milliseconds
   */
  constructor(view: View, record: QueueRecord, user: UserRecord, position: number, now: number) {
    this.record = record;
    this.#shape = shapeOf(this.options);
    this.#narrowed = narrowOf(view, user, this.options);
    this.deliveredUpTo = position - 1;
    this.unreadSince = now;
  }

  get id(): string {
    return this.record.id;
  }

  get userId(): number {
    return this.record.userId;
  }

  get options(): QueueOptions {
    return this.record.options as unknown as QueueOptions;
  }

  /** Queues with equal options share encodings of messages. */
  get variant(): string {
    return this.#shape.variant;
  }

  /** What its client calls the extra emoji's type: of whoever registered it, whoever reads it (D22). */
  get extraEmojiType(): ExtraType {
    return extraTypeFor(this.record.client);
  }

  can(capability: string): boolean {
    return this.#shape.capabilities.has(capability);
  }

  wantsType(type: string): boolean {
    const { types } = this.#shape;
    return types === null || types.has(type);
  }

  /** Whether the client wants events of this kind at all; who may see them is decided elsewhere. */
  wants(view: View, record: EventRecord): boolean {
    if (!this.wantsType(record.type)) return false;
    if (record.type === "typing" && record.body["message_type"] === "stream") {
      return this.can("stream_typing_notifications") || this.reader.kind === "socket";
    }
    // Who asked for both knows the newer one (behaviour 4.3).
    if (record.type === "muted_topics") return this.#shape.types?.has("user_topic") !== true;
    const { archives } = record.audience;
    if (archives !== undefined && (archives === "shown") !== this.can("archived_channels")) return false;
    if (olderSettingsTypes.has(record.type)) return !this.can("user_settings_object");
    if (record.type !== "message" || this.#narrowed === null) return true;
    const message = view.row("messages", record.body["message_id"] as number);
    const conversation = message === undefined ? undefined : view.row("conversations", message.conversationId);
    return message !== undefined && conversation !== undefined && this.#narrowed.matches({ message, conversation });
  }

  /** The client has the state of this position: what came until now is part of it. */
  startAt(position: number): void {
    this.deliveredUpTo = position;
    this.firstPending = null;
    this.#volatile = null;
  }

  /**
   * A poll acknowledges everything up to its position. Events at 1, 2, 3; the client acknowledged 2: it may ask from 2 again, because
   * an answer can get lost, but not from 1 (behaviour 4.2).
   * @returns false when a later position was acknowledged already
   */
  acknowledge(position: number): boolean {
    if (position < this.#acknowledgedUpTo) return false;
    this.#acknowledgedUpTo = position;
    return true;
  }

  /** Keeps a volatile event for the next reader: latest wins, bounded (E4). */
  keepVolatile(key: string, event: EncodedEvent): void {
    this.#volatile ??= new Map();
    this.#volatile.delete(key);
    this.#volatile.set(key, event);
    const [oldest] = this.#volatile.keys();
    if (this.#volatile.size > limits.queue_volatile_events_max) this.#volatile.delete(oldest ?? "");
  }

  /** What was kept after a position; forgets it and everything older. */
  takeVolatile(after: number): EncodedEvent[] {
    const kept = this.#volatile === null ? [] : [...this.#volatile.values()];
    this.#volatile = null;
    return kept.filter(({ record }) => record.position > after);
  }

  get hasVolatile(): boolean {
    return this.#volatile !== null && this.#volatile.size > 0;
  }
}

/** A narrow that cannot be understood any more (a channel was removed) matches nothing. */
function narrowOf(view: View, user: UserRecord, options: QueueOptions): Narrowed | null {
  if (options.narrow.length === 0) return null;
  const read = readNarrow(view, user, termsOf(options.narrow));
  return "kind" in read ? nothingNarrowed : read;
}
