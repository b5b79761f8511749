/**
 * The hub of one realm: takes the events of a turn as they are applied, finds their readers at that very moment, and hands
 * them out after the flush (M1). Readers are long-polls, sockets, or nobody; for nobody only the position is noted, the
 * event itself is in the log.
 */

import { command } from "../../actors/commands.ts";
import { limits } from "../../schemas/limits.ts";
import type { EventRecord, QueueRecord, SubscriptionRecord, UserRecord } from "../../schemas/records.ts";
import { hasMetadataAccess } from "../domain/permissions.ts";
import type { Delta, EventSink } from "../runtime/dispatcher.ts";
import type { StagedEvent } from "../runtime/effects-applier.ts";
import type { Realm } from "../runtime/realm.ts";
import { changeTypes, holdsCopy, sharesPublic } from "./audience.ts";
import { EncodedEvent } from "./encoded-event.ts";
import { KeyHolders } from "./key-holders.ts";
import { LiveQueue, noReader } from "./queue.ts";
import { QueueRegistry } from "./queue-registry.ts";

interface Delivery {
  readonly event: EncodedEvent;
  readonly queues: readonly LiveQueue[];
}

const collectIdleMs = 60_000;

export class Hub implements EventSink {
  readonly realm: Realm;
  /** Sockets and held polls by the key that opened them. */
  readonly keyHolders: KeyHolders;
  readonly #queues: QueueRegistry;
  #deliveries: Delivery[] = [];
  #ended: LiveQueue[] = [];
  #departed: number[] = [];
  #newlyOnline = new Set<number>();
  /** Told after the flush whose account is deactivated: sockets without a queue end, too. */
  onDeparture: (userId: number) => void = () => undefined;
  /** Polls that got something in this publication and are answered at its end. */
  readonly #polled = new Set<LiveQueue>();

  readonly #limitsPresence: boolean;

  /** @param limitsPresence people are told only of those whom they may know (spec 4.7) */
  constructor(realm: Realm, limitsPresence: boolean) {
    this.realm = realm;
    this.#limitsPresence = limitsPresence;
    this.keyHolders = new KeyHolders(realm.view);
    this.#queues = new QueueRegistry(realm.view);
    for (const record of realm.projections.queues.all()) this.#open(record);
    realm.dispatcher.attach(this);
    this.#collectIdle();
  }

  queue(id: string): LiveQueue | undefined {
    return this.#queues.get(id);
  }

  get queueCount(): number {
    return this.#queues.size;
  }

  #open(record: QueueRecord): LiveQueue | undefined {
    const user = this.realm.view.users.get(record.userId);
    if (user === undefined) return undefined;
    const queue = new LiveQueue(this.realm.view, record, user, this.realm.view.position, this.realm.view.now);
    this.#queues.add(queue);
    return queue;
  }

  /** Follows the rows that decide who reads what. */
  changed(delta: Delta): void {
    this.keyHolders.changed(delta);
    if (delta.table === "queues") {
      const id = delta.key as string;
      const known = this.#queues.get(id);
      if (delta.row !== null && known === undefined) this.#open(delta.row as QueueRecord);
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
      this.#noteOnline(record);
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
        if (this.#queues.allPublic.size === 0 && audience.also.length === 0) return [...subscribed];
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
    const deliveries = this.#deliveries;
    if (deliveries.length > 0) this.#deliveries = [];
    for (const { event, queues } of deliveries) {
      for (const queue of queues) this.#deliver(queue, event);
    }
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

  #deliver(queue: LiveQueue, event: EncodedEvent): void {
    const { reader } = queue;
    // A queue that was opened in this turn has the event in its state already.
    if (event.record.position <= queue.deliveredUpTo) return;
    if (reader.kind === "none") {
      if (event.replaces !== null) queue.keepVolatile(event.replaces, event);
      else queue.firstPending ??= event.record.position;
      return;
    }
    reader.push(event);
    if (reader.kind === "poll") this.#polled.add(queue);
  }

  /** Newly online people go out together, once per second (realtime.md). */
  #noteOnline(record: EventRecord): void {
    for (const id of record.body["user_ids"] as readonly number[]) this.#newlyOnline.add(id);
    const { wheel } = this.realm.dispatcher;
    if (!wheel.has("presence:publish")) {
      wheel.set("presence:publish", limits.presence_coalesce_ms, () => this.#publishOnline());
    }
  }

  #publishOnline(): void {
    const ids = [...this.#newlyOnline];
    this.#newlyOnline = new Set();
    for (const id of ids) this.#stageOnline([id], "legacy");
    this.#stageOnline(ids, "modern");
    this.publish();
  }

  #stageOnline(ids: readonly number[], form: "legacy" | "modern"): void {
    const { view, dispatcher } = this.realm;
    const queues = [...this.#queues.all()].filter(
      (queue) => queue.can("simplified_presence_events") === (form === "modern"),
    );
    if (queues.length === 0) return;
    const record: EventRecord = {
      position: dispatcher.takePosition(),
      at: view.now,
      type: "presence",
      audience: { to: "realm" },
      body: { user_ids: ids, form, is_limited: this.#limitsPresence },
    };
    const wanting = queues.filter((queue) => queue.wants(view, record));
    // Latest wins per person: news of one must not push out news of another.
    const replaces = `presence:${form}:${ids.join(",")}`;
    this.#deliveries.push({ event: new EncodedEvent(view, record, replaces), queues: wanting });
  }

  /** Queues that nobody has read for their life span end (S3). */
  #collectIdle(): void {
    this.realm.dispatcher.wheel.set("queues:collect", collectIdleMs, () => {
      const { now } = this.realm.view;
      for (const queue of this.#queues.all()) {
        if (queue.reader.kind !== "none" || now - queue.unreadSince < queue.record.lifespanMs) continue;
        this.realm.dispatcher.tell(
          command({ actor: "user", id: queue.userId }, "queue.delete", { queueId: queue.id }, null),
        );
      }
      this.#collectIdle();
    });
  }

  /** Shutdown: held polls are answered with what they have; their clients come back and resume. */
  dismissPolls(): void {
    for (const queue of this.#queues.all()) {
      if (queue.reader.kind === "poll") queue.reader.replace();
    }
  }
}
