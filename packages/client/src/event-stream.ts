/**
 * The events of one queue as an endless list: registers the queue, reads it by socket or long poll, and after every
 * interruption continues behind the last event. It skips no event and repeats none, or reports a gap (E2).
 */
import type { Events, Operations } from "./api/index.ts";
import { Backoff, pause } from "./backoff.ts";
import { ApiError, EventGapError } from "./errors.ts";
import type { Ended, EventSource, Position } from "./event-source.ts";
import { readPolls } from "./long-poll.ts";
import type { RequestSettings } from "./requests.ts";
import { readSocket, type WebSocketClass } from "./socket.ts";
import type { SocketCalls } from "./socket-calls.ts";

export type EventType = keyof Events;
/** An event of this type; of any type by default. */
export type Event<T extends EventType = EventType> = Events[T];

type RegisterParams = Operations["POST /register"]["params"];
/** The answer of POST /register: the sections of the state that `fetch_event_types` names. */
export type RegisteredState = Operations["POST /register"]["result"];

/** Events after `lastEventId` were lost: the queue had expired, or the server was restored from a backup. */
export interface Gap {
  readonly lastEventId: number;
  /** The present state, from which the new queue's events continue. */
  readonly state: RegisteredState;
}

export interface Interruption {
  readonly error: Error;
  /** The next attempt follows after this time. */
  readonly delayMs: number;
}

/** The parameters of POST /register, and what to do when the connection fails. */
export interface EventOptions<T extends EventType = EventType> extends RegisterParams {
  /** Default: every type. */
  readonly event_types?: readonly T[];
  /** Sections of the state for `onRegistered` and `onGap`. Default: none. */
  readonly fetch_event_types?: readonly string[] | null;
  /**
   * Continues where an earlier stream was at its `position`; null: begins. If it is given, even as null, the queue is
   * kept when the stream ends.
   */
  readonly from?: Position | null;
  /** A new queue exists, and its events follow. Not called after a gap. */
  readonly onRegistered?: (state: RegisteredState) => void | Promise<void>;
  /**
   * Events were lost. The events of the new queue follow when it returns. Without it, a gap ends the stream with an
   * `EventGapError`.
   */
  readonly onGap?: (gap: Gap) => void | Promise<void>;
  /** The connection was interrupted, and the stream will resume. */
  readonly onInterrupted?: (interruption: Interruption) => void;
  /** The server has accepted this connection: events are up to date from now on. */
  readonly onConnected?: () => void;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

/** The settings that a stream needs from its client. */
export interface StreamSettings extends RequestSettings {
  /** Null: long polls only. */
  readonly webSocket: WebSocketClass | null;
  register(params: RegisterParams, signal: AbortSignal): Promise<RegisteredState>;
  deleteQueue(queueId: string): Promise<void>;
  onCalls(calls: SocketCalls, isOpen: boolean): void;
}

/** After a socket that did not open, polls take over for this time, which doubles up to the maximum. */
const fallbackLimits = { first_ms: 5_000, ms_max: 300_000 } as const;

export class EventStream<T extends EventType = EventType> implements AsyncIterable<Event<T>> {
  readonly #settings: StreamSettings;
  readonly #options: EventOptions<T>;
  readonly #events: AsyncGenerator<Event<T>, void>;
  readonly #end = new AbortController();
  readonly #backoff = new Backoff();
  #queueId: string | null = null;
  /** The queue is not deleted at the end: another stream continues it, or the server would refuse. */
  #keepsQueue: boolean;
  /** Id of the last event that has arrived. */
  #received = -1;
  /** Id of the last event that the caller has finished. */
  #finished = -1;
  /** Sockets in succession that did not open. */
  #unopened = 0;
  #pollsNext = false;
  #hurry = new AbortController();
  /** Ends the present socket or poll. */
  #leaving = new AbortController();

