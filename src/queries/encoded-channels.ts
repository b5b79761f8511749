/**
 * Channels and their lists of subscribers as JSON, for the state of POST /register. Both are the same for all readers,
 * so they are encoded once and kept until they change: channels bounded by `encoded_channels_characters_max`, lists by
 * `encoded_subscribers_bytes_max`, least recently used first. A request holds what it has prepared, so that the instant
 * in which it collects the state encodes only what has changed since, however many channels there are.
 */
import { LRUCache } from "lru-cache";
import { isRecentlyActive } from "../../domain/channels.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { channelBody, leftChannels, ownSubscriptionFields, subscribedChannels, visibleChannels } from "./channels.ts";
import { numberOf } from "./encoded-users.ts";
import type { BeginSection, JsonWriter, StateRequest } from "./state-section.ts";
import { isAround, type SubscriberLists, subscriberIds } from "./subscriptions.ts";

/** A channel object without its end, and what it depends on. */
interface KnownChannel {
  readonly channel: ChannelRecord;
  readonly groupsVersion: number;
  readonly activityVersion: number;
  readonly subscriberCount: number;
  readonly isRecentlyActive: boolean;
  readonly json: string;
}

/** The field with a channel's subscribers. */
interface KnownList {
  readonly version: number;
  readonly json: Buffer;
}

/** JSON of all organizations together, bounded by its size. */
export class KeptChannels {
  readonly channels: LRUCache<string, KnownChannel>;
  /** Whole lists; which users a partial one leaves out depends on the time. */
  readonly lists: LRUCache<string, KnownList>;

  constructor(charactersMax: number, listBytesMax: number) {
    this.channels = new LRUCache({ maxSize: charactersMax, sizeCalculation: ({ json }) => json.length });
    this.lists = new LRUCache({ maxSize: listBytesMax, sizeCalculation: ({ json }) => json.length });
  }
}

const keptChannels = new KeptChannels(limits.encoded_channels_characters_max, limits.encoded_subscribers_bytes_max);

/** Channels as JSON for one request. */
export class ChannelPieces {
  /** Characters that were encoded since it was last set. */
  made = 0;
  readonly #view: View;
  readonly #lists: SubscriberLists;
  readonly #kept: KeptChannels;
  readonly #channels = new Map<number, KnownChannel>();
  readonly #subscribers = new Map<number, KnownList>();
  #around: ReadonlySet<number> | null = null;

  constructor(view: View, lists: SubscriberLists, kept = keptChannels) {
    this.#view = view;
    this.#lists = lists;
    this.#kept = kept;
  }

