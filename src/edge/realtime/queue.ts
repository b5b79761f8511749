/**
 * One live event queue: its reader and its cursor, and the class of queues with which it shares its filter. Its durable part is a row, and it delivers positions of
 * the realm's log, so a restart loses only volatile events (docs/realtime.md).
 */

import { type ExtraType, extraTypeFor } from "../../../domain/emoji/extra-type.ts";
import { type Narrowed, nothingNarrowed, readNarrow, termsOf } from "../../../domain/narrow/narrow.ts";
import type { View } from "../../../domain/view.ts";
import { isRefusal } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { ClientCapability, QueueOptions, QueueRecord } from "../../../schemas/queues.ts";
import type { EventRecord } from "../../../schemas/runtime.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { type LifeCycle, step } from "../../runtime/life-cycle.ts";
import type { EncodedEvent } from "./encoded-event.ts";
import type { PublishBatch } from "./frame-batch.ts";
import type { ClassedQueue, RecipientQueue } from "./recipient-queue.ts";

/** A long poll or a socket that reads a queue. While it is attached it is the queue's state. */
interface QueueReader {
  push(event: EncodedEvent, batch: PublishBatch): void;
  /** Another reader has taken the queue. */
  takenOver(): void;
  /** The queue was removed: its owner was deactivated, or the queue was deleted. */
  gone(): void;
  /** An event could not be built: report the gap (E2). */
  failed(): void;
}

export interface PollReader extends QueueReader {
  readonly kind: "poll";
  /** The publication is over. */
  finish(): void;
  /** The server stops. */
  dismiss(): void;
}

export interface FollowingReader extends QueueReader {
  readonly kind: "socket";
}

type QueueState = { readonly kind: "unread" } | PollReader | FollowingReader | { readonly kind: "closed" };

/** A queue that is unread for longer than its lifespan is removed. It closes after the flush that removes its row (M1). */
export const queueLife = {
  unread: { attachPoll: "poll", attachSocket: "socket", remove: "closed" },
  poll: { release: "unread", attachPoll: "poll", attachSocket: "socket", remove: "closed" },
  socket: { release: "unread", attachPoll: "poll", attachSocket: "socket", remove: "closed" },
  closed: {},
} as const satisfies LifeCycle;

const unread = { kind: "unread" } as const;
const closed = { kind: "closed" } as const;

/** Legacy event types that repeat settings changes for clients without `user_settings` events (behaviour 4.3). */
const olderSettingsTypes: ReadonlySet<string> = new Set(["update_display_settings", "update_global_notifications"]);

/** Derived from the options of a queue. Equal options are one object (projections/queues.ts), and so is their shape. */
interface Shape {
  readonly variant: string;
  readonly capabilities: ReadonlySet<ClientCapability>;
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

/**
 * The queues of one person that were registered alike. Whether and in which form an event concerns them is decided
 * once for all of them, and they get the same bytes.
 */
export class ReaderClass implements RecipientQueue {
  readonly id = null;
  readonly userId: number;
  readonly options: QueueOptions;
  /** It depends on the client that registered a queue, whichever client reads it (D22). */
  readonly extraEmojiType: ExtraType;
  readonly #shape: Shape;
  readonly #narrowed: Narrowed | null;
  /** Never changed but replaced, so that a staged event keeps the queues that it was addressed to. */
  #queues: readonly LiveQueue[] = [];

  constructor(view: View, record: QueueRecord, user: UserRecord) {
    this.userId = record.userId;
    this.options = record.options;
    this.extraEmojiType = extraTypeFor(record.client);
    this.#shape = shapeOf(record.options);
    this.#narrowed = narrowOf(view, user, record.options);
  }

  /** A narrow has the meaning that it had when its queue was opened, so queues with one share nothing. */
  isFor({ options, client }: QueueRecord): boolean {
    return options === this.options && options.narrow.length === 0 && extraTypeFor(client) === this.extraEmojiType;
  }

  get queues(): readonly LiveQueue[] {
    return this.#queues;
  }

  add(queue: LiveQueue): void {
    this.#queues = [...this.#queues, queue];
  }

  remove(queue: LiveQueue): void {
    this.#queues = this.#queues.filter((other) => other !== queue);
  }

  get variant(): string {
    return this.#shape.variant;
  }

  can(capability: ClientCapability): boolean {
    return this.#shape.capabilities.has(capability);
  }

  wantsType(type: string): boolean {
    const { types } = this.#shape;
    return types === null || types.has(type);
  }

