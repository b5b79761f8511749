/** Signals over the page's state: what the views read. Only connection.ts and actions.ts change them. */
import { computed, signal } from "@preact/signals";
import type { Message } from "../../client/src/api/index.ts";
import type { Events } from "../../client/src/exports.ts";
import { applyEvent, type ChatState, type ReducerOptions } from "../../client/src/state/index.ts";
import {
  applyToMessages,
  type MessageStore,
  markedStale,
  noMessages,
  Recording,
  remuted,
} from "./state/message-lists.ts";
import { inbox, type Place, placeOf, type Reader } from "./state/narrow.ts";

export type AnyEvent = Events[keyof Events];
export type Person = NonNullable<ChatState["realm_users"]>[number];

export const reducerOptions: ReducerOptions = { includesSubscribers: false, unknownUser: null };

/** Null until the first registration. */
export const chat = signal<ChatState | null>(null);
export const messages = signal<MessageStore>(noMessages);

export type Connection =
  /** `refused`: the server does not understand this page, so another attempt is useless. */
  { readonly state: "connecting" | "live" | "refused" } | { readonly state: "offline"; readonly since: number };
export const connection = signal<Connection>({ state: "connecting" });

export const place = signal<Place>(placeOf(location.hash) ?? inbox);

/** Who types where: by conversation, the times at which they are taken to have stopped. */
export const typists = signal<ReadonlyMap<string, ReadonlyMap<number, number>>>(new Map());

/** Rises every half minute, for what depends on the time. */
export const minute = signal(Date.now());

export function applyToStore(event: AnyEvent): void {
  const state = chat.peek();
  if (state === null) return;
  const wasMuted = isMutedBy(event);
  chat.value = applyEvent(state, event, reducerOptions);
  messages.value = applyToMessages(messages.peek(), event, reader.peek());
  for (const recording of recordings) recording.add(event);
  if (isMutedBy(event) === wasMuted) return;
  messages.value = remuted(messages.peek(), reader.peek());
  outdateRequests();
}

function isMutedBy(event: AnyEvent): boolean {
  if (event.type === "user_topic") return isTopicMuted(event.stream_id, event.topic_name);
  return event.type === "subscription" && event.op === "update" && mutedChannels.peek().has(event.stream_id);
}

const recordings = new Set<Recording>();

/** @returns the recording, and what ends it */
export function recordEvents(): readonly [recording: Recording, stop: () => void] {
  const recording = new Recording();
  recordings.add(recording);
  return [recording, () => recordings.delete(recording)];
}

function outdateRequests(): void {
  for (const recording of recordings) recording.isWhole = false;
}

/** Events were missed: all lists are fetched again, and so are pages that were asked for before. */
export function outdateMessages(): void {
  messages.value = markedStale(messages.peek());
  outdateRequests();
}

export const myId = computed(() => chat.value?.user_id ?? 0);

/** Sections of the state, so that views depend on these alone. */
const users = computed(() => chat.value?.realm_users ?? []);
export const formerUsers = computed(() => chat.value?.realm_non_active_users ?? []);
export const subscriptions = computed(() => chat.value?.subscriptions ?? []);
const otherChannels = computed(() => chat.value?.never_subscribed ?? []);
const leftChannels = computed(() => chat.value?.unsubscribed ?? []);
export const unread = computed(() => chat.value?.unread ?? new Map<string, readonly number[]>());
export const unreadIds = computed(() => new Set([...unread.value.values()].flat()));
export const starred = computed(() => chat.value?.starred ?? new Set<number>());
export const mentions = computed(() => {
  const known = chat.value?.mentions ?? new Set<number>();
  const { archived } = unreadPlaces.value;
  return archived.size === 0 ? known : new Set([...known].filter((id) => !archived.has(id)));
});
export const userTopics = computed(() => chat.value?.user_topics ?? []);
export const folders = computed(() => chat.value?.channel_folders ?? []);
export const settings = computed(() => chat.value?.user_settings);
export const presences = computed(() => chat.value?.presences ?? {});
export const statuses = computed(() => chat.value?.user_status ?? {});
export const groups = computed(() => chat.value?.realm_user_groups ?? []);
export const directs = computed(() => chat.value?.recent_private_conversations ?? []);
export const drafts = computed(() => chat.value?.drafts ?? []);
export const scheduled = computed(() => chat.value?.scheduled_messages ?? []);
export const customEmoji = computed(() => chat.value?.realm_emoji ?? {});
export const activeUsers = users;

