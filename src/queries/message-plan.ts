/**
 * Chooses the indexes for walking a narrow (architecture, Feeds over many channels): a set of id streams, each of which
 * contains every match. A feed over many places has two plans: dense, the newest messages with a filter, and sparse,
 * the merged indexes of the places. A walk begins dense and switches to sparse when it finds few matches.
 */

import type { Narrowed } from "../../domain/narrow/narrow.ts";
import { ReadState } from "../../domain/read-state.ts";
import type { View } from "../../domain/view.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import { personalFlags } from "../../schemas/message-flags.ts";
import type { Seen } from "../../schemas/read-state.ts";
import type { SubscriptionRecord } from "../../schemas/subscriptions.ts";
import { topicPolicies } from "../../schemas/user-topics.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  ClippedStream,
  type IdStream,
  KeyStream,
  ListStream,
  SiftedStream,
  type Spend,
  type Step,
  unionOf,
} from "./id-streams.ts";
import {
  channelStream,
  conversationStream,
  type IndexedStream,
  indexEntries,
  type MessageIndexRef,
  messageStream,
  SearchStreams,
} from "./search-streams.ts";
import type { WalkedWord } from "./searched-words.ts";

export type PlanKind = "dense" | "sparse";

export interface Plan {
  /** Every match is in all of them; never empty. */
  readonly streams: readonly IdStream[];
  /**
   * For the dense plan only: number of messages to examine before switching to the sparse plan; null: there is no other
   * plan.
   */
  readonly patience: number | null;
}

/** With what the search index contributes. */
export interface SearchPlan extends Plan {
  /** Messages from this id on are examined although the index does not list them; infinite: none is. */
  readonly unindexedFrom: number;
}

/** Number of messages that can be examined for the cost of merging one more index. */
const rowsPerPlace = 4;
const patience_min = 500;

/** The walk; the plan's streams charge `spend` for reads beyond a seek. */
export interface Walker {
  readonly reader: UserRecord;
  readonly narrowed: Narrowed;
  /** Words that every match contains. */
  readonly words: readonly WalkedWord[];
  /** Leaves out the messages that the search index does not list. */
  readonly isIndexOnly: boolean;
  readonly step: Step;
  readonly spend: Spend;
}

export function planOf(view: View, walker: Walker, kind: PlanKind): SearchPlan {
  const { reader, narrowed, step, isIndexOnly } = walker;
  const search = new SearchStreams(view, step, isIndexOnly);
  const filed = narrowed.filed.map((terms) => search.filed(terms));
  const words = walker.words.map((word) => search.word(word));
  const indexed = [...filed, ...words];
  // Without a word to look up, a search examines every message of the place.
  const isUnaided = indexed.length === 0 && narrowed.search !== null;
  const examined = isUnaided && isIndexOnly ? [new ListStream(step, [])] : [];
  const place = placeOf(view, reader, narrowed, step, kind);
  const unread = narrowed.isUnreadOnly ? [unreadStream(view, walker, kind)] : [];
  const streams = [...examined, ...place.streams, ...unread, ...indexed.map(({ stream }) => stream)];
  const patience = place.patience ?? (narrowed.isUnreadOnly ? patience_min : null);
  return {
    streams: streams.length > 0 ? streams : [messageStream(view, step, 0)],
    patience,
    unindexedFrom: isUnaided && !isIndexOnly ? 0 : unindexedFromOf(indexed),
  };
}

/** A match is in all streams, so one that lists only indexed messages suffices. */
function unindexedFromOf(indexed: readonly IndexedStream[]): number {
  if (indexed.length === 0) return Number.POSITIVE_INFINITY;
  return Math.max(...indexed.map(({ unindexedFrom }) => unindexedFrom));
}

function only(stream: IdStream): Plan {
  return { streams: [stream], patience: null };
}

function placeOf(view: View, reader: UserRecord, narrowed: Narrowed, step: Step, kind: PlanKind): Plan {
  const { source } = narrowed;
  const merge = (ids: readonly number[]) =>
    only(
      unionOf(
        step,
        ids.map((id) => conversationStream(view, step, id)),
      ),
    );
  switch (source.kind) {
    case "nothing":
      return only(new ListStream(step, []));
    case "message":
      return only(new ListStream(step, [source.id]));
    case "channel":
      return only(channelStream(view, step, source.channelId));
    case "conversation":
      return only(conversationStream(view, step, source.conversationId));
    case "starred":
      return only(starredStream(view, step, reader.id));
    case "topic":
      return merge(topicIds(view, reader, source.topic));
    case "followed":
      return merge(followedIds(view, reader));
    case "directs":
      return alternative(kind, directIds(view, reader, source.userId), (id) => conversationStream(view, step, id));
    case "open-channels": {
      const isOfKind = source.which === "public" ? isPublic : isWebPublic;
      const ids = [...view.channels.all()].filter(isOfKind).map(({ id }) => id);
      return alternative(kind, ids, (id) => channelStream(view, step, id));
    }
    case "feed": {
      const places = [
        ...[...view.subscriptions.ofUser(reader.id)].map((own) => () => receivedStream(view, step, own)),
        ...directIds(view, reader, null).map((id) => () => conversationStream(view, step, id)),
      ];
      return alternative(kind, places, (open) => open());
    }
    default:
      return source satisfies never;
  }

  /** If there are too many places to merge, the dense plan is the only one. */
  function alternative<P>(kind: PlanKind, places: readonly P[], open: (place: P) => IdStream): Plan {
    const isMergeable = places.length <= limits.feed_places_max;
    if (kind === "sparse" && isMergeable) return only(unionOf(step, places.map(open)));
    return { streams: [], patience: isMergeable ? patience_min + rowsPerPlace * places.length : null };
  }
}

