/**
 * A socket as the reader of a queue: first what is in the log after the client's position, then live, without a gap between
 * (E2). Durable frames are never dropped: a reader that stops costs at most the soft bound and is ended (E3); volatile ones
 * wait, latest wins, while bytes are buffered (E4), and go out under ids of then (E1).
 */
import { limits } from "../../schemas/limits.ts";
import { Bundle, type Mailing } from "./bundle.ts";
import type { CloseCause } from "./close-codes.ts";
import type { EncodedEvent } from "./encoded-event.ts";
import type { Hub } from "./hub.ts";
import { type LiveQueue, noReader } from "./queue.ts";
import { readSlice } from "./replay.ts";
import type { Format } from "./socket-frames.ts";

/** What the reader needs of a connection. */
export interface Outlet {
  readonly format: Format;
  readonly isOpen: boolean;
  /** 0 when it is not open any more. */
  bufferedBytes(): number;
  sendBundle(bundle: Bundle): void;
  /** Nothing more is sent of events; what the client asked before is still answered. */
  closeAfterCalls(cause: CloseCause): void;
}

export class SocketReader {
  readonly kind = "socket" as const;
  readonly #hub: Hub;
  readonly #queue: LiveQueue;
  readonly #outlet: Outlet;
  #after = 0;
  #isLive = false;
  #isDetached = false;
  /** What the publication under way has brought; null: nothing so far. */
  #bundle: Bundle | null = null;
  /** Volatile events that wait for an empty buffer, by what they replace; null: none, as nearly always. */
  #waiting: Map<string, EncodedEvent> | null = null;
  #onDrained: (() => void) | null = null;

  constructor(hub: Hub, queue: LiveQueue, outlet: Outlet) {
    this.#hub = hub;
    this.#queue = queue;
    this.#outlet = outlet;
  }

  /** Replays what comes after a position and then stays live. Resolves when it is live or was detached. */
  async follow(after: number): Promise<void> {
    this.#after = after;
    let from = after + 1;
    for (;;) {
      const owner = this.#hub.realm.view.users.get(this.#queue.userId);
      if (this.#isOver() || owner === undefined) return;
      if (from < this.#hub.realm.log.startsAt) {
        // Pruned under the reader: never a guess (E2).
        this.#outlet.closeAfterCalls("queueGone");
        return;
      }
      const slice = readSlice(this.#hub, this.#queue, owner, from);
      const waiting = this.#sendUntilClogged(slice.events);
      if (waiting !== null) {
        await this.#unclogged();
        // What the reader may see may have changed meanwhile (S1): the rest is looked up anew.
        from = waiting.record.position;
        continue;
      }
      const end = slice.next ?? slice.end;
      // After a pause the log may have grown beyond a slice that was its last.
      if (slice.next === null && end >= this.#hub.realm.view.position) {
        this.#goLive();
        return;
      }
      from = end;
      await new Promise<void>((resume) => setImmediate(resume));
    }
  }

  /** @returns the first event that waits for the client to read; null: none */
  #sendUntilClogged(events: readonly EncodedEvent[]): EncodedEvent | null {
    let bundle = Bundle.empty(this.#outlet.format);
    for (const event of events) {
      if (bundle.size === 0 && this.#isClogged()) return event;
      bundle = this.#added(bundle, event);
      if (!bundle.isFull) continue;
      this.#outlet.sendBundle(bundle);
      bundle = Bundle.empty(this.#outlet.format);
    }
    this.#outlet.sendBundle(bundle);
    return null;
  }

  #isOver(): boolean {
    return this.#isDetached || !this.#outlet.isOpen;
  }

  /** Synchronous with the last slice: nothing can come between. */
  #goLive(): void {
    this.#queue.deliveredUpTo = this.#hub.realm.view.position - 1;
    this.#queue.firstPending = null;
    this.#isLive = true;
    for (const kept of this.#queue.takeVolatile(this.#after)) this.#keepWaiting(kept.replaces ?? "", kept);
    this.drained();
  }

  /** The client has yet to read half of what it may leave unread: a replay waits, it is no reason to end a reader. */
  #isClogged(): boolean {
    return this.#outlet.bufferedBytes() >= limits.socket_buffer_bytes_soft_max / 2;
  }

  #unclogged(): Promise<void> {
    return new Promise((resolve) => {
      this.#onDrained = resolve;
    });
  }

  push(event: EncodedEvent, mailing: Mailing): void {
    if (event.replaces !== null) {
      this.#pushVolatile(event, event.replaces, mailing);
      return;
    }
    if (!this.#isLive) {
      // The event is in the log and the replay will come to it, or the next reader's, should this one go before.
      this.#queue.firstPending ??= event.record.position;
      return;
    }
    this.#collect(event, mailing);
    this.#queue.deliveredUpTo = event.record.position;
  }

  #pushVolatile(event: EncodedEvent, key: string, mailing: Mailing): void {
    this.#waiting?.delete(key);
    if (this.#isLive && this.#outlet.bufferedBytes() === 0) {
      this.#collect(event, mailing);
      return;
    }
    this.#keepWaiting(key, event);
  }

