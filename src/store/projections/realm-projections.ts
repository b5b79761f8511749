/** All projections of one realm: rebuilt from rows when it opens, then updated by deltas (M9). */

import type { RealmEmojiRecord } from "../../../schemas/emoji.ts";
import { limits } from "../../../schemas/limits.ts";
import type { LinkifierRecord } from "../../../schemas/linkifiers.ts";
import type { TableName } from "../../../schemas/records.ts";
import { type SubscriptionRecord, subscriptionNotificationNames } from "../../../schemas/subscriptions.ts";
import { userSetting } from "../../../schemas/user-settings.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Lmdb } from "../lmdb.ts";
import { AlertWordsProjection } from "./alert-words.ts";
import { ChannelsProjection, SubscriptionsProjection } from "./channels.ts";
import { GroupsProjection } from "./groups.ts";
import { ProfilesProjection } from "./profiles.ts";
import { type Delta, deltaOf, type Projection, sortedEntries, sortedNumbers } from "./projection.ts";
import { PresenceProjection, QueuesProjection, RealmProjection } from "./queues.ts";
import { apiKeysProjection, sessionsProjection, UsersProjection } from "./users.ts";

/** The user whose row a delta is, or null if it may affect all users. */
const ownerOf: Readonly<Partial<Record<TableName, (key: unknown) => number | null>>> = {
  users: (key) => key as number,
  profileValues: (key) => (key as readonly [number, number])[0],
  profileFields: () => null,
};

/**
 * Versions of the data in lists of users, for caches of encoded lists (spec 4.15). Users are versioned in blocks of
 * neighbouring ids, so that a change of one user invalidates little of a long list. Opening a realm reads nothing for
 * it: the numbers are valid only within one process.
 */
class PeopleVersions {
  readonly tables = Object.keys(ownerOf) as TableName[];
  readonly #byChunk = new Map<number, number>();
  #ofAll = 0;
  #latest = 0;

  apply({ table, key }: Delta): void {
    this.#latest++;
    const id = ownerOf[table]?.(key) ?? null;
    if (id === null) this.#ofAll = this.#latest;
    else this.#byChunk.set(Math.floor(id / limits.encoded_users_per_piece), this.#latest);
  }

  get latest(): number {
    return this.#latest;
  }

  ofChunk(chunk: number): number {
    return Math.max(this.#byChunk.get(chunk) ?? 0, this.#ofAll);
  }
}

/** The number of invitations of each inviter, so that another one needs no scan of all. */
class InvitationsProjection implements Projection {
  readonly tables = ["invitations"] as const;
  readonly #inviterOf = new Map<number, number>();
  readonly #counts = new Map<number, number>();

  apply(delta: Delta<"invitations">): void {
    const id = delta.key;
    const before = this.#inviterOf.get(id);
    const after = delta.row?.inviterId;
    if (before !== undefined) this.#count(before, -1);
    if (after === undefined) {
      this.#inviterOf.delete(id);
      return;
    }
    this.#inviterOf.set(id, after);
    this.#count(after, 1);
  }

  #count(inviterId: number, change: 1 | -1): void {
    const count = this.ofInviter(inviterId) + change;
    if (count === 0) this.#counts.delete(inviterId);
    else this.#counts.set(inviterId, count);
  }

  ofInviter(inviterId: number): number {
    return this.#counts.get(inviterId) ?? 0;
  }