const isPublic = (channel: { readonly isPrivate: boolean }) => !channel.isPrivate;
const isWebPublic = (channel: { readonly isWebPublic: boolean }) => channel.isWebPublic;

/** The messages of a channel that the user received. */
function receivedStream(view: View, step: Step, { channelId, periods }: SubscriptionRecord): IdStream {
  const intervals = periods.map(
    (period) => [period.joinedAfterId + 1, period.leftAtId ?? Number.MAX_SAFE_INTEGER] as const,
  );
  return new ClippedStream(step, channelStream(view, step, channelId), intervals);
}

/** Topics of this name in channels that the reader is or was subscribed to. */
function topicIds(view: View, reader: UserRecord, topic: string): number[] {
  const folded = fold(topic);
  return [...view.subscriptions.ofUser(reader.id)].flatMap(
    ({ channelId }) => view.row("topicNames", [channelId, folded])?.id ?? [],
  );
}

function followedIds(view: View, reader: UserRecord): number[] {
  const range = { start: [reader.id], end: [reader.id + 1], limit: limits.user_topics_per_user_max };
  return view
    .rows("userTopics", range)
    .filter(({ row }) => row.visibilityPolicy === topicPolicies.followed)
    .flatMap(({ key: [, channelId, folded] }) => view.row("topicNames", [channelId, folded])?.id ?? []);
}

/** The reader's direct conversations, with a given user or with anybody. At most one more than can be merged. */
function directIds(view: View, reader: UserRecord, withUserId: number | null): number[] {
  const range = { start: [reader.id], end: [reader.id + 1], limit: limits.feed_places_max + 1 };
  const ids = view.keys("directConversations", range).map(([, id]) => id);
  if (withUserId === null || ids.length > limits.feed_places_max) return ids;
  return ids.filter((id) => view.row("conversations", id)?.userIds?.includes(withUserId) === true);
}

/**
 * Candidates for unread messages: those above the watermarks of their place, and those marked unread again. The sparse
 * plan also uses watermarks of single topics, because a user who reads topic by topic leaves the channel's watermark
 * unchanged.
 */
function unreadStream(view: View, { reader, narrowed: { source }, step, spend }: Walker, kind: PlanKind): IdStream {
  const state = new ReadState(view, reader.id);
  const above = (watermark: number, stream: IdStream) =>
    new ClippedStream(step, stream, [[watermark + 1, Number.MAX_SAFE_INTEGER]]);
  // Exceptions are ignored here: the last stream contains the messages they make unread.
  const isWanted = (seen: Seen, conversationId: number) => {
    const conversation = view.row("conversations", conversationId);
    return conversation !== undefined && !state.isReadAnyway(seen, conversation);
  };
  const sifted = (place: MessageIndexRef) =>
    new SiftedStream(
      step,
      (from, limit) =>
        indexEntries(view, place, { from, step, limit }).map((entry) => ({
          id: entry.id,
          isWanted: isWanted(entry, entry.conversationId),
        })),
      spend,
    );
  const conversation = (id: number, channelId: number | null): IdStream[] => {
    const watermark = state.watermarkOf({ channelId, conversationId: id });
    if ((view.row("conversations", id)?.lastMessageId ?? 0) <= watermark) return [];
    return [above(watermark, sifted({ table: "conversationMessages", id }))];
  };
  const channel = (id: number): IdStream[] => {
    const range = { start: [id], end: [id + 1], limit: limits.feed_places_max };
    const topics = kind === "sparse" ? view.rows("topicNames", range) : [];
    if (topics.length > 0 && topics.length < limits.feed_places_max) {
      return topics.flatMap(({ row }) => conversation(row.id, id));
    }
    const watermark = state.watermarkOf({ channelId: id, conversationId: null });
    return [above(watermark, sifted({ table: "channelMessages", id }))];
  };
  const again = exceptionStream(view, step, reader.id);
  if (source.kind === "channel") return unionOf(step, [...channel(source.channelId), again]);
  if (source.kind === "conversation") {
    const { conversationId } = source;
    const channelId = view.row("conversations", conversationId)?.channelId ?? null;
    return unionOf(step, [...conversation(conversationId, channelId), again]);
  }
  const joined = [...view.subscriptions.ofUser(reader.id)].filter(({ isActive }) => isActive);
  const directs = directIds(view, reader, null);
  if (joined.length + directs.length > limits.feed_places_max) return messageStream(view, step, 0);
  return unionOf(step, [
    ...joined.flatMap(({ channelId }) => channel(channelId)),
    ...directs.flatMap((id) => conversation(id, null)),
    again,
  ]);
}

/** Messages that deviate from watermarks and rules. */
function exceptionStream(view: View, step: Step, userId: number): IdStream {
  return new KeyStream(step, (from, limit) => {
    const end = step === 1 ? Number.MAX_VALUE : -1;
    const range = { start: [userId, from], end: [userId, end], reverse: step === -1, limit };
    return view.keys("readExceptions", range).map(([, messageId]) => messageId);
  });
}

function starredStream(view: View, step: Step, userId: number): IdStream {
  const flag = personalFlags.starred;
  return new KeyStream(step, (from, limit) => {
    const end = step === 1 ? Number.MAX_VALUE : -1;
    const range = { start: [userId, flag, from], end: [userId, flag, end], reverse: step === -1, limit };
    return view.keys("messageFlags", range).map(([, , messageId]) => messageId);
  });
}
