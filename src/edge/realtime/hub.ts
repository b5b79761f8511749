/**
 * The hub of one realm. It finds the readers of each event of a turn at the moment the event is applied, and delivers
 * it after the turn, through the gate (M1). A reader is a long poll or a socket; for a queue without a reader only the
 * position is noted, because the log has the event.
 */

import { command } from "../../../actors/protocol/decision.ts";
import { liveNarrowProblem, termsOf } from "../../../domain/narrow/narrow.ts";
import { hasMetadataAccess } from "../../../domain/permissions.ts";
import type { StoredBody } from "../../../schemas/events.ts";
import type { OtherQueues, QueueRecord } from "../../../schemas/queues.ts";
import type { EventRecord } from "../../../schemas/runtime.ts";
import type { SubscriptionRecord } from "../../../schemas/subscriptions.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Counter } from "../../metrics/instruments.ts";
import type { Delta, EventSink } from "../../runtime/dispatcher.ts";
import type { Realm } from "../../runtime/realm.ts";
import type { StagedEvent } from "../../runtime/turn.ts";
import { changeTypes, receivesCopy, sharesPublic } from "./audience.ts";
import { EncodedEvent } from "./encoded-event.ts";
import { PublishBatch } from "./frame-batch.ts";
import { NewlyOnline } from "./newly-online.ts";
import type { LiveQueue, ReaderClass } from "./queue.ts";
import { ConnectionsByApiKey, QueueRegistry } from "./queue-registry.ts";

interface Delivery {
  readonly event: EncodedEvent;
  /** By class, so that the event is decided and encoded once for each. */
  readonly queues: readonly (readonly LiveQueue[])[];
}

const collectIdleMs = 60_000;

/**
 * The state that a hub hands to the next one of its realm in this process, so that clients do not notice when an idle
 * realm is closed.
 */
export interface ParkedHub {
  readonly restart: EventRecord | null;
  /** By queue; on the monotonic clock. */
  readonly unreadSince: ReadonlyMap<string, number>;
}

export interface HubOptions {
  /** null: the realm is opened for the first time in this process. */
  readonly parked?: ParkedHub | null;
  /** Presence is sent only for users that the viewer may know (spec 4.7). */
  readonly limitsPresence: boolean;
  readonly reportBug: (error: unknown) => void;
  /** Events handed to readers; absent where they are not counted. */
  readonly delivered?: Counter<"poll" | "socket">;
}

export class Hub implements EventSink {
  readonly realm: Realm;
  /** Sockets and held polls, by the API key that opened them. */
  readonly connectionsByApiKey: ConnectionsByApiKey;
  readonly #queues: QueueRegistry;
  #deliveries: Delivery[] = [];
  #ended: LiveQueue[] = [];
  #departed: number[] = [];
  #restart: EventRecord | null = null;
  readonly #newlyOnline: NewlyOnline;
  readonly #delivered: Counter<"poll" | "socket"> | null;
  /** In the running publication. */
  #counts = { poll: 0, socket: 0 };
  /**
   * Called after the turn with a user whose account was deactivated: their sockets without a queue are closed, too.
   */
  onDeparture: (userId: number) => void = () => undefined;
  /** Polls that received something in this publication; they are answered at its end. */
  readonly #polled = new Set<LiveQueue>();

  /** Reports an event that cannot be built: always a bug, never caused by user input. */
  readonly reportBug: (error: unknown) => void;

