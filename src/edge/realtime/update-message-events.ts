/**
 * `update_message`, `reaction` and `submessage` events for a viewer (OpenAPI, GET /events; S1), with the viewer's own
 * flags and only for messages that the viewer may read now. Messages that the viewer can no longer read after a move
 * are reported as deleted, or as moved if the viewer was subscribed to the new channel and left it later. A viewer who
 * was in neither channel learns nothing about the old location.
 */

import { renderTopicLinks } from "../../../domain/markdown/render.ts";
import { flagsOf } from "../../../domain/message-flags.ts";
import { apiEmail } from "../../../domain/people.ts";
import { canReadChannelMessage, canReadMessage, hasReceived, mayKnowOrigin } from "../../../domain/permissions.ts";
import { shownTopic } from "../../../domain/topics.ts";
import type { View } from "../../../domain/view.ts";
import type { ChannelRecord } from "../../../schemas/channels.ts";
import type { WireEvent } from "../../../schemas/events.ts";
import type { MessageFlag } from "../../../schemas/message-flags.ts";
import type { EventRecord } from "../../../schemas/runtime.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import { wasAddressed, wasSubscribedAt } from "./audience.ts";
import { type EventKind, extraTypeIn, withShownType } from "./event-kind.ts";
import type { RecipientQueue } from "./recipient-queue.ts";

/** An event's messages, by what the viewer may know. */
interface Split {
  /** The viewer may read them. */
  readonly kept: readonly number[];
  /** The viewer followed the move and left the new channel later: only the new channel is sent, not the topic name. */
  readonly followed: readonly number[];
  /** The viewer lost them through the move. */
  readonly lost: readonly number[];
}

const nothing: Split = { kept: [], followed: [], lost: [] };

type Update = EventRecord<"update_message">;

function idsOf({ body }: Update): readonly number[] {
  return body.message_ids;
}

function splitFor(view: View, record: Update, viewer: UserRecord, queue: RecipientQueue): Split {
  const { body } = record;
  if ("content" in body && !mayReadContent(view, record, viewer)) return nothing;
  const from = view.channels.get(body.stream_id ?? 0);
  if (from === undefined) return { ...nothing, kept: idsOf(record) };
  const to = body.new_stream_id === undefined ? from : view.channels.get(body.new_stream_id);
  if (to === undefined) return nothing;
  const isArrival = body.is_arrival === true;
  if (isArrival && !isForArrival(view, record, viewer, queue, from)) return nothing;
  const readable = idsOf(record).filter((id) => canReadChannelMessage(view, viewer, to, id));
  if (from.id === to.id) return { ...nothing, kept: readable };
  // The event names the old topic. A viewer who joined later and never saw the messages must not learn it.
  const kept = isArrival ? readable : readable.filter((id) => hadBefore(view, viewer, from, id));
  const isKept = new Set(kept);
  const had = idsOf(record).filter((id) => !isKept.has(id) && hadBefore(view, viewer, from, id));
  // Where history is protected, a subscriber of the new channel keeps only what they received there.
  const isThere = wasSubscribedAt(view, viewer.id, to.id, record.position);
  const isFollowed = (id: number) => isThere && hadBefore(view, viewer, to, id);
  return { kept, followed: had.filter(isFollowed), lost: had.filter((id) => !isFollowed(id)) };
}

function isReadableNow(view: View, viewer: UserRecord, messageId: number): boolean {
  const row = view.row("messages", messageId);
  return row !== undefined && canReadMessage(view, viewer, row);
}

/** A content change is sent only while the message exists and may be read. */
function mayReadContent(view: View, record: Update, viewer: UserRecord): boolean {
  return isReadableNow(view, viewer, record.body.message_id);
}

/**
 * For users of the new channel only: they may know the origin, and do not already get the event for the old channel.
 */
function isForArrival(
  view: View,
  record: Update,
  viewer: UserRecord,
  queue: RecipientQueue,
  from: ChannelRecord,
): boolean {
  const { is_arrival: _side, told_ids: also = [], ...body } = record.body;
  const departure: Update = { ...record, body, audience: { to: "channel", id: from.id, also } };
  const mayKnow = idsOf(record).some((id) => mayKnowOrigin(view, viewer, from, id));
  return mayKnow && !wasAddressed(view, departure, viewer, queue);
}

/** With protected history, only messages that the viewer received: other ids are hidden. */
function hadBefore(view: View, viewer: UserRecord, channel: ChannelRecord, messageId: number): boolean {
  if (!channel.isPrivate || channel.isHistoryPublic) return true;
  return hasReceived(view.subscriptions.get(viewer.id, channel.id)?.periods ?? [], messageId);
}

