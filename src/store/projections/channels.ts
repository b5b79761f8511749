/** Channels by id and by folded name, and subscriptions by user and by channel. */

import type { ChannelRecord } from "../../../schemas/channels.ts";
import { fold } from "../../../schemas/fold.ts";
import type { SubscriptionRecord } from "../../../schemas/subscriptions.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { addAscending, type Delta, type Projection, sortedEntries, sortedNumbers } from "./projection.ts";

export class ChannelsProjection implements Projection {
  readonly tables = ["channels"] as const;
  readonly #byId = new Map<number, ChannelRecord>();
  readonly #byName = new Map<string, number>();
  /** Ascending, so in order of creation. */
  readonly #byCreator = new Map<number, number[]>();

  check({ row: channel }: Delta<"channels">): void {
    if (channel !== null) fold(channel.name);
  }

  apply(delta: Delta<"channels">): void {
    const id = delta.key;
    const before = this.#byId.get(id);
    if (before !== undefined) this.#byName.delete(fold(before.name));
    const after = delta.row;
    if (before?.creatorId !== after?.creatorId)
      this.#setCreator(id, before?.creatorId ?? null, after?.creatorId ?? null);
    if (after === null) {
      this.#byId.delete(id);
      return;
    }
    this.#byId.set(id, after);
    this.#byName.set(fold(after.name), id);
  }

  #setCreator(id: number, before: number | null, after: number | null): void {
    if (before !== null) {
      const left = (this.#byCreator.get(before) ?? []).filter((other) => other !== id);
      if (left.length === 0) this.#byCreator.delete(before);
      else this.#byCreator.set(before, left);
    }
    if (after === null) return;
    const own = this.#byCreator.get(after);
    if (own === undefined) this.#byCreator.set(after, [id]);
    else addAscending(own, id);
  }

  get(id: number): ChannelRecord | undefined {
    return this.#byId.get(id);
  }

  byName(name: string): ChannelRecord | undefined {
    const id = this.#byName.get(fold(name));
    return id === undefined ? undefined : this.#byId.get(id);
  }

  all(): Iterable<ChannelRecord> {
    return this.#byId.values();
  }

  get size(): number {
    return this.#byId.size;
  }

  createdSince(userId: number, time: number): number {
    const own = this.#byCreator.get(userId) ?? [];
    let count = 0;
    while (count < own.length && this.#createdAt(own[own.length - 1 - count] as number) >= time) count++;
    return count;
  }

  #createdAt(id: number): number {
    return this.#byId.get(id)?.createdAt ?? 0;
  }

  snapshot(): unknown {
    return {
      byId: sortedEntries(this.#byId),
      byName: sortedEntries(this.#byName),
      byCreator: sortedEntries(this.#byCreator),
    };
  }
}

const nobody: ReadonlySet<number> = new Set();

/** A deactivated user keeps the rows but does not count as a subscriber (behaviour 2.20). */
export class SubscriptionsProjection implements Projection {
  readonly tables = ["channels", "subscriptions", "users"] as const;
  readonly #rows = new Map<number, { creatorId: number | null; count: number }>();
  #size = 0;
  /** By the creator of their channels. */
  readonly #sizeByCreator = new Map<number, number>();
  readonly #byUser = new Map<number, Map<number, SubscriptionRecord>>();
  readonly #subscribers = new Map<number, Set<number>>();
  readonly #former = new Map<number, Set<number>>();
  readonly #deactivated = new Set<number>();
  /** Versions of the lists of subscribers, by channel. Derived data; not part of the snapshot. */
  readonly #versions = new Map<number, number>();

  apply(delta: Delta<"channels" | "subscriptions" | "users">): void {
    if (delta.table === "users") this.#applyUser(delta.key, delta.row);
    else if (delta.table === "channels") this.#applyChannel(delta.key, delta.row);
    else this.#applySubscription(delta.key, delta.row);
  }

  #applyUser(userId: number, user: UserRecord | null): void {
    const isActive = user === null || user.isActive;
    if (isActive !== this.#deactivated.has(userId)) return;
    if (isActive) this.#deactivated.delete(userId);
    else this.#deactivated.add(userId);
    for (const own of this.ofUser(userId)) this.#setSubscription(own.channelId, userId, own);
  }

  #applyChannel(id: number, channel: ChannelRecord | null): void {
    const rows = this.#rowsOf(id);
    this.#countFor(rows.creatorId, -rows.count);
    rows.creatorId = channel?.creatorId ?? null;
    this.#countFor(rows.creatorId, rows.count);
    if (channel === null && rows.count === 0) this.#rows.delete(id);
  }

  #rowsOf(channelId: number): { creatorId: number | null; count: number } {
    const known = this.#rows.get(channelId);
    if (known !== undefined) return known;
    const rows = { creatorId: null, count: 0 };
    this.#rows.set(channelId, rows);
    return rows;
  }

  #countFor(creatorId: number | null, change: number): void {
    if (creatorId === null || change === 0) return;
    const count = this.inChannelsOf(creatorId) + change;
    if (count === 0) this.#sizeByCreator.delete(creatorId);
    else this.#sizeByCreator.set(creatorId, count);
  }

