/**
 * GET /events (realtime.md, Long-poll): what waits is given at once, else the request is held until the first event or the
 * heartbeat. A poll is the queue's reader from its first moment, so that a second one, or a socket, finds and ends it.
 */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import type { Call, Handled } from "../runtime/calls.ts";
import type { EncodedEvent } from "./encoded-event.ts";
import type { Hub } from "./hub.ts";
import type { KeyEnd, KeyHolder } from "./key-holders.ts";
import { type LiveQueue, noReader } from "./queue.ts";
import { isLost, readSlice } from "./replay.ts";

export interface PollRequest {
  readonly queueId: string;
  readonly lastEventId: number;
  readonly blocks: boolean;
}

export function poll(hub: Hub, user: UserRecord, request: PollRequest, call: Call): Promise<Handled> {
  const queue = hub.queue(request.queueId);
  if (queue === undefined || queue.userId !== user.id) return Promise.resolve(refuse.badEventQueueId(request.queueId));
  const after = Math.max(request.lastEventId, queue.record.createdAtPosition - 1);
  // The public server answers BAD_REQUEST when the position was acknowledged before, and its clients repeat the request for ever.
  // With this code they register again.
  if (isLost(hub.realm, queue, after) || !queue.acknowledge(after)) {
    return Promise.resolve(refuse.badEventQueueId(queue.id));
  }
  return new Promise((resolve) => {
    const keyHash = call.keyHash ?? "";
    const held = new HeldPoll(hub, queue, after, (handled) => {
      hub.keyHolders.remove(keyHash, held);
      resolve(handled);
    });
    hub.keyHolders.add(keyHash, held);
    endFormerReader(queue);
    queue.reader = held;
    call.onAbort(() => held.abandon());
    held.run(request.blocks).catch((error: unknown) => {
      hub.reportBug(error);
      held.failed();
    });
  });
}

/** A second request on a queue ends the first; a socket that reads it is told (4409). */
function endFormerReader(queue: LiveQueue): void {
  const { reader } = queue;
  queue.reader = noReader;
  if (reader.kind === "poll") reader.replace();
  if (reader.kind === "socket") reader.takenOver();
}

/** collecting: reading the log, over several passes if it is long; holding: waiting for the first event. */
type State = "collecting" | "holding" | "over";

class HeldPoll implements KeyHolder {
  readonly kind = "poll" as const;
  readonly #hub: Hub;
  readonly #queue: LiveQueue;
  readonly #after: number;
  readonly #resolve: (handled: Handled) => void;
  #state: State = "collecting";
  /** JSON of the events of the answer, in order of their ids. */
  readonly #events: string[] = [];
  #characters = 0;
  /** Position of the first event in the answer that came while holding. */
  #firstPushed: number | null = null;

  constructor(hub: Hub, queue: LiveQueue, after: number, resolve: (handled: Handled) => void) {
    this.#hub = hub;
    this.#queue = queue;
    this.#after = after;
    this.#resolve = resolve;
  }

  async run(blocks: boolean): Promise<void> {
    const queue = this.#queue;
    const isBehind = this.#after < queue.deliveredUpTo || queue.firstPending !== null;
    const isComplete = isBehind ? await this.#collect() : true;
    if (this.#state === "over") return;
    if (isComplete) this.#takeKept();
    if (this.#events.length > 0 || !blocks) this.#end(this.#answer());
    else this.#hold();
  }

  /** @returns false when the answer is full before the log ends */
  async #collect(): Promise<boolean> {
    const queue = this.#queue;
    let from = this.#after < queue.deliveredUpTo ? this.#after + 1 : (queue.firstPending ?? this.#after + 1);
    for (;;) {
      if (from < this.#hub.realm.log.startsAt) {
        // Pruned under the reader: never a guess (E2).
        this.#end(refuse.badEventQueueId(queue.id));
        return false;
      }
      const owner = this.#owner();
      if (owner === null) return false;
      const slice = readSlice(this.#hub, queue, owner, from);
      const next = this.#addUntilFull(slice.events, owner) ?? slice.next;
      if (next === null || this.#isFull()) {
        // No await between the last slice and here: nothing can have been missed.
        queue.deliveredUpTo = next === null ? this.#hub.realm.view.position - 1 : next - 1;
        queue.firstPending = next;
        return next === null;
      }
      from = next;
      await new Promise<void>((resume) => setImmediate(resume));
      if (this.#state === "over") return false;
    }
  }

  /** @returns the position of the first event that found no room, or null */
  #addUntilFull(events: readonly EncodedEvent[], owner: UserRecord): number | null {
    for (const event of events) {
      if (this.#isFull()) return event.record.position;
      this.#add(event, owner);
    }
    return null;
  }

  /** An answer has a bound in events and one in characters; the rest waits for the next poll (S3). */
  #isFull(): boolean {
    return (
      this.#events.length >= limits.replay_events_per_answer_max ||
      this.#characters >= limits.replay_characters_per_answer_max
    );
  }

  /** Volatile events that were kept go out now, with ids of now (E1). */
  #takeKept(): void {
    const owner = this.#owner();
    if (owner === null || !this.#queue.hasVolatile) return;
    for (const kept of this.#queue.takeVolatile(this.#after)) {
      this.#add(kept.renumbered(this.#hub.realm.dispatcher.takePosition()), owner);
    }
    this.#queue.deliveredUpTo = this.#hub.realm.view.position - 1;
  }

  #hold(): void {
    this.#state = "holding";
    this.#hub.realm.dispatcher.wheel.set(this.#timer, heartbeatDelay(this.#queue), () => this.#end(this.#heartbeat()));
  }

  get #timer(): string {
    return `heartbeat:${this.#queue.id}`;
  }

