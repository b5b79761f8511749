/**
 * GET /events (docs/realtime.md, Long-poll): pending events are returned at once, otherwise the request is held until
 * the first event or the heartbeat. A poll is the queue's reader from its first moment, so a second poll or a socket
 * finds and ends it.
 */
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Call } from "../../operations/calls.ts";
import { type LifeCycle, step } from "../../runtime/life-cycle.ts";
import type { EncodedAnswer } from "../../runtime/results.ts";
import type { EncodedEvent } from "./encoded-event.ts";
import type { Hub } from "./hub.ts";
import type { LiveQueue, PollReader } from "./queue.ts";
import type { ApiKeyConnection, KeyEnd } from "./queue-registry.ts";
import { isLost, readSlice } from "./replay.ts";

type PollResult = (EncodedAnswer & { readonly fields: string }) | Refusal;

export interface PollRequest {
  readonly queueId: string;
  readonly lastEventId: number;
  readonly blocks: boolean;
}

export function poll(hub: Hub, user: UserRecord, request: PollRequest, call: Call): Promise<PollResult> {
  const queue = hub.queue(request.queueId);
  if (queue === undefined || queue.userId !== user.id) return Promise.resolve(refuse.badEventQueueId(request.queueId));
  const after = Math.max(request.lastEventId, queue.record.createdAtPosition - 1);
  // Zulip answers BAD_REQUEST when the position was acknowledged before, and its clients repeat the request forever.
  // With this code they register again.
  if (isLost(hub.realm, queue, after) || !queue.acknowledge(after)) {
    return Promise.resolve(refuse.badEventQueueId(queue.id));
  }
  return new Promise((resolve) => {
    const keyHash = call.keyHash ?? "";
    const poll = new WaitingPoll(hub, queue, { after, isSession: call.isSession }, (result) => {
      hub.connectionsByApiKey.remove(keyHash, poll);
      resolve(result);
    });
    hub.connectionsByApiKey.add(keyHash, poll);
    queue.attach(poll);
    call.onAbort(() => poll.abandon());
    poll.run(request.blocks).catch((error: unknown) => {
      hub.reportBug(error);
      poll.failed();
    });
  });
}

/**
 * A poll first collects from the log, in several passes if it is long. It is held if there was nothing, and the first
 * event that arrives makes it ready: it is answered at the end of that publication.
 */
export const pollLife = {
  collecting: { answer: "answered", wait: "waiting" },
  waiting: { push: "ready", answer: "answered" },
  ready: { answer: "answered" },
  answered: {},
} as const satisfies LifeCycle;

type PollState =
  | { readonly kind: "collecting" }
  | { readonly kind: "waiting" }
  /** With the position of the first event that arrived while the poll was held. */
  | { readonly kind: "ready"; readonly firstPushed: number }
  | { readonly kind: "answered" };

const collecting = { kind: "collecting" } as const;
const waiting = { kind: "waiting" } as const;
const answered = { kind: "answered" } as const;

class WaitingPoll implements ApiKeyConnection, PollReader {
  readonly kind = "poll" as const;
  readonly #hub: Hub;
  readonly #queue: LiveQueue;
  readonly #after: number;
  readonly #isSession: boolean;
  readonly #resolve: (result: PollResult) => void;
  #state: PollState = collecting;
  /** JSON of the answer's events, ordered by id. */
  readonly #events: string[] = [];
  #characters = 0;

  constructor(
    hub: Hub,
    queue: LiveQueue,
    { after, isSession }: { readonly after: number; readonly isSession: boolean },
    resolve: (result: PollResult) => void,
  ) {
    this.#hub = hub;
    this.#queue = queue;
    this.#after = after;
    this.#isSession = isSession;
    this.#resolve = resolve;
  }

