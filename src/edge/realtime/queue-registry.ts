/**
 * The live queues of a realm by id, and their classes by user and channel, so that the readers of an event are found
 * without a scan.
 */
import type { View } from "../../../domain/view.ts";
import type { ApiKeyRecord } from "../../../schemas/authentication.ts";
import type { CloseCause } from "../../../schemas/close-codes.ts";
import type { QueueRecord } from "../../../schemas/queues.ts";
import type { RealmRecord } from "../../../schemas/realm-settings.ts";
import type { SessionRecord } from "../../../schemas/sessions.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Delta } from "../../runtime/dispatcher.ts";
import { LiveQueue, ReaderClass } from "./queue.ts";

/** Why a key is no longer valid. */
export type KeyEnd = Extract<CloseCause, "notAuthenticated" | "deactivated"> | "realmDeactivated";

export interface ApiKeyConnection {
  keyEnded(cause: KeyEnd): void;
}

/**
 * Open sockets and held polls by the API key or session that authenticated them. When it ends, its connections are
 * closed after the flush that ended it (M1). Their queues remain, so a client with valid credentials can resume.
 */
export class ConnectionsByApiKey {
  readonly #view: View;
  readonly #byKey = new Map<string, Set<ApiKeyConnection>>();
  /** Keys that were revoked in this turn, by hash. */
  readonly #ended = new Map<string, KeyEnd>();

  constructor(view: View) {
    this.#view = view;
  }

  add(keyHash: string, holder: ApiKeyConnection): void {
    const holders = this.#byKey.get(keyHash);
    if (holders === undefined) this.#byKey.set(keyHash, new Set([holder]));
    else holders.add(holder);
  }

  remove(keyHash: string, holder: ApiKeyConnection): void {
    const holders = this.#byKey.get(keyHash);
    holders?.delete(holder);
    if (holders?.size === 0) this.#byKey.delete(keyHash);
  }

  /** Follows the rows that decide which keys are valid. */
  changed(delta: Delta): void {
    if (delta.table === "apiKeys" || delta.table === "sessions") {
      const hash = delta.key as string;
      if ((delta.row as ApiKeyRecord | SessionRecord | null) === null) this.#ended.set(hash, "notAuthenticated");
      else this.#ended.delete(hash);
    } else if (delta.table === "users") {
      const user = delta.row as UserRecord | null;
      if (user === null || user.isActive) return;
      for (const { hash } of this.#view.apiKeysOf(user.id)) this.#ended.set(hash, "deactivated");
      for (const { hash } of this.#view.sessionsOf(user.id)) this.#ended.set(hash, "deactivated");
    } else if (delta.table === "realm" && ((delta.row as RealmRecord | null)?.deactivatedAt ?? null) !== null) {
      for (const hash of this.#byKey.keys()) this.#ended.set(hash, "realmDeactivated");
    }
  }

  /** Called after the turn. */
  endConnections(): void {
    if (this.#ended.size === 0) return;
    const ended = [...this.#ended];
    this.#ended.clear();
    for (const [hash, cause] of ended) {
      for (const holder of [...(this.#byKey.get(hash) ?? [])]) holder.keyEnded(cause);
    }
  }
}

const none: ReadonlySet<ReaderClass> = new Set();

export class QueueRegistry {
  readonly #view: View;
  readonly #byId = new Map<string, LiveQueue>();
  readonly #byUser = new Map<number, Set<ReaderClass>>();
  readonly #byChannel = new Map<number, Set<ReaderClass>>();
  readonly #allPublic = new Set<ReaderClass>();

  constructor(view: View) {
    this.#view = view;
  }

  /**
   * @param position the realm's next position
   * @param now milliseconds of the monotonic clock
   */
  open(record: QueueRecord, user: UserRecord, position: number, now: number): LiveQueue {
    const readerClass = this.#classOf(record, user);
    const queue = new LiveQueue(record, readerClass, position, now);
    readerClass.add(queue);
    this.#byId.set(queue.id, queue);
    return queue;
  }

  #classOf(record: QueueRecord, user: UserRecord): ReaderClass {
    for (const known of this.ofUser(record.userId)) if (known.isFor(record)) return known;
    const readerClass = new ReaderClass(this.#view, record, user);
    join(this.#byUser, record.userId, readerClass);
    for (const own of this.#view.subscriptions.ofUser(record.userId)) {
      if (own.isActive) join(this.#byChannel, own.channelId, readerClass);
    }
    if (record.options.allPublicStreams) this.#allPublic.add(readerClass);
    return readerClass;
  }

  remove(queue: LiveQueue): void {
    this.#byId.delete(queue.id);
    const { readerClass, userId } = queue;
    readerClass.remove(queue);
    if (readerClass.queues.length > 0) return;
    leave(this.#byUser, userId, readerClass);
    for (const own of this.#view.subscriptions.ofUser(userId)) leave(this.#byChannel, own.channelId, readerClass);
    this.#allPublic.delete(readerClass);
  }

  /** A user joined or left a channel. */
  subscriptionChanged(userId: number, channelId: number, isSubscribed: boolean): void {
    for (const readerClass of this.ofUser(userId)) {
      if (isSubscribed) join(this.#byChannel, channelId, readerClass);
      else leave(this.#byChannel, channelId, readerClass);
    }
  }

  get(id: string): LiveQueue | undefined {
    return this.#byId.get(id);
  }

  ofUser(userId: number): ReadonlySet<ReaderClass> {
    return this.#byUser.get(userId) ?? none;
  }

  ofChannel(channelId: number): ReadonlySet<ReaderClass> {
    return this.#byChannel.get(channelId) ?? none;
  }

  get allPublic(): ReadonlySet<ReaderClass> {
    return this.#allPublic;
  }

  classes(): ReaderClass[] {
    return [...this.#byUser.values()].flatMap((own) => [...own]);
  }

  all(): Iterable<LiveQueue> {
    return this.#byId.values();
  }

  get size(): number {
    return this.#byId.size;
  }
}

function join<K>(sets: Map<K, Set<ReaderClass>>, key: K, readerClass: ReaderClass): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([readerClass]));
  else set.add(readerClass);
}

function leave<K>(sets: Map<K, Set<ReaderClass>>, key: K, readerClass: ReaderClass): void {
  const set = sets.get(key);
  set?.delete(readerClass);
  if (set?.size === 0) sets.delete(key);
}