  #keepWaiting(key: string, event: EncodedEvent): void {
    this.#waiting ??= new Map();
    this.#waiting.set(key, event);
    if (this.#waiting.size > limits.queue_volatile_events_max) {
      const oldest = this.#waiting.keys().next().value;
      if (oldest !== undefined) this.#waiting.delete(oldest);
    }
  }

  /** Waits for the end of the publication, unless there is enough for a frame. */
  #collect(event: EncodedEvent, mailing: Mailing): void {
    const { format } = this.#outlet;
    const bundle = this.#added(this.#bundle ?? mailing.begin(this, format), event);
    this.#bundle = bundle;
    if (!bundle.isFull) return;
    this.#bundle = mailing.goOn(format);
    this.#outlet.sendBundle(bundle);
  }

  /** The publication is over: what it brought goes out. */
  flush(): void {
    const bundle = this.#bundle;
    this.#bundle = null;
    if (bundle !== null && !this.#isOver()) this.#outlet.sendBundle(bundle);
  }

  /** @returns the bundle as it was when the event is not for this queue */
  #added(bundle: Bundle, event: EncodedEvent): Bundle {
    const owner = this.#hub.realm.view.users.get(this.#queue.userId);
    // Ids that the client has are left out of an event that comes in pieces.
    const encoding = owner === undefined ? null : (event.for(owner, this.#queue)?.after(this.#after) ?? null);
    return encoding === null ? bundle : bundle.and(encoding);
  }

  /** The buffer is empty again. */
  drained(): void {
    this.#onDrained?.();
    this.#onDrained = null;
    if (!this.#isLive || this.#outlet.bufferedBytes() > 0) return;
    if (this.#waiting === null) return;
    const waiting = [...this.#waiting.values()];
    this.#waiting = null;
    let bundle = Bundle.empty(this.#outlet.format);
    for (const event of waiting) {
      const position = this.#hub.realm.dispatcher.takePosition();
      bundle = this.#added(bundle, event.renumbered(position));
    }
    this.#outlet.sendBundle(bundle);
  }

  takenOver(): void {
    this.#detach();
    this.#outlet.closeAfterCalls("takenOver");
  }

  /** The queue has ended: its owner was deactivated, or it was deleted. */
  gone(): void {
    this.#detach();
    const owner = this.#hub.realm.view.users.get(this.#queue.userId);
    this.#outlet.closeAfterCalls(owner?.isActive === true ? "queueGone" : "deactivated");
  }

  /** An event could not be built: a gap, which is said (E2). */
  failed(): void {
    this.flush();
    this.#detach();
    this.#outlet.closeAfterCalls("queueGone");
  }

  /** The socket closed: the queue waits for the next reader. */
  release(): void {
    this.#detach();
    if (this.#queue.reader === this) {
      this.#queue.reader = noReader;
      this.#queue.unreadSince = this.#hub.realm.dispatcher.wheel.now;
    }
  }

  #detach(): void {
    this.#isDetached = true;
    this.#onDrained?.();
    this.#onDrained = null;
  }
}