function flagsIn(view: View, record: Update, viewer: UserRecord, kept: readonly number[]): MessageFlag[] {
  const row = view.row("messages", messageIdIn(record, kept));
  return row === undefined ? [] : flagsOf(view, viewer, row);
}

/** The event's `message_id` is always one of its listed messages. */
function messageIdIn(record: Update, kept: readonly number[]): number {
  const id = record.body.message_id;
  return kept.includes(id) ? id : (kept[0] ?? id);
}

export const updateMessage: EventKind<"update_message"> = {
  key(view, record, viewer, queue) {
    const { kept, followed, lost } = splitFor(view, record, viewer, queue);
    const recipientIds = [...kept, ...followed];
    if (recipientIds.length + lost.length === 0) return null;
    const all = idsOf(record).length;
    const lists = [kept, followed, lost];
    const which = lists.map((ids) => (ids.length === all ? "all" : ids.join(","))).join(";");
    const from = hasLeftPlace(view, record, viewer, kept) ? "from nowhere" : "";
    return `${queue.variant}:${flagsIn(view, record, viewer, recipientIds).join(",")}:${which}:${from}`;
  },
  build(view, record, viewer, queue) {
    const { kept, followed, lost } = splitFor(view, record, viewer, queue);
    const { subject, orig_subject: former } = record.body;
    // A viewer who can no longer see the old channel missed renames there, so the topic is sent again.
    const topic = subject ?? (hasLeftPlace(view, record, viewer, kept) ? former : undefined);
    return [
      ...(lost.length === 0 ? [] : deletion(view, record, queue, lost)),
      ...(followed.length === 0 ? [] : [update(view, record, viewer, queue, followed, undefined)]),
      ...(kept.length === 0 ? [] : [update(view, record, viewer, queue, kept, topic)]),
    ];
  },
};

function update(
  view: View,
  record: Update,
  viewer: UserRecord,
  queue: RecipientQueue,
  ids: readonly number[],
  topic: string | undefined,
): WireEvent {
  const { is_arrival: _side, told_ids: _told, orig_subject: former, subject: _new, ...body } = record.body;
  const name = (topic: string) => shownTopic(view, topic, queue.can("empty_topic_name"));
  const channel = view.channels.get(body.stream_id ?? 0);
  return {
    type: "update_message",
    ...body,
    ...(channel === undefined ? {} : { stream_name: channel.name }),
    ...(former === undefined ? {} : { orig_subject: name(former) }),
    ...(topic === undefined ? {} : { subject: name(topic), topic_links: renderTopicLinks(topic, view.linkifiers) }),
    message_id: messageIdIn(record, ids),
    message_ids: ids,
    flags: flagsIn(view, record, viewer, ids),
  };
}

/** Whether messages left a channel that the viewer may not read now. */
function hasLeftPlace(view: View, record: Update, viewer: UserRecord, kept: readonly number[]): boolean {
  if (record.body.new_stream_id === undefined) return false;
  const from = view.channels.get(record.body.stream_id ?? 0);
  return from !== undefined && !canReadChannelMessage(view, viewer, from, messageIdIn(record, kept));
}

/** As if the messages had been deleted (public API). */
function deletion(view: View, record: Update, queue: RecipientQueue, ids: readonly number[]): WireEvent[] {
  // Only messages in a channel move away, and a move stores the channel and the topic.
  const { stream_id: channelId = 0, orig_subject: topic = "" } = record.body;
  const body = {
    type: "delete_message",
    message_type: "stream",
    stream_id: channelId,
    topic: shownTopic(view, topic, queue.can("empty_topic_name")),
  } as const;
  if (queue.can("bulk_message_deletion")) return [{ ...body, message_ids: ids }];
  return ids.map((id) => ({ ...body, message_id: id }));
}

/** Sent to readers who may read the message now. */
export const submessage: EventKind<"submessage"> = {
  key(view, record, viewer) {
    return isReadableNow(view, viewer, record.body.message_id) ? "" : null;
  },
  build: (_view, record) => [{ type: "submessage", ...record.body }],
};

/**
 * Sent to everyone who may read the message now. Includes the user's record besides the id for older clients (OpenAPI,
 * reaction), from the current row, because the address may have been hidden since.
 */
export const reaction: EventKind<"reaction"> = {
  key(view, record, viewer, queue) {
    return isReadableNow(view, viewer, record.body.message_id) ? extraTypeIn(record.body, queue) : null;
  },
  build(view, record, _viewer, queue) {
    const person = view.users.get(record.body.user_id);
    if (person === undefined) return [];
    const user = { email: apiEmail(person), full_name: person.fullName, user_id: person.id };
    return [{ type: "reaction", ...withShownType(record.body, queue), user }];
  },
};
