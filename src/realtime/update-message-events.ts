/**
 * `update_message`, `reaction` and `submessage` events for a viewer (OpenAPI, GET /events; S1): with the viewer's own flags and name of the empty
 * topic, and only of messages that the viewer may read now. Messages that went where the viewer may not read them are told as
 * deleted, or, to who came along and left that place since, as gone there; who was in neither place learns nothing of the one that
 * was left.
 */
import type { ChannelRecord, EventRecord, UserRecord } from "../../schemas/records.ts";
import { renderTopicLinks } from "../domain/markdown/render.ts";
import { flagsOf } from "../domain/message-flags.ts";
import { apiEmail } from "../domain/people.ts";
import { canReadChannelMessage, canReadMessage, hasReceived, mayKnowOrigin } from "../domain/permissions.ts";
import { shownTopic } from "../domain/topics.ts";
import type { View } from "../domain/view.ts";
import { wasAddressed, wasSubscribedAt } from "./audience.ts";
import { type EventBody, type EventKind, extraTypeIn, withShownType } from "./event-kind.ts";
import type { LiveQueue } from "./queue.ts";

/** Of an event's messages. */
interface Split {
  /** The viewer may read them. */
  readonly kept: readonly number[];
  /** The viewer came along with them by the move, and has left that channel since: only where they went is said, not under which name. */
  readonly followed: readonly number[];
  /** The viewer has lost them by the move. */
  readonly lost: readonly number[];
}

const nothing: Split = { kept: [], followed: [], lost: [] };

function idsOf(record: EventRecord): readonly number[] {
  return record.body["message_ids"] as readonly number[];
}

function splitFor(view: View, record: EventRecord, viewer: UserRecord, queue: LiveQueue): Split {
  const { body } = record;
  if ("content" in body && !mayReadContent(view, record, viewer)) return nothing;
  const from = view.channels.get(Number(body["stream_id"]));
  if (from === undefined) return { ...nothing, kept: idsOf(record) };
  const to = "new_stream_id" in body ? view.channels.get(Number(body["new_stream_id"])) : from;
  if (to === undefined) return nothing;
  const isArrival = body["is_arrival"] === true;
  if (isArrival && !isForArrival(view, record, viewer, queue, from)) return nothing;
  const readable = idsOf(record).filter((id) => canReadChannelMessage(view, viewer, to, id));
  if (from.id === to.id) return { ...nothing, kept: readable };
  // The event names the topic that they leave: who came there later and never saw them does not learn it.
  const kept = isArrival ? readable : readable.filter((id) => hadBefore(view, viewer, from, id));
  const isKept = new Set(kept);
  const had = idsOf(record).filter((id) => !isKept.has(id) && hadBefore(view, viewer, from, id));
  // Where history is protected, who was there already has lost what they did not receive there.
  const isThere = wasSubscribedAt(view, viewer.id, to.id, record.position);
  const isFollowed = (id: number) => isThere && hadBefore(view, viewer, to, id);
  return { kept, followed: had.filter(isFollowed), lost: had.filter((id) => !isFollowed(id)) };
}

function isReadableNow(view: View, viewer: UserRecord, messageId: number): boolean {
  const row = view.row("messages", messageId);
  return row !== undefined && canReadMessage(view, viewer, row);
}

/** A change of content is told only while the message is there and may be read. */
function mayReadContent(view: View, record: EventRecord, viewer: UserRecord): boolean {
  return isReadableNow(view, viewer, record.body["message_id"] as number);
}

/** People of the target channel alone: they may know where a message came from, and are not told already. */
function isForArrival(
  view: View,
  record: EventRecord,
  viewer: UserRecord,
  queue: LiveQueue,
  from: ChannelRecord,
): boolean {
  const departure: EventRecord = {
    ...record,
    body: { ...record.body, is_arrival: false },
    audience: { to: "channel", id: from.id, also: (record.body["told_ids"] ?? []) as readonly number[] },
  };
  const mayKnow = idsOf(record).some((id) => mayKnowOrigin(view, viewer, from, id));
  return mayKnow && !wasAddressed(view, departure, viewer, queue);
}

/** In protected history, only what the viewer received: other ids are not theirs to know. */
function hadBefore(view: View, viewer: UserRecord, channel: ChannelRecord, messageId: number): boolean {
  if (!channel.isPrivate || channel.isHistoryPublic) return true;
  return hasReceived(view.subscriptions.get(viewer.id, channel.id)?.stays ?? [], messageId);
}