  /** Whether the clients want events of this kind at all; permissions are checked elsewhere. */
  wants(view: View, record: EventRecord): boolean {
    if (!this.wantsType(record.type)) return false;
    // A client that asked for both event types gets only the newer one (behaviour 4.3).
    if (record.type === "muted_topics") return this.#shape.types?.has("user_topic") !== true;
    const { archives } = record.audience;
    if (archives !== undefined && (archives === "shown") !== this.can("archived_channels")) return false;
    if (olderSettingsTypes.has(record.type)) return !this.can("user_settings_object");
    if (record.type !== "message" || this.#narrowed === null) return true;
    const message = view.row("messages", record.body.message_id);
    const conversation = message === undefined ? undefined : view.row("conversations", message.conversationId);
    return message !== undefined && conversation !== undefined && this.#narrowed.matches({ message, conversation });
  }

  /** The queues that want such an event. */
  queuesWanting(view: View, record: EventRecord): readonly LiveQueue[] {
    if (!this.wants(view, record)) return [];
    return isForSocketsOnly(record, this) ? this.#queues.filter(({ state }) => state.kind === "socket") : this.#queues;
  }
}

export class LiveQueue implements ClassedQueue {
  readonly record: QueueRecord;
  readonly readerClass: ReaderClass;
  #state: QueueState = unread;
  /** When the queue last became unread, on the monotonic clock, so that setting the wall clock expires no queue. */
  unreadSince: number;
  /** Everything up to this position was delivered to the client or did not concern it. */
  deliveredUpTo: number;
  /** Position of the first durable event that waits in the log; null if there is none after `deliveredUpTo`. */
  firstPending: number | null = null;
  /**
   * The highest `last_event_id` of a poll. It is only in memory: after a restart the log decides what can be read
   * again.
   */
  #acknowledgedUpTo = -1;
  /** The latest event of each kind, in order of arrival; null if there is none, which is usual. */
  #volatile: Map<string, EncodedEvent> | null = null;

  /**
   * @param position the realm's next position: older events for this queue are in the log
   * @param now milliseconds of the monotonic clock
   */
  constructor(record: QueueRecord, readerClass: ReaderClass, position: number, now: number) {
    this.record = record;
    this.readerClass = readerClass;
    this.deliveredUpTo = position - 1;
    this.unreadSince = now;
  }

  get state(): QueueState {
    return this.#state;
  }

  /** The former reader, if there is one, is notified after the new one is in place. */
  attach(reader: PollReader | FollowingReader): void {
    const former = this.#state;
    if (former.kind === "closed") {
      reader.gone();
      return;
    }
    this.#state =
      reader.kind === "poll"
        ? step(queueLife, former, "attachPoll", reader)
        : step(queueLife, former, "attachSocket", reader);
    if (former.kind !== "unread") former.takenOver();
  }

  /**
   * The reader leaves, and the queue waits for the next one. Nothing changes if the queue has another reader.
   * @param clock `now` is in milliseconds of the monotonic clock
   */
  release(reader: PollReader | FollowingReader, clock: { readonly now: number }): void {
    if (this.#state !== reader) return;
    this.#state = step(queueLife, reader, "release", unread);
    this.unreadSince = clock.now;
  }

  close(): void {
    const former = this.#state;
    if (former.kind === "closed") return;
    this.#state = step(queueLife, former, "remove", closed);
    if (former.kind !== "unread") former.gone();
  }

  get id(): string {
    return this.record.id;
  }

  get userId(): number {
    return this.record.userId;
  }

  get options(): QueueOptions {
    return this.record.options;
  }

  get variant(): string {
    return this.readerClass.variant;
  }

  get extraEmojiType(): ExtraType {
    return this.readerClass.extraEmojiType;
  }

  can(capability: ClientCapability): boolean {
    return this.readerClass.can(capability);
  }

  wantsType(type: string): boolean {
    return this.readerClass.wantsType(type);
  }

  /** Whether the client wants events of this kind at all; permissions are checked elsewhere. */
  wants(view: View, record: EventRecord): boolean {
    if (!this.readerClass.wants(view, record)) return false;
    return this.#state.kind === "socket" || !isForSocketsOnly(record, this);
  }

  /** The client has the state of this position, which includes everything up to it. */
  startAt(position: number): void {
    this.deliveredUpTo = position;
    this.firstPending = null;
    this.#volatile = null;
  }

  /**
   * A poll acknowledges everything up to its position. Example: events at 1, 2, 3, and the client acknowledged 2. It
   * may ask from 2 again, because an answer can get lost, but not from 1 (behaviour 4.2).
   * @returns false if a later position was already acknowledged
   */
  acknowledge(position: number): boolean {
    if (position < this.#acknowledgedUpTo) return false;
    this.#acknowledgedUpTo = position;
    return true;
  }

  /** Keeps a volatile event for the next reader: the latest wins, and their number is bounded (E4). */
  keepVolatile(key: string, event: EncodedEvent): void {
    this.#volatile ??= new Map();
    this.#volatile.delete(key);
    this.#volatile.set(key, event);
    const [oldest] = this.#volatile.keys();
    if (this.#volatile.size > limits.queue_volatile_events_max) this.#volatile.delete(oldest ?? "");
  }

  /** Returns the kept events after a position, and drops all kept events. */
  takeVolatile(after: number): EncodedEvent[] {
    const kept = this.#volatile === null ? [] : [...this.#volatile.values()];
    this.#volatile = null;
    return kept.filter(({ record }) => record.position > after);
  }

  get hasVolatile(): boolean {
    return this.#volatile !== null && this.#volatile.size > 0;
  }
}

/** Typing in channels: a client that polls has to ask for it, and a socket gets it in any case (docs/realtime.md). */
function isForSocketsOnly(record: EventRecord, queue: RecipientQueue): boolean {
  if (record.type !== "typing" || record.body.message_type !== "stream") return false;
  return !queue.can("stream_typing_notifications");
}

/** A narrow that is no longer valid (a channel was removed) matches nothing. */
function narrowOf(view: View, user: UserRecord, options: QueueOptions): Narrowed | null {
  if (options.narrow.length === 0) return null;
  const read = readNarrow(view, user, termsOf(options.narrow));
  return isRefusal(read) ? nothingNarrowed : read;
}