  snapshot(): unknown {
    return { inviterOf: sortedEntries(this.#inviterOf), counts: sortedEntries(this.#counts) };
  }
}

/** Custom emoji by id, and the active ones by name (public API: /realm/emoji). */
class RealmEmojiProjection implements Projection {
  readonly tables = ["realmEmoji"] as const;
  readonly #byId = new Map<number, RealmEmojiRecord>();
  readonly #activeByName = new Map<string, number>();

  apply(delta: Delta<"realmEmoji">): void {
    const id = delta.key;
    const before = this.#byId.get(id);
    if (before?.isActive === true) this.#activeByName.delete(before.name);
    const after = delta.row;
    if (after === null) {
      this.#byId.delete(id);
      return;
    }
    this.#byId.set(id, after);
    if (after.isActive) this.#activeByName.set(after.name, id);
  }

  get(id: number): RealmEmojiRecord | undefined {
    return this.#byId.get(id);
  }

  active(name: string): RealmEmojiRecord | undefined {
    const id = this.#activeByName.get(name);
    return id === undefined ? undefined : this.#byId.get(id);
  }

  all(): Iterable<RealmEmojiRecord> {
    return this.#byId.values();
  }

  snapshot(): unknown {
    return { byId: sortedEntries(this.#byId), active: sortedEntries(this.#activeByName) };
  }
}

const none: ReadonlySet<number> = new Set();

/** Bots by owner, so that finding a user's few bots needs no scan of all users. */
class BotsProjection implements Projection {
  readonly tables = ["users"] as const;
  readonly #ownerOf = new Map<number, number>();
  readonly #byOwner = new Map<number, Set<number>>();

  apply(delta: Delta<"users">): void {
    const id = delta.key;
    const owner = delta.row?.botOwnerId ?? null;
    const former = this.#ownerOf.get(id) ?? null;
    if (owner === former) return;
    if (former !== null) this.#leave(id, former);
    if (owner !== null) this.#join(id, owner);
  }

  #join(id: number, owner: number): void {
    this.#ownerOf.set(id, owner);
    const bots = this.#byOwner.get(owner);
    if (bots === undefined) this.#byOwner.set(owner, new Set([id]));
    else bots.add(id);
  }

  #leave(id: number, owner: number): void {
    this.#ownerOf.delete(id);
    const bots = this.#byOwner.get(owner);
    bots?.delete(id);
    if (bots?.size === 0) this.#byOwner.delete(owner);
  }

  /** Active and deactivated bots. */
  ofOwner(ownerId: number): ReadonlySet<number> {
    return this.#byOwner.get(ownerId) ?? none;
  }

  /** The bots of all owners. */
  all(): Iterable<number> {
    return this.#ownerOf.keys();
  }

  snapshot(): unknown {
    return sortedEntries(this.#byOwner).map(([owner, bots]) => [owner, sortedNumbers(bots)]);
  }
}

const emailIndex = subscriptionNotificationNames.indexOf("email_notifications");
const nobody: ReadonlySet<number> = new Set();

/** The users who want emails about every message in a channel, so that a post does not check each subscriber. */
class EmailSubscriptionsProjection implements Projection {
  readonly tables = ["subscriptions", "users"] as const;
  readonly #everywhere = new Set<number>();
  readonly #byChannel = new Map<number, Set<number>>();

  apply(delta: Delta<"subscriptions" | "users">): void {
    if (delta.table === "users") this.#applyUser(delta.key, delta.row);
    else this.#applySubscription(delta.key, delta.row);
  }

  #applyUser(id: number, user: UserRecord | null): void {
    if (user !== null && userSetting(user, "enable_stream_email_notifications")) this.#everywhere.add(id);
    else this.#everywhere.delete(id);
  }

  #applySubscription([channelId, userId]: readonly [number, number], row: SubscriptionRecord | null): void {
    const people = this.#byChannel.get(channelId);
    if (row?.isActive === true && row.notifications[emailIndex] === true) {
      if (people === undefined) this.#byChannel.set(channelId, new Set([userId]));
      else people.add(userId);
    } else if (people?.delete(userId) === true && people.size === 0) this.#byChannel.delete(channelId);
  }

  get everywhere(): ReadonlySet<number> {
    return this.#everywhere;
  }

  inChannel(channelId: number): ReadonlySet<number> {
    return this.#byChannel.get(channelId) ?? nobody;
  }

  snapshot(): unknown {
    const byChannel = sortedEntries(this.#byChannel).map(([id, people]) => [id, sortedNumbers(people)]);
    return { everywhere: sortedNumbers(this.#everywhere), byChannel };
  }
}

/** Linkifiers in order, because every new message needs them. */
class LinkifiersProjection implements Projection {
  readonly tables = ["linkifiers"] as const;
  readonly #byId = new Map<number, LinkifierRecord>();
  /** Sorted lazily; null after a change. */
  #inOrder: readonly LinkifierRecord[] | null = null;

  apply(delta: Delta<"linkifiers">): void {
    const row = delta.row;
    if (row === null) this.#byId.delete(delta.key);
    else this.#byId.set(row.id, row);
    this.#inOrder = null;
  }

  get inOrder(): readonly LinkifierRecord[] {
    this.#inOrder ??= [...this.#byId.values()].sort((a, b) => a.order - b.order || a.id - b.id);
    return this.#inOrder;
  }

  snapshot(): unknown {
    return sortedEntries(this.#byId);
  }
}

export class RealmProjections {
  readonly realm = new RealmProjection();
  readonly users = new UsersProjection();
  readonly bots = new BotsProjection();
  readonly apiKeys = apiKeysProjection();
  readonly sessions = sessionsProjection();
  readonly channels = new ChannelsProjection();
  readonly subscriptions = new SubscriptionsProjection();
  readonly groups = new GroupsProjection();
  readonly queues = new QueuesProjection();
  readonly presence = new PresenceProjection();
  readonly realmEmoji = new RealmEmojiProjection();
  readonly alertWords = new AlertWordsProjection();
  readonly profiles = new ProfilesProjection();
  readonly linkifiers = new LinkifiersProjection();
  readonly emailSubscriptions = new EmailSubscriptionsProjection();
  readonly invitations = new InvitationsProjection();
  readonly peopleVersions = new PeopleVersions();
  readonly #byTable = new Map<TableName, Projection[]>();
  readonly #counted = new Set<TableName>(this.peopleVersions.tables);

  constructor() {
    for (const projection of this.#all()) {
      for (const table of projection.tables) {
        const readers = this.#byTable.get(table);
        if (readers === undefined) this.#byTable.set(table, [projection]);
        else readers.push(projection);
      }
    }
  }

  #all(): Projection[] {
    return [
      this.realm,
      this.users,
      this.bots,
      this.apiKeys,
      this.sessions,
      this.channels,
      this.subscriptions,
      this.groups,
      this.queues,
      this.presence,
      this.realmEmoji,
      this.alertWords,
      this.profiles,
      this.linkifiers,
      this.emailSubscriptions,
      this.invitations,
    ];
  }

  /** Reads every projected table of the environment. */
  static rebuild(lmdb: Lmdb): RealmProjections {
    const projections = new RealmProjections();
    for (const table of projections.#byTable.keys()) {
      const deltas: Delta[] = [];
      lmdb.each(table, (row, key) => deltas.push(deltaOf(table, key, row)));
      // In order of update ids, see PresenceProjection.
      if (table === "presence") deltas.sort((a, b) => updateIdOf(a) - updateIdOf(b));
      for (const delta of deltas) projections.apply(delta);
    }
    return projections;
  }

  /** @throws Error when a projection could not read the row back */
  check(delta: Delta): void {
    for (const reader of this.#byTable.get(delta.table) ?? []) reader.check?.(delta);
  }

  apply(delta: Delta): void {
    if (this.#counted.has(delta.table)) this.peopleVersions.apply(delta);
    const readers = this.#byTable.get(delta.table);
    if (readers === undefined) return;
    for (const reader of readers) reader.apply(delta);
  }

  snapshot(): unknown {
    return this.#all().map((projection) => [projection.tables, projection.snapshot()]);
  }
}

function updateIdOf(delta: Delta): number {
  return (delta.row as { updateId: number }).updateId;
}