function flagsIn(view: View, record: EventRecord, viewer: UserRecord, kept: readonly number[]): string[] {
  const row = view.row("messages", messageIdIn(record, kept));
  return row === undefined ? [] : flagsOf(view, viewer, row);
}

/** The message of the event is always one of its messages. */
function messageIdIn(record: EventRecord, kept: readonly number[]): number {
  const id = record.body["message_id"] as number;
  return kept.includes(id) ? id : (kept[0] ?? id);
}

export const updateMessage: EventKind = {
  key(view, record, viewer, queue) {
    const { kept, followed, lost } = splitFor(view, record, viewer, queue);
    const told = [...kept, ...followed];
    if (told.length + lost.length === 0) return null;
    const all = idsOf(record).length;
    const lists = [kept, followed, lost];
    const which = lists.map((ids) => (ids.length === all ? "all" : ids.join(","))).join(";");
    const from = hasLeftPlace(view, record, viewer, kept) ? "from nowhere" : "";
    return `${queue.variant}:${flagsIn(view, record, viewer, told).join(",")}:${which}:${from}`;
  },
  build(view, record, viewer, queue) {
    const { kept, followed, lost } = splitFor(view, record, viewer, queue);
    const { subject, orig_subject: former } = record.body;
    // Renames there were not told to who may not know that place any more: the topic is said anew.
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
  record: EventRecord,
  viewer: UserRecord,
  queue: LiveQueue,
  ids: readonly number[],
  topic: unknown,
): EventBody {
  const { is_arrival: _side, told_ids: _told, orig_subject: former, subject: _new, ...body } = record.body;
  const name = (topic: unknown) => shownTopic(view, String(topic), queue.can("empty_topic_name"));
  const channel = view.channels.get(Number(body["stream_id"]));
  return {
    type: "update_message",
    ...body,
    ...(channel === undefined ? {} : { stream_name: channel.name }),
    ...(former === undefined ? {} : { orig_subject: name(former) }),
    ...(topic === undefined
      ? {}
      : { subject: name(topic), topic_links: renderTopicLinks(String(topic), view.linkifiers) }),
    message_id: messageIdIn(record, ids),
    message_ids: ids,
    flags: flagsIn(view, record, viewer, ids),
  };
}

/** Whether messages came out of a channel that the viewer may not read now. */
function hasLeftPlace(view: View, record: EventRecord, viewer: UserRecord, kept: readonly number[]): boolean {
  if (!("new_stream_id" in record.body)) return false;
  const from = view.channels.get(Number(record.body["stream_id"]));
  return from !== undefined && !canReadChannelMessage(view, viewer, from, messageIdIn(record, kept));
}

/** As if they had been deleted (public API). */
function deletion(view: View, record: EventRecord, queue: LiveQueue, ids: readonly number[]): EventBody[] {
  const body = {
    type: "delete_message",
    message_type: "stream",
    stream_id: record.body["stream_id"],
    topic: shownTopic(view, String(record.body["orig_subject"]), queue.can("empty_topic_name")),
  };
  if (queue.can("bulk_message_deletion")) return [{ ...body, message_ids: ids }];
  return ids.map((id) => ({ ...body, message_id: id }));
}

/** To readers that may read the message now. */
export const submessage: EventKind = {
  key(view, record, viewer) {
    return isReadableNow(view, viewer, record.body["message_id"] as number) ? "" : null;
  },
  build: (_view, record) => [{ type: "submessage", ...record.body }],
};

/**
 * To whoever may read the message now. With the person's record beside the id, which older clients read (OpenAPI, reaction): the one
 * of now, because the address may have been hidden since.
 */
export const reaction: EventKind = {
  key(view, record, viewer, queue) {
    return isReadableNow(view, viewer, record.body["message_id"] as number) ? extraTypeIn(record, queue) : null;
  },
  build(view, record, _viewer, queue) {
    const person = view.users.get(record.body["user_id"] as number);
    if (person === undefined) return [];
    const user = { email: apiEmail(person), full_name: person.fullName, user_id: person.id };
    return [{ type: "reaction", ...withShownType(record, queue), user }];
  },
};
