/**
 * How messages cease to be, whoever wants it: a topic's deletion, one message's, retention. One mechanism, so that whatever
 * belongs to a message goes with it, and everybody who was shown it is told.
 */
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/records.ts";
import type { View } from "../../src/domain/view.ts";
import { command } from "../commands.ts";
import { type Effect, effects } from "../effects.ts";
import { releaseAttachments } from "./attachments.ts";
import { flagsHeld, flagsOfDeleted, onlookers } from "./flag-holders.ts";
import { submessagesOfDeleted } from "./submessage-rows.ts";

/** Where the messages are: the conversation's row, or the part of it that removal looks at. */
export type RemovalPlace = Pick<ConversationRecord, "id" | "channelId" | "topic" | "userIds">;

/** What removal looks at of a message: its row says it, and so does the conversation's index, which is cheaper to read. */
export type Doomed = Pick<MessageRecord, "id" | "traits">;

/**
 * Removes messages of one conversation: rows, the `delete_message` event, the conversation's recount and the channel's first
 * message. What a caller removes in one command must fit into a turn: see removal-size.ts.
 * @param messages that are there, in any order; none: nothing
 * @param alsoTold ids of people who learn of it though they are not subscribed: who deletes
 */
export function removeMessages(
  view: View,
  place: RemovalPlace,
  messages: readonly Doomed[],
  alsoTold: readonly number[],
): Effect[] {
  if (messages.length === 0) return [];
  const ids = messages.map(({ id }) => id).sort((a, b) => a - b);
  const held = flagsHeld(view, ids);
  const told = [...alsoTold, ...onlookers(view, place.channelId ?? 0, held)];
  const withFiles = messages.filter(({ traits }) => hasTrait(traits, "hasAttachment")).map(({ id }) => id);
  return [
    ...rowsOf(view, place, messages),
    ...releaseAttachments(view, withFiles),
    deletionEvent(place, ids, told),
    ...flagsOfDeleted(view, place.channelId, held, told),
    effects.tell(command({ actor: "conversation", id: place.id }, "topic.recount", {}, null)),
    ...firstMessageSearch(view, place, ids),
  ];
}

/** Every row that belongs to messages: THE place where a table of theirs is named when there is one more; removal-size.ts counts them. */
function rowsOf(view: View, place: RemovalPlace, messages: readonly Doomed[]): Effect[] {
  const wasEdited = editTest(view, messages);
  const all: Effect[] = [];
  for (const { id, traits } of messages) {
    all.push(effects.remove("messages", id), effects.remove("conversationMessages", [place.id, id]));
    if (place.channelId !== null) all.push(effects.remove("channelMessages", [place.channelId, id]));
    if (hasTrait(traits, "callsAttention")) all.push(effects.remove("messageAttention", id));
    if (hasTrait(traits, "isResolveNotice")) all.push(effects.remove("resolveNotices", id));
    if (wasEdited(id)) all.push(...ownRows(view, "messageEdits", id, limits.message_history_entries_max));
    if (hasTrait(traits, "hasReactions")) all.push(...ownRows(view, "reactions", id, limits.reactions_per_message_max));
    if (hasTrait(traits, "hasSubmessages")) all.push(...submessagesOfDeleted(view, id));
  }
  return all;
}

function ownRows(view: View, table: "messageEdits" | "reactions", messageId: number, limit: number): Effect[] {
  const keys = view.keys(table, { start: [messageId], end: [messageId + 1], limit });
  return keys.map((key) => effects.remove(table, key));
}

/** In one look where the messages lie close together, as they do nearly always: most were never edited. */
function editTest(view: View, messages: readonly Doomed[]): (messageId: number) => boolean {
  const ids = messages.map(({ id }) => id);
  const limit = messages.length + limits.message_history_entries_max;
  const edits = view.keys("messageEdits", { start: [Math.min(...ids)], end: [Math.max(...ids) + 1], limit });
  // So many in between were edited that it is not known.
  if (edits.length === limit) return () => true;
  const edited = new Set(edits.map(([id]) => id));
  return (messageId) => edited.has(messageId);
}

/**
 * A position for each message: some clients get it in pieces (behaviour 4.3). In channels one more: who has left a private one is
 * told in two events that what they had is neither unread nor starred (realtime/event-bodies.ts).
 */
function deletionEvent(place: RemovalPlace, sorted: readonly number[], alsoTold: readonly number[]): Effect {
  if (place.channelId === null) {
    const body = { message_type: "private", message_ids: sorted };
    return effects.emit("delete_message", body, { to: "users", ids: place.userIds ?? [] }, sorted.length);
  }
  const body = { message_type: "stream", stream_id: place.channelId, topic: place.topic, message_ids: sorted };
  // Who received one and left a public channel is found at delivery (realtime/audience.ts).
  const audience = { to: "channel", id: place.channelId, also: alsoTold } as const;
  return effects.emit("delete_message", body, audience, sorted.length + 1);
}

function firstMessageSearch(view: View, place: RemovalPlace, messageIds: readonly number[]): Effect[] {
  const first = view.channels.get(place.channelId ?? 0)?.firstMessageId ?? null;
  if (place.channelId === null || first === null || !messageIds.some((id) => id <= first)) return [];
  return [
    effects.tell(command({ actor: "realm" }, "channel.find-first-message", { channelId: place.channelId }, null)),
  ];
}
