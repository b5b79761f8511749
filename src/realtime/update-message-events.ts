/**
 * `update_message` and `reaction` events for a viewer (OpenAPI, GET /events; S1): with the viewer's own flags and name of the empty
 * topic, and only of messages that the viewer may read now. Messages that went where the viewer may not read them are told as
 * deleted; who was in neither place learns nothing of the one that was left.
 */
import type { ChannelRecord, EventRecord, UserRecord } from "../../schemas/records.ts";
import { renderTopicLinks } from "../domain/markdown/render.ts";
import { flagsOf } from "../domain/message-flags.ts";
import { canReadChannelMessage, canReadMessage, hasMetadataAccess, hasReceived } from "../domain/permissions.ts";
import { shownTopic } from "../domain/topics.ts";
import type { View } from "../domain/view.ts";
import { wasAddressed, wasSubscribedAt } from "./audience.ts";
import type { EventBody, EventKind } from "./event-kind.ts";
import type { LiveQueue } from "./queue.ts";

/** Of an event's messages: those that the viewer may read, and those that the viewer has lost by the move. */
interface Split {
  readonly kept: readonly number[];
  readonly lost: readonly number[];
}

const nothing: Split = { kept: [], lost: [] };

function idsOf(record: EventRecord): readonly number[] {
  return record.body["message_ids"] as readonly number[];
}

function splitFor(view: View, record: EventRecord, viewer: UserRecord, queue: LiveQueue): Split {
  const { body } = record;
  if ("content" in body && !mayReadContent(view, record, viewer)) return nothing;
  const from = view.channels.get(Number(body["stream_id"]));
  if (from === undefined) return { kept: idsOf(record), lost: [] };
  const to = "new_stream_id" in body ? view.channels.get(Number(body["new_stream_id"])) : from;
  if (to === undefined) return nothing;
  if (body["is_arrival"] === true && !isForArrival(view, record, viewer, queue, from)) return nothing;
  const kept = idsOf(record).filter((id) => canReadChannelMessage(view, viewer, to, id));
  if (from.id === to.id) return { kept, lost: [] };
  const isKept = new Set(kept);
  const hadThen = wasSubscribedAt(view, viewer.id, to.id, record.position);
  const lost = idsOf(record).filter(
    (id) => !isKept.has(id) && hadBefore(view, viewer, from, id) && !(hadThen && isReadableNow(view, viewer, id)),
  );
  return { kept, lost };
}

/** Who followed a message into a channel and left it there, has it where it went from there: a later event says so. */
function isReadableNow(view: View, viewer: UserRecord, messageId: number): boolean {
  const row = view.row("messages", messageId);
  return row !== undefined && canReadMessage(view, viewer, row);
}

/** A change of content is told only while the message is there and may be read. */
function mayReadContent(view: View, record: EventRecord, viewer: UserRecord): boolean {
  return isReadableNow(view, viewer, record.body["message_id"] as number);
}

/** People of the target channel alone: they may know where the messages come from, and are not told already. */
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
  return hasMetadataAccess(view, viewer, from) && !wasAddressed(view, departure, viewer, queue);
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
    const { kept, lost } = splitFor(view, record, viewer, queue);
    if (kept.length + lost.length === 0) return null;
    const all = idsOf(record).length;
    const which = kept.length === all ? "all" : lost.length === all ? "none" : `${kept.join(",")};${lost.join(",")}`;
    return `${queue.variant}:${flagsIn(view, record, viewer, kept).join(",")}:${which}`;
  },
  build(view, record, viewer, queue) {
    const { kept, lost } = splitFor(view, record, viewer, queue);
    return [
      ...(lost.length === 0 ? [] : deletion(view, record, queue, lost)),
      ...(kept.length === 0 ? [] : [update(view, record, viewer, queue, kept)]),
    ];
  },
};

function update(
  view: View,
  record: EventRecord,
  viewer: UserRecord,
  queue: LiveQueue,
  kept: readonly number[],
): EventBody {
  const { is_arrival: _side, told_ids: _told, orig_subject: former, subject, ...body } = record.body;
  const name = (topic: unknown) => shownTopic(view, String(topic), queue.can("empty_topic_name"));
  const channel = view.channels.get(Number(body["stream_id"]));
  return {
    type: "update_message",
    ...body,
    ...(channel === undefined ? {} : { stream_name: channel.name }),
    ...(former === undefined ? {} : { orig_subject: name(former) }),
    ...(subject === undefined
      ? {}
      : { subject: name(subject), topic_links: renderTopicLinks(String(subject), view.linkifiers) }),
    message_id: messageIdIn(record, kept),
    message_ids: kept,
    flags: flagsIn(view, record, viewer, kept),
  };
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

/** To whoever may read the message now. */
export const reaction: EventKind = {
  key(view, record, viewer) {
    return isReadableNow(view, viewer, record.body["message_id"] as number) ? "" : null;
  },
  build: (_view, record) => [{ type: "reaction", ...record.body }],
};
