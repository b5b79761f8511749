/**
 * Typing in the edit of a message (public API: set-typing-status-for-message-edit): told to those who would be told if the edit were
 * saved, as far as they want to know of typing.
 */
import type { Refusal } from "../../schemas/errors.ts";
import type { ConversationRecord, MessageRecord, UserRecord } from "../../schemas/records.ts";
import { checkContentEdit, findChangeable } from "../../src/domain/message-rules.ts";
import { canReadMessage } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import { type Effect, effects } from "../effects.ts";
import { channelListeners, checkSharing, listenersAmong } from "./hearing.ts";

/** Whoever may not edit the message cannot be editing it. */
export function checkEditTyping(view: View, sender: UserRecord, messageId: number): Refusal | null {
  const place = conversationOf(view, messageId);
  const found = findChangeable(view, sender, messageId, place);
  if ("kind" in found) return found;
  const refused = checkContentEdit(view, sender, found.message);
  if (refused !== null) return refused;
  return checkSharing(sender, found.channel === null);
}

/** A message that is gone is edited by nobody: clients know that already. */
export function editNotice(view: View, sender: UserRecord, messageId: number, op: "start" | "stop"): Effect[] {
  const message = view.row("messages", messageId);
  const place = conversationOf(view, messageId);
  if (message === undefined || place === null) return [];
  const recipient =
    place.channelId === null
      ? { type: "direct", user_ids: place.userIds ?? [] }
      : { type: "channel", channel_id: place.channelId, topic: place.topic };
  const body = { op, sender_id: sender.id, message_id: messageId, recipient };
  const audience = { to: "users", ids: listeners(view, sender, message, place) } as const;
  return [effects.signal("typing_edit_message", body, audience, `typing_edit:${messageId}:${sender.id}`)];
}

function conversationOf(view: View, messageId: number): ConversationRecord | null {
  const message = view.row("messages", messageId);
  return message === undefined ? null : (view.row("conversations", message.conversationId) ?? null);
}

/** In protected history, only who received the message (S1). */
function listeners(view: View, sender: UserRecord, message: MessageRecord, place: ConversationRecord): number[] {
  const wanting =
    place.userIds === null
      ? channelListeners(view, sender, place.channelId ?? 0)
      : listenersAmong(view, sender, place.userIds);
  return wanting.filter((id) => {
    const user = view.users.get(id);
    return user !== undefined && canReadMessage(view, user, message);
  });
}