  constructor(realm: Realm, { limitsPresence, reportBug, parked = null, delivered }: HubOptions) {
    this.#delivered = delivered ?? null;
    this.realm = realm;
    this.#restart = parked?.restart ?? null;
    this.reportBug = reportBug;
    const { view, dispatcher } = realm;
    this.#newlyOnline = new NewlyOnline(view, dispatcher.volatileTimers, limitsPresence, () => this.#publishOnline());
    this.connectionsByApiKey = new ConnectionsByApiKey(realm.view);
    this.#queues = new QueueRegistry(realm.view);
    const kept = [...realm.projections.queues.all()];
    for (const record of kept.filter(canBeMatched)) {
      const queue = this.#open(record);
      if (queue !== undefined) queue.unreadSince = parked?.unreadSince.get(record.id) ?? queue.unreadSince;
    }
    realm.dispatcher.attach(this);
    for (const record of kept) if (!canBeMatched(record)) this.#discard(record);
    this.#collectIdle();
  }

  /**
   * Announces the restart to queues that survived it (public API, `restart` events). The event is not logged. It has a
   * position before everything that happens from now on, so a reader gets it in order, once per start.
   */
  announceRestart(body: StoredBody<"restart">): void {
    const queues = [...this.#queues.all()].filter((queue) => queue.wantsType("restart"));
    if (queues.length === 0) return;
    const { view, dispatcher } = this.realm;
    const position = dispatcher.takePosition();
    this.#restart = { position, at: view.now, type: "restart", audience: { to: "realm" }, body };
    for (const queue of queues) queue.firstPending ??= position;
  }

  /** Called when the realm is idle, and every queue unread. */
  park(): ParkedHub {
    const unreadSince = [...this.#queues.all()].map((queue) => [queue.id, queue.unreadSince] as const);
    return { restart: this.#restart, unreadSince: new Map(unreadSince) };
  }

  /** null if no queue wanted the event when the server started. */
  get restart(): EventRecord | null {
    return this.#restart;
  }

  queue(id: string): LiveQueue | undefined {
    this.realm.gate.reads.noteRead("queues");
    return this.#queues.get(id);
  }

  /** A user's queues, in the order in which they are removed when there are too many. */
  othersOf(userId: number): OtherQueues {
    const queues = [...this.#queues.ofUser(userId)]
      .flatMap((own) => own.queues)
      .sort((a, b) => a.unreadSince - b.unreadSince || a.record.createdAtPosition - b.record.createdAtPosition);
    const isUnread = ({ state }: LiveQueue) => state.kind === "unread";
    return {
      unread: queues.filter(isUnread).map(({ id }) => id),
      connected: queues.filter((queue) => !isUnread(queue)).map(({ id }) => id),
    };
  }

  get queueCount(): number {
    return this.#queues.size;
  }

  /** Queues with a long poll or a socket. */
  get readerCount(): number {
    let count = 0;
    for (const { state } of this.#queues.all()) if (state.kind !== "unread") count++;
    return count;
  }

  #open(record: QueueRecord): LiveQueue | undefined {
    const user = this.realm.view.users.get(record.userId);
    if (user === undefined) return undefined;
    return this.#queues.open(record, user, this.realm.view.position, this.realm.dispatcher.volatileTimers.now);
  }

  /** Follows the rows that decide who reads what. */
  apply(delta: Delta): void {
    this.connectionsByApiKey.changed(delta);
    if (delta.table === "queues") {
      const id = delta.key as string;
      const known = this.#queues.get(id);
      const record = this.realm.projections.queues.get(id);
      if (record !== undefined && known === undefined) this.#open(record);
      if (delta.row === null && known !== undefined) this.#end(known);
    } else if (delta.table === "subscriptions") {
      const [channelId, userId] = delta.key as [number, number];
      const row = delta.row as SubscriptionRecord | null;
      this.#queues.subscriptionChanged(userId, channelId, row?.isActive === true);
    } else if (delta.table === "users" && (delta.row as UserRecord | null)?.isActive === false) {
      this.#departed.push(delta.key as number);
    }
  }

  /** A removed queue is closed after the flush, which notifies its reader (M1). */
  #end(queue: LiveQueue): void {
    this.#queues.remove(queue);
    this.#ended.push(queue);
  }

  #closeEnded(): void {
    const ended = this.#ended;
    this.#ended = [];
    for (const queue of ended) queue.close();
  }

  stage(staged: StagedEvent): void {
    const { record } = staged;
    if (record.type === "presence") {
      this.#newlyOnline.note(record.body.user_ids);
      return;
    }
    const { view } = this.realm;
    const wanting = this.#addressees(record).map((one) => one.queuesWanting(view, record));
    const queues = wanting.filter(({ length }) => length > 0);
    if (queues.length === 0) return;
    this.#deliveries.push({ event: new EncodedEvent(view, record, staged.replaces), queues });
  }

  /** The queues addressed at this moment, between this command and the next. */
  #addressees(record: EventRecord): ReaderClass[] {
    const { audience } = record;
    const { view } = this.realm;
    switch (audience.to) {
      case "realm":
        return this.#queues.classes();
      case "users":
        return audience.ids.flatMap((id) => [...this.#queues.ofUser(id)]);
      case "channel": {
        const subscribed = this.#queues.ofChannel(audience.id);
        const isPlain = audience.also.length === 0 && !changeTypes.has(record.type);
        if (isPlain && this.#queues.allPublic.size === 0) return [...subscribed];
        const all = new Set(subscribed);
        for (const own of audience.also.flatMap((id) => [...this.#queues.ofUser(id)])) all.add(own);
        for (const own of this.#classesWithCopy(record, audience.id)) all.add(own);
        for (const one of this.#queues.allPublic) {
          const user = view.users.get(one.userId);
          if (user !== undefined && sharesPublic(view, audience.id, user, one)) all.add(one);
        }
        return [...all];
      }
      case "channel-watchers": {
        const channel = view.channels.get(audience.id);
        if (channel === undefined) return [];
        const except = new Set(audience.except);
        return this.#queues.classes().filter(({ userId }) => {
          const user = view.users.get(userId);
          return user !== undefined && !except.has(user.id) && hasMetadataAccess(view, user, channel);
        });
      }
      default:
        return audience satisfies never;
    }
  }

  /**
   * Classes of users who left the channel with a copy of a changed or deleted message. All classes are scanned, but only
   * if the channel has former subscribers.
   */
  #classesWithCopy(record: EventRecord, channelId: number): ReaderClass[] {
    if (!changeTypes.has(record.type)) return [];
    const { view } = this.realm;
    const former = view.subscriptions.formerOfChannel(channelId);
    if (former.size === 0) return [];
    return this.#queues.classes().filter(({ userId }) => former.has(userId) && receivesCopy(view, record, userId));
  }

  /** Called after the turn. Its events pass the gate before they are sent (M1). */
  publish(): void {
    if (this.#deliveries.length > 0) this.#deliverAll();
    // Before the polls are answered: the poll of a removed queue is rejected, whatever it received.
    if (this.#ended.length > 0) this.#closeEnded();
    for (const { state } of this.#polled) {
      if (state.kind === "poll") state.finish();
    }
    if (this.#polled.size > 0) this.#polled.clear();
    if (this.#departed.length > 0) {
      const departed = this.#departed;
      this.#departed = [];
      for (const userId of departed) this.onDeparture(userId);
    }
    this.connectionsByApiKey.endConnections();
  }

  /** Collects event by event and then writes once per socket, however many events the turn has. */
  #deliverAll(): void {
    const deliveries = this.#deliveries;
    this.#deliveries = [];
    const batch = new PublishBatch();
    for (const { events, queues } of byQueues(deliveries)) {
      for (const queue of queues) for (const event of events) this.#deliver(queue, event, batch);
    }
    batch.end(this.realm.gate, this.reportBug);
    this.#delivered?.add("poll", this.#counts.poll);
    this.#delivered?.add("socket", this.#counts.socket);
    this.#counts = { poll: 0, socket: 0 };
  }

  /** If an event cannot be built, its readers get an explicit gap (E2). Other readers are unaffected. */
  #notBuilt({ state }: LiveQueue, event: EncodedEvent, error: unknown): void {
    this.reportBug(error);
    if (event.replaces === null && (state.kind === "poll" || state.kind === "socket")) state.failed();
  }

  #deliver(queue: LiveQueue, event: EncodedEvent, batch: PublishBatch): void {
    try {
      this.#deliverTo(queue, event, batch);
    } catch (error) {
      this.#notBuilt(queue, event, error);
    }
  }

  #deliverTo(queue: LiveQueue, event: EncodedEvent, batch: PublishBatch): void {
    // A queue that was opened in this turn already has the event in its initial state.
    if (event.record.position <= queue.deliveredUpTo) return;
    const { state } = queue;
    switch (state.kind) {
      case "unread":
        if (event.replaces !== null) queue.keepVolatile(event.replaces, event);
        else queue.firstPending ??= event.record.position;
        return;
      case "poll":
        this.#counts.poll++;
        state.push(event, batch);
        this.#polled.add(queue);
        return;
      case "socket":
        this.#counts.socket++;
        state.push(event, batch);
        return;
      case "closed":
        return;
      default:
        state satisfies never;
    }
  }

  /** Newly online users are sent together, once per second (docs/realtime.md). */
  #publishOnline(): void {
    const { view, dispatcher } = this.realm;
    const notices = this.#newlyOnline.takeNotices(this.#queues.classes());
    for (const { body, replaces, classes } of notices) {
      const position = dispatcher.takePosition();
      const record: EventRecord = { position, at: view.now, type: "presence", audience: { to: "realm" }, body };
      this.#deliveries.push({
        event: new EncodedEvent(view, record, replaces),
        queues: classes.map((one) => one.queues),
      });
    }
    this.publish();
  }

  /** Removes queues without a reader for longer than their lifespan (S3). */
  #collectIdle(): void {
    this.realm.dispatcher.volatileTimers.set("queues:collect", collectIdleMs, () => {
      const { now } = this.realm.dispatcher.volatileTimers;
      for (const queue of this.#queues.all()) {
        if (queue.state.kind !== "unread" || now - queue.unreadSince < queue.record.lifespanMs) continue;
        this.#discard(queue);
      }
      this.#collectIdle();
    });
  }

