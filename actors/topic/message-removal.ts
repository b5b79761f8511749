/**
 * How messages cease to be, whoever wants it: a topic's deletion, one message's, retention. One mechanism, so that whatever
 * belongs to a message goes with it, and everybody who was shown it is told.
 */
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord } from "../../schemas/records.ts";
import type { View } from "../../src/domain/view.ts";
import { command } from "../commands.ts";
import { type Effect, effects } from "../effects.ts";

/** Where the messages are: the conversation's row, or the part of it that removal looks at. */
export type RemovalPlace = Pick<ConversationRecord, "id" | "channelId" | "topic" | "userIds">;

/**
 * Removes messages of one conversation: rows, the `delete_message` event, the conversation's recount and the channel's first
 * message. What a caller removes in one command must fit into a turn: see `limits.topic_deletion_batch_messages`.
 * @param messageIds messages that are there, in any order; none: nothing
 * @param alsoTold ids of people who learn of it though they are not subscribed: who deletes
 */
export function removeMessages(
  view: View,
  place: RemovalPlace,
  messageIds: readonly number[],
  alsoTold: readonly number[],
): Effect[] {
  if (messageIds.length === 0) return [];
  return [
    ...messageIds.flatMap((id) => rowsOf(view, place, id)),
    deletionEvent(place, messageIds, alsoTold),
    effects.tell(command({ actor: "conversation", id: place.id }, "topic.recount", {}, null)),
    ...firstMessageSearch(view, place, messageIds),
  ];
}

/** Every row that belongs to a message: THE place where a table of theirs is named when there is one more. */
function rowsOf(view: View, place: RemovalPlace, messageId: number): Effect[] {
  const all = [effects.remove("messages", messageId), effects.remove("conversationMessages", [place.id, messageId])];
  const index = view.row("conversationMessages", [place.id, messageId]);
  if (index !== undefined && hasTrait(index.traits, "callsAttention")) {
    all.push(effects.remove("messageAttention", messageId));
  }
  if (place.channelId !== null) all.push(effects.remove("channelMessages", [place.channelId, messageId]));
  const message = view.row("messages", messageId);
  const range = { start: [messageId], end: [messageId + 1] };
  if (message !== undefined && message.editedAt !== null) {
    const keys = view.keys("messageEdits", { ...range, limit: limits.message_history_entries_max });
    all.push(...keys.map((key) => effects.remove("messageEdits", key)));
  }
  if (message !== undefined && hasTrait(message.traits, "hasReactions")) {
    const keys = view.keys("reactions", { ...range, limit: limits.reactions_per_message_max });
    all.push(...keys.map((key) => effects.remove("reactions", key)));
  }
  return all;
}

/** A position for each message: some clients get it in pieces (behaviour 4.3). */
function deletionEvent(place: RemovalPlace, messageIds: readonly number[], alsoTold: readonly number[]): Effect {
  const sorted = [...messageIds].sort((a, b) => a - b);
  if (place.channelId === null) {
    const body = { message_type: "private", message_ids: sorted };
    return effects.emit("delete_message", body, { to: "users", ids: place.userIds ?? [] }, sorted.length);
  }
  const body = { message_type: "stream", stream_id: place.channelId, topic: place.topic, message_ids: sorted };
  // Who received one and left a public channel is found at delivery (realtime/audience.ts).
  const audience = { to: "channel", id: place.channelId, also: alsoTold } as const;
  return effects.emit("delete_message", body, audience, sorted.length);
}

function firstMessageSearch(view: View, place: RemovalPlace, messageIds: readonly number[]): Effect[] {
  const first = view.channels.get(place.channelId ?? 0)?.firstMessageId ?? null;
  if (place.channelId === null || first === null || !messageIds.some((id) => id <= first)) return [];
  return [
    effects.tell(command({ actor: "realm" }, "channel.find-first-message", { channelId: place.channelId }, null)),
  ];
}
