/**
 * Rows of submessages and of the widget that they form (public API: /submessage).
 *
 * The files that a message links to. A link claims a file if the message's author may see the file (S1); then
 * everybody who can read the message may see it. Links are found in the message's text only.
 *
 * Removes messages, for topic deletion, single deletion and retention alike, so that everything that belongs to a
 * message is deleted with it and all its recipients are notified.
 */

import { attachmentBody, checkVisibility, linkedAttachment } from "../../domain/attachments.ts";
import { widgetOf } from "../../domain/message-content.ts";
import type { View } from "../../domain/view.ts";
import type { Answer } from "../../schemas/answer.ts";
import type { AttachmentRecord } from "../../schemas/attachments.ts";
import type { MessageId, UserId } from "../../schemas/ids.ts";
import { parseJson } from "../../schemas/json.ts";
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import type { SubmessageRecord, WidgetRecord } from "../../schemas/submessages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { command, type Effect, effects } from "../protocol/decision.ts";
import { attachmentEvent, recheckAttachments } from "./attachment-events.ts";
import { flagsOfDeleted, flagsOnMessages, unsubscribedFlagHolders } from "./flag-holders.ts";

/** The messages' conversation: its row, or the part of the row that removal needs. */
export type SourceConversation = Pick<ConversationRecord, "id" | "channelId" | "topic" | "userIds">;

/**
 * The fields of a message that removal needs. The conversation's index contains them too and is cheaper to read than
 * the message's row.
 */
export type MessageToDelete = Pick<MessageRecord, "id" | "traits">;

/**
 * Removes messages of one conversation: rows, the `delete_message` event, and updates of the conversation's last and
 * the channel's first message. Removals in one command must fit into a turn (removal-size.ts).
 * @param messages existing messages in any order; none: no effects
 * @param additionalRecipients ids of recipients of the event who need not be subscribed, such as the user who deletes
 */
export function removeMessages(
  view: View,
  place: SourceConversation,
  messages: readonly MessageToDelete[],
  additionalRecipients: readonly number[],
): Effect[] {
  if (messages.length === 0) return [];
  const ids = messages.map(({ id }) => id).sort((a, b) => a - b);
  const flags = flagsOnMessages(view, ids);
  const recipients = [...additionalRecipients, ...unsubscribedFlagHolders(view, place.channelId ?? 0, flags)];
  const withFiles = messages.filter(({ traits }) => hasTrait(traits, "hasAttachment")).map(({ id }) => id);
  return [
    ...rowsOf(view, place, messages),
    ...releaseAttachments(view, withFiles),
    deletionEvent(place, ids, recipients),
    ...flagsOfDeleted(view, place.channelId, flags, recipients),
    effects.send(command({ actor: "conversation", id: place.id }, "topic.refreshLastMessage", {}, null)),
    ...firstMessageSearch(view, place, ids),
  ];
}

/**
 * All rows that belong to messages. A new table with rows per message must be added here and to removal-size.ts, which
 * counts them.
 */
function rowsOf(view: View, place: SourceConversation, messages: readonly MessageToDelete[]): Effect[] {
  const wasEdited = editTest(view, messages);
  const all: Effect[] = [];
  for (const { id, traits } of messages) {
    all.push(effects.remove("messages", id), effects.remove("conversationMessages", [place.id, id]));
    if (place.channelId !== null) all.push(effects.remove("channelMessages", [place.channelId, id]));
    if (hasTrait(traits, "hasAlerts")) all.push(effects.remove("messageAlerts", id));
    if (hasTrait(traits, "isResolveNotice")) all.push(effects.remove("resolveNotices", id));
    if (wasEdited(id)) all.push(...ownRows(view, "messageEdits", id, limits.message_history_entries_max));
    if (hasTrait(traits, "hasReactions")) all.push(...ownRows(view, "reactions", id, limits.reactions_per_message_max));
    if (hasTrait(traits, "hasSubmessages")) all.push(...submessagesOfDeleted(view, id));
  }
  return all;
}