  /** The client gets BAD_EVENT_QUEUE_ID on its next request and registers again. */
  #discard({ id, userId }: { readonly id: string; readonly userId: number }): void {
    this.realm.dispatcher.send(command({ actor: "user", id: userId }, "queue.delete", { queueId: id }, null));
  }

  /** At a shutdown held polls are answered; their clients reconnect and resume. */
  dismissPolls(): void {
    for (const { state } of this.#queues.all()) {
      if (state.kind === "poll") state.dismiss();
    }
  }
}

interface EventsOfQueues {
  readonly queues: readonly LiveQueue[];
  readonly events: EncodedEvent[];
}

/**
 * All events of a queue come one after the other, in their order, because going from socket to socket costs more than
 * going from event to event: each socket's objects must come from memory.
 */
function byQueues(deliveries: readonly Delivery[]): readonly EventsOfQueues[] {
  const all = new Map<ReaderClass, EventsOfQueues[]>();
  for (const { event, queues } of deliveries) {
    for (const alike of queues) {
      const [first] = alike;
      if (first === undefined) continue;
      const known = all.get(first.readerClass);
      const last = known?.at(-1);
      if (last?.queues === alike) last.events.push(event);
      else if (known !== undefined) known.push({ queues: alike, events: [event] });
      else all.set(first.readerClass, [{ queues: alike, events: [event] }]);
    }
  }
  return [...all.values()].flat();
}

/** A queue whose narrow has an operator that live narrows no longer accept is not reopened. */
function canBeMatched({ options }: QueueRecord): boolean {
  return liveNarrowProblem(termsOf(options.narrow)) === null;
}
