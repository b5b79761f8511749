/**
 * Typing notices while a message is edited (public API: set-typing-status-for-message-edit). They are sent to the users
 * who would receive the edit and who want typing notices.
 */

import { checkContentEdit, findChangeable } from "../../domain/message-rules.ts";
import { canReadMessage } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, type Refusal } from "../../schemas/errors.ts";
import type { MessageId } from "../../schemas/ids.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/effects.ts";
import { channelRecipients, checkSharing, recipientsAmong } from "./recipients.ts";

/** Rejects the notice if the sender may not edit the message. */
export function checkEditTyping(view: View, sender: UserRecord, messageId: MessageId): Refusal | null {
  const place = conversationOf(view, messageId);
  const found = findChangeable(view, sender, messageId, place);
  if (isRefusal(found)) return found;
  const refused = checkContentEdit(view, sender, found.message);
  if (refused !== null) return refused;
  return checkSharing(sender, found.channel === null);
}

/** If the message has been deleted, no notice is needed: clients have received the deletion. */
export function editNotice(view: View, sender: UserRecord, messageId: MessageId, op: "start" | "stop"): Effect[] {
  const message = view.row("messages", messageId);
  const place = conversationOf(view, messageId);
  if (message === undefined || place === null) return [];
  const recipient =
    place.channelId === null
      ? { type: "direct" as const, user_ids: place.userIds ?? [] }
      : { type: "channel" as const, channel_id: place.channelId, topic: place.topic };
  const body = { op, sender_id: sender.id, message_id: messageId, recipient };
  const audience = { to: "users", ids: listeners(view, sender, message, place) } as const;
  return [effects.emitVolatile("typing_edit_message", body, audience, `typing_edit:${messageId}:${sender.id}`)];
}

function conversationOf(view: View, messageId: MessageId): ConversationRecord | null {
  const message = view.row("messages", messageId);
  return message === undefined ? null : (view.row("conversations", message.conversationId) ?? null);
}

/** In protected history, only users who received the message (S1). */
function listeners(view: View, sender: UserRecord, message: MessageRecord, place: ConversationRecord): number[] {
  const wanting =
    place.userIds === null
      ? channelRecipients(view, sender, place.channelId ?? 0)
      : recipientsAmong(view, sender, place.userIds);
  return wanting.filter((id) => {
    const user = view.users.get(id);
    return user !== undefined && canReadMessage(view, user, message);
  });
}