function ownRows(view: View, table: "messageEdits" | "reactions", messageId: MessageId, limit: number): Effect[] {
  const keys = view.keys(table, { start: [messageId], end: [messageId + 1], limit });
  return keys.map((key) => effects.remove(table, key));
}

/** One range scan if the message ids are close together, as they almost always are; most messages were never edited. */
function editTest(view: View, messages: readonly MessageToDelete[]): (messageId: MessageId) => boolean {
  const ids = messages.map(({ id }) => id);
  const limit = messages.length + limits.message_history_entries_max;
  const edits = view.keys("messageEdits", { start: [Math.min(...ids)], end: [Math.max(...ids) + 1], limit });
  // The scan hit its limit, so any message may have been edited.
  if (edits.length === limit) return () => true;
  const edited = new Set(edits.map(([id]) => id));
  return (messageId) => edited.has(messageId);
}

/**
 * One position per message, because some clients receive the event split (behaviour 4.3). Channels need one more: users
 * who left a private channel receive two events that clear unread state and stars (realtime/event-bodies.ts).
 */
function deletionEvent(
  place: SourceConversation,
  sorted: readonly number[],
  additionalRecipients: readonly number[],
): Effect {
  if (place.channelId === null) {
    const body = { message_type: "private" as const, message_ids: sorted };
    return effects.emit("delete_message", body, { to: "users", ids: place.userIds ?? [] }, sorted.length);
  }
  const body = { message_type: "stream" as const, stream_id: place.channelId, topic: place.topic, message_ids: sorted };
  // Users who received a message and left a public channel are added on delivery (realtime/audience.ts).
  const audience = { to: "channel", id: place.channelId, also: additionalRecipients } as const;
  return effects.emit("delete_message", body, audience, sorted.length + 1);
}

function firstMessageSearch(view: View, place: SourceConversation, messageIds: readonly MessageId[]): Effect[] {
  const first = view.channels.get(place.channelId ?? 0)?.firstMessageId ?? null;
  if (place.channelId === null || first === null || !messageIds.some((id) => id <= first)) return [];
  return [
    effects.send(command({ actor: "realm" }, "channel.find-first-message", { channelId: place.channelId }, null)),
  ];
}

/**
 * The files claimed by an author's text.
 * @param linked ids of files that the message already links to
 */
function linkableBy(
  view: View,
  writer: UserRecord,
  paths: readonly string[],
  linked: readonly number[] = [],
): Map<number, AttachmentRecord> {
  const linkable = new Map<number, AttachmentRecord>();
  for (const path of paths.slice(0, limits.attachments_per_message_max)) {
    const attachment = linkedAttachment(view, path);
    if (attachment === undefined) continue;
    const { isVisible } = checkVisibility(view, writer, attachment, limits.attachment_messages_listed_max);
    if (isVisible || linked.includes(attachment.id)) linkable.set(attachment.id, attachment);
  }
  return linkable;
}

function link(view: View, attachment: AttachmentRecord, messageId: MessageId): Effect[] {
  const { id, unclaimedSince } = attachment;
  return [
    effects.put("attachmentMessages", [id, messageId], {}),
    effects.put("messageAttachments", [messageId, id], {}),
    ...(unclaimedSince === null ? [] : [effects.put("attachments", id, { ...attachment, unclaimedSince: null })]),
    attachmentEvent("update", attachment, view.counter("attachmentBytes")),
  ];
}

/** For a new message. */
export function linkAttachments(
  view: View,
  writer: UserRecord,
  messageId: MessageId,
  paths: readonly string[],
): readonly Effect[] {
  if (paths.length === 0) return [];
  return [...linkableBy(view, writer, paths).values()].flatMap((attachment) => link(view, attachment, messageId));
}

interface Relinked {
  readonly effects: readonly Effect[];
  /** The author's own files to which nothing links any more (OpenAPI, detached_uploads). */
  readonly detached: readonly Answer[];
}

