/**
 * The hub of one realm: takes the events of a turn as they are applied, finds their readers at that very moment, and hands
 * them out after the flush (M1). Readers are long-polls, sockets, or nobody; for nobody only the position is noted, the
 * event itself is in the log.
 */

import { command, type OtherQueues } from "../../actors/commands.ts";
import type { EventRecord, QueueRecord, SubscriptionRecord, UserRecord } from "../../schemas/records.ts";
import { liveNarrowProblem, termsOf } from "../domain/narrow.ts";
import { hasMetadataAccess } from "../domain/permissions.ts";
import type { Delta, EventSink } from "../runtime/dispatcher.ts";
import type { StagedEvent } from "../runtime/effects-applier.ts";
import type { Realm } from "../runtime/realm.ts";
import { changeTypes, holdsCopy, sharesPublic } from "./audience.ts";
import { Mailing } from "./bundle.ts";
import { EncodedEvent } from "./encoded-event.ts";
import { KeyHolders } from "./key-holders.ts";
import { NewlyOnline } from "./newly-online.ts";
import { LiveQueue, noReader, type QueueOptions } from "./queue.ts";
import { QueueRegistry } from "./queue-registry.ts";

interface Delivery {
  readonly event: EncodedEvent;
  readonly queues: readonly LiveQueue[];
}

const collectIdleMs = 60_000;

export interface HubOptions {
  /** People are told only of those whom they may know (spec 4.7). */
  readonly limitsPresence: boolean;
  readonly reportBug: (error: unknown) => void;
}

export class Hub implements EventSink {
  readonly realm: Realm;
  /** Sockets and held polls by the key that opened them. */
  readonly keyHolders: KeyHolders;
  readonly #queues: QueueRegistry;
  #deliveries: Delivery[] = [];
  #ended: LiveQueue[] = [];
  #departed: number[] = [];
  #restart: EventRecord | null = null;
  readonly #newlyOnline: NewlyOnline;
  /** Told after the flush whose account is deactivated: sockets without a queue end, too. */
  onDeparture: (userId: number) => void = () => undefined;
  /** Polls that got something in this publication and are answered at its end. */
  readonly #polled = new Set<LiveQueue>();

  /** Told of an event that cannot be built: a bug, never what somebody did. */
  readonly reportBug: (error: unknown) => void;

  constructor(realm: Realm, { limitsPresence, reportBug }: HubOptions) {
    this.realm = realm;
    this.reportBug = reportBug;
    const { view, dispatcher } = realm;
    this.#newlyOnline = new NewlyOnline(view, dispatcher.wheel, limitsPresence, () => this.#publishOnline());
    this.keyHolders = new KeyHolders(realm.view);
    this.#queues = new QueueRegistry(realm.view);
    const kept = [...realm.projections.queues.all()];
    for (const record of kept.filter(canBeMatched)) this.#open(record);
    realm.dispatcher.attach(this);
    for (const record of kept) if (!canBeMatched(record)) this.#discard(record);
    this.#collectIdle();
  }

  /**
   * Tells queues that survived a restart of it (public API, `restart` events). The event is not logged: it has a position before
   * everything that happens from now on, so that a reader gets it in order, once for each start.
   */
  announceRestart(body: EventRecord["body"]): void {
    const queues = [...this.#queues.all()].filter((queue) => queue.wantsType("restart"));
    if (queues.length === 0) return;
    const { view, dispatcher } = this.realm;
    const position = dispatcher.takePosition();
    this.#restart = { position, at: view.now, type: "restart", audience: { to: "realm" }, body };
    for (const queue of queues) queue.firstPending ??= position;
  }

  /** null: no queue was there when the server started. */
  get restart(): EventRecord | null {
    return this.#restart;
  }

  queue(id: string): LiveQueue | undefined {
    return this.#queues.get(id);
  }

  /** The queues of a person in the order in which they may end when there are too many. */
  othersOf(userId: number): OtherQueues {
    const queues = [...this.#queues.ofUser(userId)].sort(
      (a, b) => a.unreadSince - b.unreadSince || a.record.createdAtPosition - b.record.createdAtPosition,
    );
    const isUnread = ({ reader }: LiveQueue) => reader.kind === "none";
    return {
      unread: queues.filter(isUnread).map(({ id }) => id),
      connected: queues.filter((queue) => !isUnread(queue)).map(({ id }) => id),
    };
  }

  get queueCount(): number {
    return this.#queues.size;
  }

  #open(record: QueueRecord): LiveQueue | undefined {
    const user = this.realm.view.users.get(record.userId);
    if (user === undefined) return undefined;
    const queue = new LiveQueue(
      this.realm.view,
      record,
      user,
      this.realm.view.position,
      this.realm.dispatcher.wheel.now,
    );
    this.#queues.add(queue);
    return queue;
  }

  /** Follows the rows that decide who reads what. */
  changed(delta: Delta): void {
    this.keyHolders.changed(delta);
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

  /** The readers of a queue that ended learn it after the flush, too (M1). */
  #end(queue: LiveQueue): void {
    this.#queues.remove(queue);
    if (queue.reader.kind !== "none") this.#ended.push(queue);
  }

