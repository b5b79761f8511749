/** The live queues of a realm by id, user and channel, so that the readers of an event are found without a scan. */
import type { View } from "../../../domain/view.ts";
import type { ApiKeyRecord } from "../../../schemas/authentication.ts";
import type { CloseCause } from "../../../schemas/close-codes.ts";
import type { RealmRecord } from "../../../schemas/realm-settings.ts";
import type { SessionRecord } from "../../../schemas/sessions.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Delta } from "../../runtime/dispatcher.ts";
import type { LiveQueue } from "./queue.ts";

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

const none: ReadonlySet<LiveQueue> = new Set();

export class QueueRegistry {
  readonly #view: View;
  readonly #byId = new Map<string, LiveQueue>();
  readonly #byUser = new Map<number, Set<LiveQueue>>();
  readonly #byChannel = new Map<number, Set<LiveQueue>>();
  readonly #allPublic = new Set<LiveQueue>();

  constructor(view: View) {
    this.#view = view;
  }

  add(queue: LiveQueue): void {
    this.#byId.set(queue.id, queue);
    join(this.#byUser, queue.userId, queue);
    for (const own of this.#view.subscriptions.ofUser(queue.userId)) {
      if (own.isActive) join(this.#byChannel, own.channelId, queue);
    }
    if (queue.options.allPublicStreams) this.#allPublic.add(queue);
  }

  remove(queue: LiveQueue): void {
    this.#byId.delete(queue.id);
    leave(this.#byUser, queue.userId, queue);
    for (const own of this.#view.subscriptions.ofUser(queue.userId)) leave(this.#byChannel, own.channelId, queue);
    this.#allPublic.delete(queue);
  }

  /** A user joined or left a channel. */
  subscriptionChanged(userId: number, channelId: number, isSubscribed: boolean): void {
    for (const queue of this.ofUser(userId)) {
      if (isSubscribed) join(this.#byChannel, channelId, queue);
      else leave(this.#byChannel, channelId, queue);
    }
  }

  get(id: string): LiveQueue | undefined {
    return this.#byId.get(id);
  }

  ofUser(userId: number): ReadonlySet<LiveQueue> {
    return this.#byUser.get(userId) ?? none;
  }

  ofChannel(channelId: number): ReadonlySet<LiveQueue> {
    return this.#byChannel.get(channelId) ?? none;
  }

  get allPublic(): ReadonlySet<LiveQueue> {
    return this.#allPublic;
  }

  all(): Iterable<LiveQueue> {
    return this.#byId.values();
  }

  get size(): number {
    return this.#byId.size;
  }
}

function join<K>(sets: Map<K, Set<LiveQueue>>, key: K, queue: LiveQueue): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([queue]));
  else set.add(queue);
}

function leave<K>(sets: Map<K, Set<LiveQueue>>, key: K, queue: LiveQueue): void {
  const set = sets.get(key);
  set?.delete(queue);
  if (set?.size === 0) sets.delete(key);
}
