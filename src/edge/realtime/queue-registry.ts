/** The live queues of a realm by id, user and channel, so that the readers of an event are found without a scan. */
import type { View } from "../../../domain/view.ts";
import type { LiveQueue } from "./queue.ts";

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