  #applySubscription([channelId, userId]: readonly [number, number], after: SubscriptionRecord | null): void {
    const own = this.#byUser.get(userId);
    const change = (after === null ? 0 : 1) - (own?.has(channelId) === true ? 1 : 0);
    const rows = this.#rowsOf(channelId);
    rows.count += change;
    this.#size += change;
    this.#countFor(rows.creatorId, change);
    if (after === null) {
      own?.delete(channelId);
      if (own?.size === 0) this.#byUser.delete(userId);
    } else if (own === undefined) {
      this.#byUser.set(userId, new Map([[channelId, after]]));
    } else {
      own.set(channelId, after);
    }
    this.#setSubscription(channelId, userId, after);
  }

  #setSubscription(channelId: number, userId: number, subscription: SubscriptionRecord | null): void {
    const isSubscribed = subscription?.isActive === true && !this.#deactivated.has(userId);
    if (isSubscribed !== this.isSubscribed(userId, channelId)) {
      this.#versions.set(channelId, this.versionOf(channelId) + 1);
    }
    putIn(this.#subscribers, channelId, userId, isSubscribed);
    putIn(this.#former, channelId, userId, subscription?.isActive === false);
  }

  get(userId: number, channelId: number): SubscriptionRecord | undefined {
    return this.#byUser.get(userId)?.get(channelId);
  }

  isSubscribed(userId: number, channelId: number): boolean {
    return this.#subscribers.get(channelId)?.has(userId) === true;
  }

  ofUser(userId: number): Iterable<SubscriptionRecord> {
    return this.#byUser.get(userId)?.values() ?? [];
  }

  ofChannel(channelId: number): ReadonlySet<number> {
    return this.#subscribers.get(channelId) ?? nobody;
  }

  versionOf(channelId: number): number {
    return this.#versions.get(channelId) ?? 0;
  }

  formerOfChannel(channelId: number): ReadonlySet<number> {
    return this.#former.get(channelId) ?? nobody;
  }

  get size(): number {
    return this.#size;
  }

  inChannelsOf(creatorId: number): number {
    return this.#sizeByCreator.get(creatorId) ?? 0;
  }

  snapshot(): unknown {
    const sets = (map: ReadonlyMap<number, ReadonlySet<number>>) =>
      sortedEntries(map).map(([id, users]) => [id, sortedNumbers(users)]);
    return {
      byUser: sortedEntries(this.#byUser).map(([id, own]) => [id, sortedEntries(own)]),
      subscribers: sets(this.#subscribers),
      former: sets(this.#former),
      deactivated: sortedNumbers(this.#deactivated),
      size: this.#size,
      sizeByCreator: sortedEntries(this.#sizeByCreator),
    };
  }
}

function putIn(sets: Map<number, Set<number>>, key: number, member: number, isIn: boolean): void {
  const set = sets.get(key);
  if (isIn) {
    if (set === undefined) sets.set(key, new Set([member]));
    else set.add(member);
    return;
  }
  set?.delete(member);
  if (set?.size === 0) sets.delete(key);
}
