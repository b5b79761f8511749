/**
 * A socket as the reader of a queue: first the log after the client's position, then live events, without a gap (E2).
 * Durable frames are never dropped: a client that stops reading costs at most the soft bound and is disconnected (E3).
 * Under back-pressure volatile events are coalesced (latest wins, E4) and get a fresh id when they are sent (E1).
 */
import type { CloseCause } from "../../../schemas/close-codes.ts";
import { limits } from "../../../schemas/limits.ts";
import { type LifeCycle, step } from "../../runtime/life-cycle.ts";
import type { EncodedEvent } from "./encoded-event.ts";
import { FrameBatch, type PublishBatch } from "./frame-batch.ts";
import type { Hub } from "./hub.ts";
import type { FollowingReader, LiveQueue } from "./queue.ts";
import { readSlice } from "./replay.ts";
import type { Format } from "./socket-frames.ts";

/** The part of a session that the reader uses. */
export interface FrameOutput {
  readonly format: Format;
  /** Returns 0 once the connection is closed. */
  bufferedBytes(): number;
  /** Whether the client still has to read something. */
  hasUnread(): boolean;
  sendFrameBatch(frameBatch: FrameBatch): void;
  /** The same for events that have passed the gate. */
  sendPassed(frameBatch: FrameBatch): void;
  /** Stops sending events; requests already received are still answered. */
  closeAfterCalls(cause: CloseCause): void;
}

/** `clogged` is a replay that waits until the client has read enough. */
export const readerLife = {
  replaying: { wait: "clogged", catchUp: "live", detach: "detached" },
  clogged: { drain: "replaying", detach: "detached" },
  live: { detach: "detached" },
  detached: {},
} as const satisfies LifeCycle;

type ReaderState =
  | { readonly kind: "replaying" }
  | { readonly kind: "clogged"; readonly resume: () => void }
  | { readonly kind: "live" }
  | { readonly kind: "detached" };

const replaying = { kind: "replaying" } as const;
const live = { kind: "live" } as const;
const detached = { kind: "detached" } as const;

export class SocketReader implements FollowingReader {
  readonly kind = "socket" as const;
  readonly #hub: Hub;
  readonly #queue: LiveQueue;
  readonly outlet: FrameOutput;
  /** The client has everything up to this position. */
  readonly #after: number;
  #state: ReaderState = replaying;
  /** Events of the running publication; null if none so far. */
  #frameBatch: FrameBatch | null = null;
  /** Volatile events that wait for an empty buffer, by the key they replace; null if there are none, which is usual. */
  #waiting: Map<string, EncodedEvent> | null = null;

  constructor(hub: Hub, queue: LiveQueue, outlet: FrameOutput, after: number) {
    this.#hub = hub;
    this.#queue = queue;
    this.outlet = outlet;
    this.#after = after;
  }

  /** Replays the events after the client's position and then stays live. Resolves when it is live or was detached. */
  async follow(): Promise<void> {
    let from = this.#after + 1;
    for (;;) {
      const owner = this.#hub.realm.view.users.get(this.#queue.userId);
      const state = this.#state;
      if (state.kind !== "replaying" || owner === undefined) return;
      if (from < this.#hub.realm.log.startsAt) {
        // Pruned while this client was reading: report a gap, never guess (E2).
        this.outlet.closeAfterCalls("queueGone");
        return;
      }
      const slice = readSlice(this.#hub, this.#queue, owner, from);
      const waiting = this.#sendUntilClogged(slice.events);
      if (this.#isDetached()) return;
      if (waiting !== null) {
        await new Promise<void>((resume) => {
          this.#state = step(readerLife, state, "wait", { kind: "clogged", resume });
        });
        // Permissions may have changed meanwhile (S1): read the rest again.
        from = waiting.record.position;
        continue;
      }
      const end = slice.next ?? slice.end;
      // The log may have grown during the pause, so this slice may not be the last.
      if (slice.next === null && end >= this.#hub.realm.view.position) {
        this.#state = step(readerLife, state, "catchUp", live);
        this.#goLive();
        return;
      }
      from = end;
      await new Promise<void>((resume) => setImmediate(resume));
    }
  }

  /** @returns the first event that must wait until the client reads, or null */
  #sendUntilClogged(events: readonly EncodedEvent[]): EncodedEvent | null {
    let frameBatch = FrameBatch.empty(this.outlet.format);
    for (const event of events) {
      if (frameBatch.size === 0 && this.#isClogged()) return event;
      frameBatch = this.#added(frameBatch, event);
      if (!frameBatch.isFull) continue;
      this.outlet.sendFrameBatch(frameBatch);
      frameBatch = FrameBatch.empty(this.outlet.format);
    }
    this.outlet.sendFrameBatch(frameBatch);
    return null;
  }

  #isDetached(): boolean {
    return this.#state.kind === "detached";
  }

  /** Runs synchronously after the last slice, so no event can be missed. */
  #goLive(): void {
    this.#queue.deliveredUpTo = this.#hub.realm.view.position - 1;
    this.#queue.firstPending = null;
    for (const kept of this.#queue.takeVolatile(this.#after)) this.#keepWaiting(kept.replaces ?? "", kept);
    this.#sendWaiting();
  }

  /**
   * The client still has to read half of its allowed backlog. The replay waits; this is no reason to close the socket.
   */
  #isClogged(): boolean {
    return this.outlet.bufferedBytes() >= limits.socket_buffer_bytes_soft_max / 2;
  }