  /** The owner as of now: roles change while a poll is held. */
  #owner(): UserRecord | null {
    return this.#hub.realm.view.users.get(this.#queue.userId) ?? null;
  }

  #add(event: EncodedEvent, owner: UserRecord): void {
    const encoding = event.for(owner, this.#queue);
    for (const json of encoding?.after(this.#after)?.json ?? []) {
      this.#events.push(json);
      this.#characters += json.length;
    }
  }

  push(event: EncodedEvent): void {
    // While collecting, durable events are in the log and will be reached; volatile ones wait for the next poll.
    if (this.#state !== "holding") {
      if (event.replaces !== null) this.#queue.keepVolatile(event.replaces, event);
      else this.#queue.firstPending ??= event.record.position;
      return;
    }
    const owner = this.#owner();
    if (owner === null) return;
    const before = this.#events.length;
    this.#add(event, owner);
    if (this.#events.length > before) this.#firstPushed ??= event.record.position;
    this.#queue.deliveredUpTo = event.record.position;
  }

  /** The publication is over: answer what it brought. */
  finish(): void {
    if (this.#hub.queue(this.#queue.id) !== this.#queue) this.#end(refuse.badEventQueueId(this.#queue.id));
    else if (this.#state === "holding" && this.#events.length > 0) this.#end(this.#answer());
  }

  /** An event could not be built: a gap, which is said (E2). */
  failed(): void {
    this.#end(refuse.badEventQueueId(this.#queue.id));
  }

  /** Another reader takes the queue: answer with what there is, which can be nothing (behaviour 4.2). */
  replace(): void {
    if (this.#state === "collecting") this.#giveBack(this.#after + 1);
    this.#end(this.#state === "collecting" ? noEvents : this.#answer());
  }

  /**
   * The server stops. The answer is never an empty list: gozulipbot (matterbridge) takes one for a queue that begins anew, and asks for
   * its whole history. A heartbeat takes an id of now, so it would skip what a collecting poll has not read yet.
   */
  dismiss(): void {
    if (this.#state === "holding") this.#end(this.#heartbeat());
    else this.abandon(refuse.shuttingDown());
  }

  /** What it was to get waits for who comes with a good key. */
  keyEnded(cause: KeyEnd): void {
    this.abandon(refusals[cause]());
  }

  /** The client hung up: what it was to get is given to the next reader. */
  abandon(answer: Handled = noEvents): void {
    if (this.#state === "collecting") this.#giveBack(this.#after + 1);
    else if (this.#firstPushed !== null) this.#giveBack(this.#firstPushed);
    this.#end(answer);
  }

  #giveBack(from: number): void {
    if (this.#state === "over") return;
    this.#queue.firstPending = Math.min(this.#queue.firstPending ?? from, from);
    this.#queue.deliveredUpTo = Math.min(this.#queue.deliveredUpTo, from - 1);
  }

  #answer(): Handled {
    return { kind: "encoded", fields: `"events":[${this.#events.join(",")}]` };
  }

  /** A heartbeat takes an id, so that a quiet client moves on with the log. */
  #heartbeat(): Handled {
    const id = this.#hub.realm.dispatcher.takePosition();
    this.#queue.deliveredUpTo = Math.max(this.#queue.deliveredUpTo, id);
    return { kind: "encoded", fields: `"events":[${JSON.stringify({ type: "heartbeat", id })}]` };
  }

  #end(handled: Handled): void {
    if (this.#state === "over") return;
    if (this.#state === "holding") this.#hub.realm.dispatcher.wheel.cancel(this.#timer);
    this.#state = "over";
    this.#queue.unreadSince = this.#hub.realm.dispatcher.wheel.now;
    if (this.#queue.reader === this) this.#queue.reader = noReader;
    this.#resolve(handled);
  }
}

const noEvents: Handled = { kind: "encoded", fields: '"events":[]' };

/** Spread over the window by the queue, so that clients that came together do not all poll together. */
function heartbeatDelay(queue: LiveQueue): number {
  let hash = 0;
  for (const character of queue.id) hash = (hash * 31 + character.charCodeAt(0)) % 1000;
  return limits.heartbeat_ms_min + ((limits.heartbeat_ms_max - limits.heartbeat_ms_min) * hash) / 1000;
}

const refusals: Readonly<Record<KeyEnd, () => Handled>> = {
  notAuthenticated: refuse.invalidApiKey,
  deactivated: refuse.userDeactivated,
  realmDeactivated: refuse.realmDeactivated,
};