  async run(blocks: boolean): Promise<void> {
    const queue = this.#queue;
    let from = this.#after < queue.deliveredUpTo ? this.#after + 1 : queue.firstPending;
    let isComplete = true;
    // A turn may run between the last slice and here. Its events precede all that are pushed or kept later.
    for (; isComplete && from !== null && this.#isCollecting(); from = queue.firstPending) {
      isComplete = await this.#collect(from);
    }
    const state = this.#state;
    if (state.kind !== "collecting") return;
    if (isComplete) this.#takeKept();
    if (this.#events.length > 0 || !blocks) {
      this.#end(this.#answer());
      return;
    }
    this.#state = step(pollLife, state, "wait", waiting);
    this.#hub.realm.dispatcher.volatileTimers.set(this.#timer, heartbeatDelay(queue), () =>
      this.#end(this.#heartbeat()),
    );
  }

  /** @returns false if the answer is full before the end of the log */
  async #collect(start: number): Promise<boolean> {
    const queue = this.#queue;
    let from = start;
    for (;;) {
      if (from < this.#hub.realm.log.startsAt) {
        // Pruned while this client was reading: report a gap, never guess (E2).
        this.#end(refuse.badEventQueueId(queue.id));
        return false;
      }
      const owner = this.#owner();
      if (owner === null) return false;
      const slice = readSlice(this.#hub, queue, owner, from);
      const next = this.#addUntilFull(slice.events) ?? slice.next;
      if (next === null || this.#isFull()) {
        queue.deliveredUpTo = next === null ? this.#hub.realm.view.position - 1 : next - 1;
        queue.firstPending = next;
        return next === null;
      }
      from = next;
      await new Promise<void>((resume) => setImmediate(resume));
      if (this.#isAnswered()) return false;
    }
  }

  /** @returns the position of the first event that did not fit, or null */
  #addUntilFull(events: readonly EncodedEvent[]): number | null {
    for (const event of events) {
      if (this.#isFull()) return event.record.position;
      this.#add(event);
    }
    return null;
  }

  /** An answer is bounded in events and in characters; the rest waits for the next poll (S3). */
  #isFull(): boolean {
    return (
      this.#events.length >= limits.replay_events_per_answer_max ||
      this.#characters >= limits.replay_characters_per_answer_max
    );
  }

  /** Sends volatile events that were kept, with fresh ids (E1). */
  #takeKept(): void {
    if (!this.#queue.hasVolatile) return;
    for (const kept of this.#queue.takeVolatile(this.#after)) {
      this.#add(kept.renumbered(this.#hub.realm.dispatcher.takePosition()));
    }
    this.#queue.deliveredUpTo = this.#hub.realm.view.position - 1;
  }

  get #timer(): string {
    return `heartbeat:${this.#queue.id}`;
  }

  /** The current record of the owner: roles change while a poll is held. */
  #owner(): UserRecord | null {
    return this.#hub.realm.view.users.get(this.#queue.userId) ?? null;
  }

  #add(event: EncodedEvent): void {
    for (const json of event.for(this.#queue)?.after(this.#after)?.json ?? []) {
      this.#events.push(json);
      this.#characters += json.length;
    }
  }

  push(event: EncodedEvent): void {
    const state = this.#state;
    switch (state.kind) {
      case "collecting":
        // Durable events are read from the log later; volatile ones wait for the next poll.
        if (event.replaces !== null) this.#queue.keepVolatile(event.replaces, event);
        else this.#queue.firstPending ??= event.record.position;
        return;
      case "waiting":
        if (this.#addPushed(event)) {
          this.#state = step(pollLife, state, "push", { kind: "ready", firstPushed: event.record.position });
        }
        return;
      case "ready":
        this.#addPushed(event);
        return;
      case "answered":
        return;
      default:
        state satisfies never;
    }
  }

  /** @returns whether the answer got longer */
  #addPushed(event: EncodedEvent): boolean {
    const before = this.#events.length;
    this.#add(event);
    this.#queue.deliveredUpTo = event.record.position;
    return this.#events.length > before;
  }

  /** The publication is over: answer with the events it brought. */
  finish(): void {
    if (this.#state.kind === "ready") this.#end(this.#answer());
  }

  gone(): void {
    this.#end(refuse.badEventQueueId(this.#queue.id));
  }

  failed(): void {
    this.#end(refuse.badEventQueueId(this.#queue.id));
  }

  /** A second request ends the first: answer with the events so far, possibly none (behaviour 4.2). */
  takenOver(): void {
    if (this.#state.kind === "collecting") this.abandon();
    else this.#end(this.#answer());
  }

  /**
   * The answer is a heartbeat and never an empty list, which gozulipbot (matterbridge) takes for a reset queue, so that
   * it fetches its whole history. A poll that is still collecting gets none: a heartbeat's new id would skip events
   * that the poll has not read yet.
   */
  dismiss(): void {
    if (this.#state.kind === "waiting") this.#end(this.#heartbeat());
    else this.abandon(refuse.shuttingDown());
  }

  /** The pending events wait for a client with a valid key. */
  keyEnded(cause: KeyEnd): void {
    const isOver = this.#isSession && cause === "notAuthenticated";
    this.abandon(isOver ? refuse.notLoggedIn() : refusals[cause]());
  }

  /** The client disconnected: its events go to the next reader. */
  abandon(answer: PollResult = noEvents): void {
    const state = this.#state;
    if (state.kind === "collecting") this.#giveBack(this.#after + 1);
    if (state.kind === "ready") this.#giveBack(state.firstPushed);
    this.#end(answer);
  }

  #giveBack(from: number): void {
    this.#queue.firstPending = Math.min(this.#queue.firstPending ?? from, from);
    this.#queue.deliveredUpTo = Math.min(this.#queue.deliveredUpTo, from - 1);
  }

  #answer(): PollResult {
    return { kind: "encoded", fields: `"events":[${this.#events.join(",")}]` };
  }

  /** A heartbeat has an id, so that a quiet client keeps up with the log. */
  #heartbeat(): PollResult {
    const id = this.#hub.realm.dispatcher.takePosition();
    this.#queue.deliveredUpTo = Math.max(this.#queue.deliveredUpTo, id);
    return { kind: "encoded", fields: `"events":[${JSON.stringify({ type: "heartbeat", id })}]` };
  }

  #isCollecting(): boolean {
    return this.#state.kind === "collecting";
  }

  #isAnswered(): boolean {
    return this.#state.kind === "answered";
  }

  #end(result: PollResult): void {
    const state = this.#state;
    if (state.kind === "answered") return;
    const { volatileTimers } = this.#hub.realm.dispatcher;
    if (state.kind !== "collecting") volatileTimers.cancel(this.#timer);
    this.#state = step(pollLife, state, "answer", answered);
    this.#queue.release(this, volatileTimers);
    this.#resolve(result);
  }
}

const noEvents: PollResult = { kind: "encoded", fields: '"events":[]' };

/** Spreads heartbeats over the window by queue id, so that clients that connected together do not all poll together. */
function heartbeatDelay(queue: LiveQueue): number {
  let hash = 0;
  for (const character of queue.id) hash = (hash * 31 + character.charCodeAt(0)) % 1000;
  return limits.heartbeat_ms_min + ((limits.heartbeat_ms_max - limits.heartbeat_ms_min) * hash) / 1000;
}

const refusals: Readonly<Record<KeyEnd, () => PollResult>> = {
  notAuthenticated: refuse.invalidApiKey,
  deactivated: refuse.userDeactivated,
  realmDeactivated: refuse.realmDeactivated,
};