  #dismissEnded(): void {
    const ended = this.#ended;
    this.#ended = [];
    for (const queue of ended) {
      const { reader } = queue;
      queue.reader = noReader;
      if (reader.kind === "socket") reader.gone();
      if (reader.kind === "poll") reader.finish();
    }
  }

  stage(staged: StagedEvent): void {
    const { record } = staged;
    if (record.type === "presence") {
      this.#newlyOnline.note(record.body["user_ids"] as readonly number[]);
      return;
    }
    const queues = this.#addressees(record).filter((queue) => queue.wants(this.realm.view, record));
    if (queues.length === 0) return;
    this.#deliveries.push({ event: new EncodedEvent(this.realm.view, record, staged.replaces), queues });
  }

  /** Who is addressed now, between this command and the next. */
  #addressees(record: EventRecord): LiveQueue[] {
    const { audience } = record;
    const { view } = this.realm;
    switch (audience.to) {
      case "realm":
        return [...this.#queues.all()];
      case "users":
        return audience.ids.flatMap((id) => [...this.#queues.ofUser(id)]);
      case "channel": {
        const subscribed = this.#queues.ofChannel(audience.id);
        const isPlain = audience.also.length === 0 && !changeTypes.has(record.type);
        if (isPlain && this.#queues.allPublic.size === 0) return [...subscribed];
        const queues = new Set(subscribed);
        for (const queue of audience.also.flatMap((id) => [...this.#queues.ofUser(id)])) queues.add(queue);
        for (const queue of this.#copyHolders(record, audience.id)) queues.add(queue);
        for (const queue of this.#queues.allPublic) {
          const user = view.users.get(queue.userId);
          if (user !== undefined && sharesPublic(view, audience.id, user, queue)) queues.add(queue);
        }
        return [...queues];
      }
      case "channel-watchers": {
        const channel = view.channels.get(audience.id);
        if (channel === undefined) return [];
        const except = new Set(audience.except);
        return [...this.#queues.all()].filter((queue) => {
          const user = view.users.get(queue.userId);
          return user !== undefined && !except.has(user.id) && hasMetadataAccess(view, user, channel);
        });
      }
      default:
        return audience satisfies never;
    }
  }

  /** Queues of people who left the channel with a copy of what is deleted; only those that are read here are looked at. */
  #copyHolders(record: EventRecord, channelId: number): LiveQueue[] {
    if (!changeTypes.has(record.type)) return [];
    const { view } = this.realm;
    const former = view.subscriptions.formerOfChannel(channelId);
    if (former.size === 0) return [];
    return [...this.#queues.all()].filter(({ userId }) => former.has(userId) && holdsCopy(view, record, userId));
  }

  /** Called after the flush: nothing leaves before (M1). */
  publish(): void {
    if (this.#deliveries.length > 0) this.#deliverAll();
    for (const queue of this.#polled) {
      if (queue.reader.kind === "poll") queue.reader.finish();
    }
    if (this.#polled.size > 0) this.#polled.clear();
    if (this.#ended.length > 0) this.#dismissEnded();
    if (this.#departed.length > 0) {
      const departed = this.#departed;
      this.#departed = [];
      for (const userId of departed) this.onDeparture(userId);
    }
    this.keyHolders.publish();
  }

  /** Event by event, then socket by socket: each is written to once, however much the turn brought. */
  #deliverAll(): void {
    const deliveries = this.#deliveries;
    this.#deliveries = [];
    const mailing = new Mailing();
    for (const { event, queues } of deliveries) {
      for (const queue of queues) {
        try {
          this.#deliver(queue, event, mailing);
        } catch (error) {
          this.#notBuilt(queue, event, error);
        }
      }
    }
    mailing.send();
  }

  /** Nobody is left to guess what it was (E2): who would have got it is told of a gap, and everybody else goes on. */
  #notBuilt({ reader }: LiveQueue, event: EncodedEvent, error: unknown): void {
    this.reportBug(error);
    if (event.replaces === null && reader.kind !== "none") reader.failed();
  }

  #deliver(queue: LiveQueue, event: EncodedEvent, mailing: Mailing): void {
    const { reader } = queue;
    // A queue that was opened in this turn has the event in its state already.
    if (event.record.position <= queue.deliveredUpTo) return;
    if (reader.kind === "none") {
      if (event.replaces !== null) queue.keepVolatile(event.replaces, event);
      else queue.firstPending ??= event.record.position;
      return;
    }
    reader.push(event, mailing);
    if (reader.kind === "poll") this.#polled.add(queue);
  }

  /** Newly online people go out together, once per second (realtime.md). */
  #publishOnline(): void {
    const { view, dispatcher } = this.realm;
    const told = this.#newlyOnline.publish([...this.#queues.all()]);
    for (const { body, replaces, queues } of told) {
      const position = dispatcher.takePosition();
      const record: EventRecord = { position, at: view.now, type: "presence", audience: { to: "realm" }, body };
      this.#deliveries.push({ event: new EncodedEvent(view, record, replaces), queues });
    }
    this.publish();
  }

  /** Queues that nobody has read for their life span end (S3). */
  #collectIdle(): void {
    this.realm.dispatcher.wheel.set("queues:collect", collectIdleMs, () => {
      const { now } = this.realm.dispatcher.wheel;
      for (const queue of this.#queues.all()) {
        if (queue.reader.kind !== "none" || now - queue.unreadSince < queue.record.lifespanMs) continue;
        this.#discard(queue);
      }
      this.#collectIdle();
    });
  }

  /** Its client is answered BAD_EVENT_QUEUE_ID, and registers again. */
  #discard({ id, userId }: { readonly id: string; readonly userId: number }): void {
    this.realm.dispatcher.tell(command({ actor: "user", id: userId }, "queue.delete", { queueId: id }, null));
  }

  /** Shutdown: held polls are answered; their clients come back and resume. */
  dismissPolls(): void {
    for (const queue of this.#queues.all()) {
      if (queue.reader.kind === "poll") queue.reader.dismiss();
    }
  }
}

/** A queue from before an operator was refused in live narrows does not go on. */
function canBeMatched({ options }: QueueRecord): boolean {
  return liveNarrowProblem(termsOf((options as unknown as QueueOptions).narrow)) === null;
}
