/**
 * Which indexes a narrow is walked by (architecture, Feeds over many channels): streams of ids that hold every match, all of which a
 * match is in. A feed over many places has two plans: dense, the newest messages with a filter, and sparse, the indexes of the
 * places merged; whoever walks begins with the dense one and changes over when it finds little.
 */

import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import { personalFlags } from "../../schemas/records/read-state.ts";
import type { SubscriptionRecord, UserRecord } from "../../schemas/records.ts";
import type { Narrowed } from "../domain/narrow.ts";
import { ReadState, type Seen } from "../domain/read-state.ts";
import { topicPolicies } from "../domain/user-topics.ts";
import type { View } from "../domain/view.ts";
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
  indexEntries,
  type MessagePlace,
  messageStream,
  SearchStreams,
} from "./search-streams.ts";
import type { WalkedWord } from "./searched-words.ts";

export type PlanKind = "dense" | "sparse";

export interface Plan {
  /** A match is in all of them; never empty. */
  readonly streams: readonly IdStream[];
  /** Only of the dense plan: how many messages may be looked at before the sparse one is better; null: there is no other. */
  readonly patience: number | null;
}

/** How many messages are looked at for the price of one more index to be merged. */
const rowsPerPlace = 4;
const patience_min = 500;

/** Who walks: the plan's streams tell `spend` what they look at beyond a seek. */
export interface Walker {
  readonly reader: UserRecord;
  readonly narrowed: Narrowed;
  /** Words that every match has. */
  readonly words: readonly WalkedWord[];
  readonly step: Step;
  readonly spend: Spend;
}

export function planOf(view: View, walker: Walker, kind: PlanKind): Plan {
  const { reader, narrowed, step } = walker;
  const search = new SearchStreams(view, step);
  const filed = narrowed.filed.map((terms) => search.filed(terms));
  const words = walker.words.map((word) => search.word(word));
  const place = placeOf(view, reader, narrowed, step, kind);
  const unread = narrowed.isUnreadOnly ? [unreadStream(view, walker, kind)] : [];
  const streams = [...place.streams, ...unread, ...filed, ...words];
  const patience = place.patience ?? (narrowed.isUnreadOnly ? patience_min : null);
  return { streams: streams.length > 0 ? streams : [messageStream(view, step, 0)], patience };
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

  /** Where the places are too many to be merged, the dense plan is the only one. */
  function alternative<P>(asked: PlanKind, places: readonly P[], open: (place: P) => IdStream): Plan {
    const isMergeable = places.length <= limits.feed_places_max;
    if (asked === "sparse" && isMergeable) return only(unionOf(step, places.map(open)));
    return { streams: [], patience: isMergeable ? patience_min + rowsPerPlace * places.length : null };
  }
}

const isPublic = (channel: { readonly isPrivate: boolean }) => !channel.isPrivate;
const isWebPublic = (channel: { readonly isWebPublic: boolean }) => channel.isWebPublic;

/** What was received of a channel. */
function receivedStream(view: View, step: Step, { channelId, stays }: SubscriptionRecord): IdStream {
  const intervals = stays.map((stay) => [stay.joinedAfterId + 1, stay.leftAtId ?? Number.MAX_SAFE_INTEGER] as const);
  return new ClippedStream(step, channelStream(view, step, channelId), intervals);
}

/** Topics of this name in channels that the reader is or was in. */
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

/** The reader's direct conversations; with somebody, or with anybody. One more than can be merged at most. */
function directIds(view: View, reader: UserRecord, withUserId: number | null): number[] {
  const range = { start: [reader.id], end: [reader.id + 1], limit: limits.feed_places_max + 1 };
  const ids = view.keys("directConversations", range).map(([, id]) => id);
  if (withUserId === null || ids.length > limits.feed_places_max) return ids;
  return ids.filter((id) => view.row("conversations", id)?.userIds?.includes(withUserId) === true);
}

/**
 * What may be unread: what lies above the floors of its place, and what was marked unread again. The sparse plan looks at the floors
 * of single topics, too: somebody who reads topic by topic leaves the channel's floor where it was.
 */
function unreadStream(view: View, { reader, narrowed: { source }, step, spend }: Walker, kind: PlanKind): IdStream {
  const state = new ReadState(view, reader.id);
  const above = (floor: number, stream: IdStream) =>
    new ClippedStream(step, stream, [[floor + 1, Number.MAX_SAFE_INTEGER]]);
  // Exceptions are not asked for: what one makes unread is in the last stream.
  const isWanted = (seen: Seen, conversationId: number) => {
    const conversation = view.row("conversations", conversationId);
    return conversation !== undefined && !state.isReadAnyway(seen, conversation);
  };
  const sifted = (place: MessagePlace) =>
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
    const floor = state.floorOf({ channelId, conversationId: id });
    if ((view.row("conversations", id)?.lastMessageId ?? 0) <= floor) return [];
    return [above(floor, sifted({ table: "conversationMessages", id }))];
  };
  const channel = (id: number): IdStream[] => {
    const range = { start: [id], end: [id + 1], limit: limits.feed_places_max };
    const topics = kind === "sparse" ? view.rows("topicNames", range) : [];
    if (topics.length > 0 && topics.length < limits.feed_places_max) {
      return topics.flatMap(({ row }) => conversation(row.id, id));
    }
    const floor = state.floorOf({ channelId: id, conversationId: null });
    return [above(floor, sifted({ table: "channelMessages", id }))];
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

/** Messages that are otherwise than floors and rules say. */
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