  constructor(settings: StreamSettings, options: EventOptions<T>) {
    this.#settings = settings;
    this.#options = options;
    this.#keepsQueue = options.from !== undefined;
    if (options.from != null) this.#startAt(options.from.queueId, options.from.lastEventId);
    this.#events = this.#read();
    options.signal?.addEventListener("abort", () => this.close(), { signal: this.#end.signal });
    if (options.signal?.aborted === true) this.close();
  }

  /**
   * The last event that was processed: the one before the event that the loop's body has now. Null before the queue
   * exists. A program that stores it and begins there again (`from`) skips no event.
   */
  get position(): Position | null {
    return this.#queueId === null ? null : { queueId: this.#queueId, lastEventId: this.#finished };
  }

  /**
   * Ends the loop, also while it waits for an event.
   * @param keepsQueue for a client that may not delete it any more
   */
  close(keepsQueue = false): void {
    this.#keepsQueue ||= keepsQueue;
    this.#end.abort();
  }

  /** Ends the pause before the next attempt, for example because the network is back. */
  retryNow(): void {
    this.#hurry.abort();
  }

  /** Leaves the present connection for another, for example because the network has gone or changed. */
  renew(): void {
    this.#leaving.abort();
    this.retryNow();
  }

  [Symbol.asyncIterator](): AsyncGenerator<Event<T>, void> {
    return this.#events;
  }

  #startAt(queueId: string, lastEventId: number): void {
    this.#queueId = queueId;
    this.#received = lastEventId;
    this.#finished = lastEventId;
  }

  async *#read(): AsyncGenerator<Event<T>, void> {
    const { signal } = this.#end;
    try {
      if (this.#queueId === null) {
        const state = await this.#register();
        await this.#options.onRegistered?.(state);
      }
      while (!signal.aborted) {
        const source = this.#open();
        try {
          const ended = yield* this.#passOn(source);
          const isLeft = this.#leaving.signal.aborted;
          if (!signal.aborted) await this.#recover(isLeft ? { ...ended, next: "resume" } : ended);
        } finally {
          await source.return(noEnd);
        }
      }
    } catch (error) {
      // A request that the end interrupted is no failure.
      if (!signal.aborted) throw error;
    } finally {
      this.close();
      await this.#leave();
    }
  }

  /** @returns why the source ended */
  async *#passOn(source: EventSource): AsyncGenerator<Event<T>, Ended> {
    for (;;) {
      const step = await source.next();
      if (step.done === true) return step.value;
      for (const event of step.value) {
        if (this.#end.signal.aborted) return noEnd;
        // After a resume the server may repeat what was on its way when the connection broke.
        if (event.id <= this.#received) continue;
        this.#received = event.id;
        // A heartbeat only moves the position.
        if (event.type !== "heartbeat") yield event as unknown as Event<T>;
        this.#finished = event.id;
      }
    }
  }

  #open(): EventSource {
    const { webSocket, credentials, onCalls } = this.#settings;
    this.#leaving = new AbortController();
    const signal = AbortSignal.any([this.#end.signal, this.#leaving.signal]);
    const from = { queueId: this.#queueId ?? "", lastEventId: this.#received };
    const onLive = () => this.#options.onConnected?.();
    if (webSocket === null) return readPolls(this.#settings, from, { signal, until: Number.POSITIVE_INFINITY, onLive });
    if (this.#pollsNext) {
      this.#pollsNext = false;
      const lasts = Math.min(fallbackLimits.ms_max, fallbackLimits.first_ms * 2 ** (this.#unopened - 1));
      return readPolls(this.#settings, from, { signal, until: performance.now() + lasts, onLive });
    }
    const onEnd = (wasOpen: boolean) => {
      this.#unopened = wasOpen ? 0 : Math.min(this.#unopened + 1, 20);
      this.#pollsNext = !wasOpen;
    };
    return readSocket({ webSocket, credentials, signal, onLive, onCalls, onEnd }, from);
  }

  async #recover({ next, error, leastMs, wasLive }: Ended): Promise<void> {
    if (wasLive) this.#backoff.reset();
    switch (next) {
      case "stop":
        this.#keepsQueue = true;
        throw error;
      case "register":
        await this.#bridgeGap();
        return;
      case "wait":
        this.#backoff.raise();
        break;
      case "resume":
        break;
      default:
        next satisfies never;
    }
    const delayMs = this.#backoff.next(leastMs);
    this.#options.onInterrupted?.({ error, delayMs });
    this.#hurry = new AbortController();
    await pause(delayMs, AbortSignal.any([this.#end.signal, this.#hurry.signal]));
  }

  async #bridgeGap(): Promise<void> {
    const { onGap } = this.#options;
    const lastEventId = this.#finished;
    this.#queueId = null;
    if (onGap === undefined) throw new EventGapError(lastEventId);
    await onGap({ lastEventId, state: await this.#register() });
  }

  async #register(): Promise<RegisteredState> {
    const {
      from: _,
      onRegistered: _r,
      onGap: _g,
      onInterrupted: _i,
      onConnected: _c,
      signal: _s,
      ...params
    } = this.#options;
    const state = await this.#settings.register({ fetch_event_types: [], ...params }, this.#end.signal);
    this.#startAt(state.queue_id, state.last_event_id);
    return state;
  }

  /** A queue that will not be read again costs the server memory until it expires. */
  async #leave(): Promise<void> {
    if (this.#queueId === null || this.#keepsQueue) return;
    try {
      await this.#settings.deleteQueue(this.#queueId);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (error instanceof ApiError && error.code === "BAD_EVENT_QUEUE_ID") this.#queueId = null;
    }
  }
}

/** The program ended the source itself. */
const noEnd: Ended = { next: "stop", error: new Error("the stream is closed"), leastMs: 0, wasLive: false };
