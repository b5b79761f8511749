/**
 * Removes messages, for topic deletion, single deletion and retention alike, so that everything that belongs to a
 * message is deleted with it and all its recipients are notified.
 */

import type { View } from "../../domain/view.ts";
import type { MessageId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import { command } from "../protocol/commands.ts";
import { type Effect, effects } from "../protocol/effects.ts";
import { flagsOfDeleted, flagsOnMessages, unsubscribedFlagHolders } from "./flag-holders.ts";
import { releaseAttachments } from "./message-attachments.ts";
import { submessagesOfDeleted } from "./submessage-rows.ts";

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
