/**
 * A socket as the reader of a queue: first what is in the log after the client's position, then live, without a gap between
 * (E2). Durable frames are never dropped: a reader that stops costs at most the soft bound and is ended (E3); volatile ones
 * wait, latest wins, while bytes are buffered (E4), and go out under ids of then (E1).
 */
import { limits } from "../../schemas/limits.ts";
import type { CloseCause } from "./close-codes.ts";
import type { EncodedEvent } from "./encoded-event.ts";
import type { Hub } from "./hub.ts";
import { type LiveQueue, noReader } from "./queue.ts";
import { readSlice } from "./replay.ts";

/** What the reader needs of a connection. */
export interface Outlet {
  isOpen(): boolean;
  bufferedBytes(): number;
  /** @param after ids up to this one are left out of an event that comes in pieces */
  sendEvent(event: EncodedEvent, queue: LiveQueue, after: number): void;
  close(cause: CloseCause): void;
}

export class SocketReader {
  readonly kind = "socket" as const;
  readonly #hub: Hub;
  readonly #queue: LiveQueue;
  readonly #outlet: Outlet;
  #after = 0;
  #isLive = false;
  #isDetached = false;
  /** Volatile events that wait for an empty buffer, by what they replace. */
  readonly #waiting = new Map<string, EncodedEvent>();
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
        this.#outlet.close("queueGone");
        return;
      }
      const slice = readSlice(this.#hub.realm, this.#queue, owner, from);
      for (const event of slice.events) {
        if (this.#isClogged()) {
          await this.#unclogged();
          if (this.#isOver()) return;
        }
        this.#outlet.sendEvent(event, this.#queue, after);
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

  #isOver(): boolean {
    return this.#isDetached || !this.#outlet.isOpen();
  }

  /** Synchronous with the last slice: nothing can come between. */
  #goLive(): void {
    this.#queue.deliveredUpTo = this.#hub.realm.view.position - 1;
    this.#queue.firstPending = null;
    this.#isLive = true;
    for (const kept of this.#queue.takeVolatile(this.#after)) this.#waiting.set(kept.replaces ?? "", kept);
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

  push(event: EncodedEvent): void {
    if (event.replaces !== null) {
      this.#pushVolatile(event, event.replaces);
      return;
    }
    if (!this.#isLive) {
      // The event is in the log and the replay will come to it, or the next reader's, should this one go before.
      this.#queue.firstPending ??= event.record.position;
      return;
    }
    this.#outlet.sendEvent(event, this.#queue, this.#after);
    this.#queue.deliveredUpTo = event.record.position;
  }

  #pushVolatile(event: EncodedEvent, key: string): void {
    if (this.#isLive && this.#outlet.bufferedBytes() === 0) {
      this.#outlet.sendEvent(event, this.#queue, this.#after);
      return;
    }
    this.#waiting.delete(key);
    this.#waiting.set(key, event);
    if (this.#waiting.size > limits.queue_volatile_events_max) {
      const oldest = this.#waiting.keys().next().value;
      if (oldest !== undefined) this.#waiting.delete(oldest);
    }
  }

  /** The buffer is empty again. */
  drained(): void {
    this.#onDrained?.();
    this.#onDrained = null;
    if (!this.#isLive || this.#outlet.bufferedBytes() > 0) return;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const event of waiting) {
      const position = this.#hub.realm.dispatcher.takePosition();
      this.#outlet.sendEvent(event.renumbered(position), this.#queue, this.#after);
    }
  }

  takenOver(): void {
    this.#detach();
    this.#outlet.close("takenOver");
  }

  /** The queue has ended: its owner was deactivated, or it was deleted. */
  gone(): void {
    this.#detach();
    const owner = this.#hub.realm.view.users.get(this.#queue.userId);
    this.#outlet.close(owner?.isActive === true ? "queueGone" : "deactivated");
  }

  /** The socket closed: the queue waits for the next reader. */
  release(): void {
    this.#detach();
    if (this.#queue.reader === this) {
      this.#queue.reader = noReader;
      this.#queue.unreadSince = this.#hub.realm.view.now;
    }
  }

  #detach(): void {
    this.#isDetached = true;
    this.#onDrained?.();
    this.#onDrained = null;
  }
}