  push(event: EncodedEvent, batch: PublishBatch): void {
    if (event.replaces !== null) {
      this.#pushVolatile(event, event.replaces, batch);
      return;
    }
    switch (this.#state.kind) {
      case "live":
        this.#collect(event, batch);
        this.#queue.deliveredUpTo = event.record.position;
        return;
      case "replaying":
      case "clogged":
      case "detached":
        // The log has the event: this reader's replay reaches it, or the next reader's if this one leaves first.
        this.#queue.firstPending ??= event.record.position;
        return;
      default:
        this.#state satisfies never;
    }
  }

  #pushVolatile(event: EncodedEvent, key: string, batch: PublishBatch): void {
    this.#waiting?.delete(key);
    if (this.#state.kind === "live" && !this.outlet.hasUnread()) {
      this.#collect(event, batch);
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

  /** Collects events until the publication ends: what left earlier could overtake an earlier publication (E1). */
  #collect(event: EncodedEvent, batch: PublishBatch): void {
    this.#frameBatch = this.#added(this.#frameBatch ?? batch.begin(this, this.outlet.format), event);
  }

  /** The publication is over. */
  take(): FrameBatch | null {
    const frameBatch = this.#frameBatch;
    this.#frameBatch = null;
    return this.#isDetached() ? null : frameBatch;
  }

  /** @returns the same batch if the event is not for this queue */
  #added(frameBatch: FrameBatch, event: EncodedEvent): FrameBatch {
    // Parts that the client already has are left out of an event with several ids.
    const encoding = event.for(this.#queue)?.after(this.#after) ?? null;
    return encoding === null ? frameBatch : frameBatch.and(encoding);
  }

  /** The client has read some bytes. */
  drained(): void {
    const state = this.#state;
    if (state.kind === "live") this.#sendWaiting();
    if (state.kind !== "clogged") return;
    this.#state = step(readerLife, state, "drain", replaying);
    state.resume();
  }

  /** Sends the volatile events that wait, if the client has read everything else. */
  #sendWaiting(): void {
    if (this.#waiting === null || this.outlet.hasUnread()) return;
    const waiting = [...this.#waiting.values()];
    this.#waiting = null;
    let frameBatch = FrameBatch.empty(this.outlet.format);
    for (const event of waiting) {
      const position = this.#hub.realm.dispatcher.takePosition();
      frameBatch = this.#added(frameBatch, event.renumbered(position));
    }
    if (frameBatch.size === 0) return;
    // As a publication does, so that it keeps its place behind those that wait at the gate (E1).
    const leave = () => {
      if (!this.#isDetached()) this.outlet.sendPassed(frameBatch);
    };
    this.#hub.realm.gate.waitFor(leave, undefined, frameBatch.size);
  }

  takenOver(): void {
    this.#detach();
    this.outlet.closeAfterCalls("takenOver");
  }

  gone(): void {
    this.#detach();
    const owner = this.#hub.realm.view.users.get(this.#queue.userId);
    this.outlet.closeAfterCalls(owner?.isActive === true ? "queueGone" : "deactivated");
  }

  failed(): void {
    const before = this.take();
    if (before !== null) this.outlet.sendFrameBatch(before);
    this.#detach();
    this.outlet.closeAfterCalls("queueGone");
  }

  /** The socket was closed: the queue waits for the next reader. */
  release(): void {
    this.#detach();
    this.#queue.release(this, this.#hub.realm.dispatcher.volatileTimers);
  }

  #detach(): void {
    const state = this.#state;
    if (state.kind === "detached") return;
    this.#state = step(readerLife, state, "detach", detached);
    if (state.kind === "clogged") state.resume();
  }
}