  #nameOf(channelId: number): string {
    return `${numberOf(this.#view)}.${channelId}`;
  }

  /** Encodes both of these channels, in steps. */
  *prepare(channels: readonly ChannelRecord[]): Iterable<number> {
    for (const channel of channels) {
      this.start(channel);
      this.subscribers(channel.id);
      yield this.made;
      this.made = 0;
    }
  }

  /** The channel object without its end. */
  start(channel: ChannelRecord): string {
    const view = this.#view;
    const now = {
      channel,
      groupsVersion: view.groups.version,
      activityVersion: view.users.activityVersion,
      subscriberCount: view.subscriptions.ofChannel(channel.id).size,
      isRecentlyActive: isRecentlyActive(view, channel),
    };
    const known = this.#channels.get(channel.id) ?? this.#kept.channels.get(this.#nameOf(channel.id));
    if (known !== undefined && isSame(known, now)) {
      this.#channels.set(channel.id, known);
      return known.json;
    }
    const json = JSON.stringify(channelBody(view, channel)).slice(0, -1);
    this.made += json.length;
    const encoded = { ...now, json };
    this.#channels.set(channel.id, encoded);
    this.#kept.channels.set(this.#nameOf(channel.id), encoded);
    return json;
  }

  /** `,"subscribers":[...]` or `,"partial_subscribers":[...]`; null: the client has not asked for them. */
  subscribers(channelId: number): Buffer | null {
    if (this.#lists === "false") return null;
    const { subscriptions } = this.#view;
    const version = subscriptions.versionOf(channelId);
    const isWhole =
      this.#lists === "true" || subscriptions.ofChannel(channelId).size < limits.whole_subscriber_list_max;
    const known =
      this.#subscribers.get(channelId) ?? (isWhole ? this.#kept.lists.get(this.#nameOf(channelId)) : undefined);
    if (known?.version === version) {
      this.#subscribers.set(channelId, known);
      return known.json;
    }
    const ids = subscriberIds(this.#view, channelId);
    const around = isWhole ? null : this.#usersAround();
    const shown = around === null ? ids : ids.filter((id) => around.has(id));
    const json = Buffer.from(`,"${isWhole ? "" : "partial_"}subscribers":[${shown.join(",")}]`);
    this.made += ids.length * limits.subscriber_characters;
    const encoded = { version, json };
    this.#subscribers.set(channelId, encoded);
    if (isWhole) this.#kept.lists.set(this.#nameOf(channelId), encoded);
    return json;
  }

  /** Each user is looked at once for all channels. */
  #usersAround(): ReadonlySet<number> {
    if (this.#around !== null) return this.#around;
    const around = new Set<number>();
    for (const { id } of this.#view.users.all()) if (isAround(this.#view, id)) around.add(id);
    this.made += this.#view.users.size * limits.subscriber_characters;
    this.#around = around;
    return around;
  }
}

function isSame(known: KnownChannel, now: Omit<KnownChannel, "json">): boolean {
  return (
    known.channel === now.channel &&
    known.groupsVersion === now.groupsVersion &&
    known.activityVersion === now.activityVersion &&
    known.subscriberCount === now.subscriberCount &&
    known.isRecentlyActive === now.isRecentlyActive
  );
}

/** A channel at one moment. */
interface Entry {
  readonly start: string;
  /** Further fields. */
  readonly own: object | null;
  readonly subscribers: Buffer | null;
}

function listWriter(entries: readonly Entry[]): JsonWriter {
  return function* (parts) {
    let text = "[";
    let made = 0;
    for (const [index, { start, own, subscribers }] of entries.entries()) {
      if (index > 0) text += ",";
      text += start;
      if (own !== null) text += `,${JSON.stringify(own).slice(1, -1)}`;
      if (subscribers !== null) {
        parts.push(text, subscribers);
        text = "";
      }
      text += "}";
      made += start.length;
      if (made < limits.state_step_characters) continue;
      parts.push(text);
      text = "";
      yield made;
      made = 0;
    }
    parts.push(`${text}]`);
    yield made;
  };
}

function isShown(request: StateRequest, { isArchived }: ChannelRecord): boolean {
  return request.showsArchived || !isArchived;
}

export const channelPieces: BeginSection<"stream"> = (view, begunBy, request) => {
  const pieces = new ChannelPieces(view, "false");
  const shownTo = (user: UserRecord) => visibleChannels(view, user).filter((channel) => isShown(request, channel));
  return {
    prepare: () => pieces.prepare(shownTo(begunBy)),
    collect: (user) => ({
      streams: listWriter(
        shownTo(user).map((channel) => ({ start: pieces.start(channel), own: null, subscribers: null })),
      ),
    }),
  };
};

export const subscriptionPieces: BeginSection<"subscription"> = (view, begunBy, request) => {
  const pieces = new ChannelPieces(view, request.subscriberLists);
  const { allowsNullNotifications } = request;
  type Subscribed = ReturnType<typeof subscribedChannels>[number];
  const entryOf = (channel: ChannelRecord, own: object | null): Entry => ({
    start: pieces.start(channel),
    own,
    subscribers: pieces.subscribers(channel.id),
  });
  const ownEntry = ({ subscription, channel }: Subscribed) =>
    entryOf(channel, ownSubscriptionFields(view, subscription, allowsNullNotifications));
  return {
    prepare: () => pieces.prepare(visibleChannels(view, begunBy).filter((channel) => isShown(request, channel))),
    collect(user) {
      const subscribed = subscribedChannels(view, user).filter(({ channel }) => isShown(request, channel));
      const left = leftChannels(view, user).filter(({ channel }) => isShown(request, channel));
      const own = new Set([...subscribed, ...left].map(({ channel }) => channel.id));
      const others = visibleChannels(view, user).filter((channel) => !own.has(channel.id) && isShown(request, channel));
      return {
        subscriptions: listWriter(subscribed.map(ownEntry)),
        unsubscribed: listWriter(left.map(ownEntry)),
        never_subscribed: listWriter(others.map((channel) => entryOf(channel, null))),
      };
    },
  };
};