export const people = computed(
  () => new Map([...formerUsers.value, ...users.value].map((user) => [user.user_id, user])),
);
export const channels = computed(
  () =>
    new Map([...leftChannels.value, ...otherChannels.value, ...subscriptions.value].map((one) => [one.stream_id, one])),
);
export const subscribedIds = computed(() => new Set(subscriptions.value.map(({ stream_id: id }) => id)));
export const me = computed(() => people.value.get(myId.value));
export const isAdministrator = computed(() => (me.value?.role ?? 600) <= 200);

export function nameOf(userId: number): string {
  return people.value.get(userId)?.full_name ?? "Unknown user";
}

export function channelName(channelId: number): string | undefined {
  return channels.value.get(channelId)?.name;
}

/** The name of a topic as people see it: the empty one has a name of its own. */
export function topicLabel(topic: string): string {
  return topic === "" ? (chat.value?.realm_empty_topic_display_name ?? "general chat") : topic;
}

/**
 * The topic that the server means by a name: without blanks at its ends, empty for the names of the empty topic, and cut
 * if it is too long.
 */
export function topicNamed(name: string): string {
  const trimmed = name.trim();
  const emptyName = chat.peek()?.realm_empty_topic_display_name ?? "general chat";
  if (trimmed === "(no topic)" || trimmed === emptyName) return "";
  const max = chat.peek()?.max_topic_length ?? 60;
  const characters = [...trimmed];
  return characters.length > max ? `${characters.slice(0, max - 3).join("")}...` : trimmed;
}

/** Policies of topics: 1 muted, 2 unmuted, 3 followed. */
export const topicPolicies = computed(
  () =>
    new Map(userTopics.value.map((one) => [`${one.stream_id}:${one.topic_name.toLowerCase()}`, one.visibility_policy])),
);

export function topicPolicy(channelId: number, topic: string): number {
  return topicPolicies.value.get(`${channelId}:${topic.toLowerCase()}`) ?? 0;
}

export const mutedChannels = computed(
  () => new Set(subscriptions.value.filter(({ is_muted: isMuted }) => isMuted).map(({ stream_id: id }) => id)),
);

/** Who reads this page, for questions about lists of messages. */
export const reader = computed<Reader>(() => {
  const [userId, channels, policies] = [myId.value, mutedChannels.value, topicPolicies.value];
  const isChannelMuted = (channelId: number) => channels.has(channelId);
  return {
    userId,
    isChannelMuted,
    isTopicMuted: (channelId, topic) => {
      const policy = policies.get(`${channelId}:${topic.toLowerCase()}`) ?? 0;
      return policy === 1 || (policy === 0 && isChannelMuted(channelId));
    },
  };
});

export function isTopicMuted(channelId: number, topic: string): boolean {
  return reader.value.isTopicMuted(channelId, topic);
}

/** People whose messages are hidden. */
export const mutedPeople = computed(() => new Set(chat.value?.muted_users?.map(({ id }) => id)));

/** The other participants of a direct message. */
export function othersOf({ display_recipient: people }: Message): readonly number[] {
  return typeof people === "string" ? [] : people.map(({ id }) => id).filter((id) => id !== myId.peek());
}

/** Whether a direct conversation is hidden in all lists but its own: it is with one person, who is muted. */
export function isDirectMuted(others: readonly number[]): boolean {
  return others.length === 1 && mutedPeople.value.has(others[0] ?? 0);
}

export interface UnreadTopic {
  readonly channelId: number;
  readonly topic: string;
  readonly ids: readonly number[];
}

/**
 * The unread conversations, split into topics by channel and direct ones. Nobody waits for an answer in an archived
 * channel, so its messages are not among them.
 */
export const unreadPlaces = computed(() => {
  const byChannel = new Map<number, UnreadTopic[]>();
  const archived = new Set<number>();
  const direct: { readonly userIds: readonly number[]; readonly ids: readonly number[] }[] = [];
  for (const [key, ids] of unread.value) {
    const colon = key.indexOf(":");
    if (colon < 0) direct.push({ userIds: key === "" ? [myId.value] : key.split(",").map(Number), ids });
    else {
      const channelId = Number(key.slice(0, colon));
      if (channels.value.get(channelId)?.is_archived === true) {
        for (const id of ids) archived.add(id);
        continue;
      }
      const topics = byChannel.get(channelId) ?? [];
      topics.push({ channelId, topic: key.slice(colon + 1), ids });
      byChannel.set(channelId, topics);
    }
  }
  return { byChannel, direct, archived };
});

/** Unread messages outside muted topics: what the badges count. */
export const unreadTotal = computed(() => {
  let total = unreadPlaces.value.direct.reduce((sum, { ids }) => sum + ids.length, 0);
  for (const topics of unreadPlaces.value.byChannel.values()) {
    for (const { channelId, topic, ids } of topics) if (!isTopicMuted(channelId, topic)) total += ids.length;
  }
  return total;
});