/** For an edited message. Existing links stay valid even if the author may no longer see the file. */
export function relinkAttachments(
  view: View,
  writer: UserRecord,
  messageId: MessageId,
  paths: readonly string[],
): Relinked {
  const before = linkedIds(view, messageId);
  if (before.length === 0 && paths.length === 0) return { effects: [], detached: [] };
  const after = linkableBy(view, writer, paths, before);
  const gone = before.filter((id) => !after.has(id));
  const added = [...after.values()].filter(({ id }) => !before.includes(id));
  return {
    effects: [
      ...gone.flatMap((id) => unlink(id, messageId)),
      ...added.flatMap((attachment) => link(view, attachment, messageId)),
      ...recheckAttachments(gone),
    ],
    detached: gone.flatMap((id) => detachedBody(view, writer, id, messageId)),
  };
}

function detachedBody(view: View, writer: UserRecord, id: number, messageId: MessageId): Answer[] {
  const attachment = view.row("attachments", id);
  if (attachment === undefined || attachment.ownerId !== writer.id) return [];
  const links = view.keys("attachmentMessages", { start: [id], end: [id + 1], limit: 2 });
  return links.some(([, other]) => other !== messageId) ? [] : [attachmentBody(view, writer, attachment, messageId)];
}

function linkedIds(view: View, messageId: MessageId): number[] {
  const range = { start: [messageId], end: [messageId + 1], limit: limits.attachments_per_message_max };
  return view.keys("messageAttachments", range).map(([, id]) => id);
}

function unlink(id: number, messageId: MessageId): Effect[] {
  return [effects.remove("attachmentMessages", [id, messageId]), effects.remove("messageAttachments", [messageId, id])];
}

/** For deleted messages. */
export function releaseAttachments(view: View, messageIds: readonly MessageId[]): readonly Effect[] {
  const links = messageIds.flatMap((messageId) => linkedIds(view, messageId).map((id) => ({ id, messageId })));
  return [
    ...links.flatMap(({ id, messageId }) => unlink(id, messageId)),
    ...recheckAttachments(links.map(({ id }) => id)),
  ];
}

/** Adds a submessage and updates the widget's row. */
export function submessageRows(
  view: View,
  messageId: MessageId,
  widget: WidgetRecord | undefined,
  row: SubmessageRecord,
): readonly Effect[] {
  const before = widget ?? { widgetType: null, count: 0, characters: 0 };
  const id = view.counter("submessage") + 1;
  return [
    effects.setCounter("submessage", id),
    effects.put("submessages", [messageId, id], row),
    effects.put("widgets", messageId, {
      widgetType: before.widgetType ?? widgetTypeOf(row),
      count: before.count + 1,
      characters: before.characters + row.content.length,
    }),
  ];
}

function widgetTypeOf({ msgType, content }: SubmessageRecord): string | null {
  if (msgType !== "widget") return null;
  const type = (parseJson(content) as { readonly widget_type?: unknown } | null)?.widget_type;
  return typeof type === "string" ? type : "";
}

/** The rows of the widget that a new message creates; none if it is not a widget. */
export function widgetRows(
  view: View,
  message: { readonly id: number; readonly senderId: UserId; readonly content: string },
  given?: string,
) {
  const widget = given === undefined ? widgetOf(message.content) : null;
  if (given === undefined && widget === null) return [];
  const row = { senderId: message.senderId, msgType: "widget", content: given ?? JSON.stringify(widget) };
  return submessageRows(view, message.id, undefined, row);
}

/** Removes a deleted message's submessages and widget. */
export function submessagesOfDeleted(view: View, messageId: MessageId): Effect[] {
  const range = { start: [messageId], end: [messageId + 1], limit: limits.submessages_per_message_max };
  return [
    effects.remove("widgets", messageId),
    ...view.keys("submessages", range).map((key) => effects.remove("submessages", key)),
  ];
}
