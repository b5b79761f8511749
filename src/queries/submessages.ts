/** Submessages as the message object has them (public API), oldest first. */
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { MessageRecord } from "../../schemas/records.ts";
import type { View } from "../domain/view.ts";

/** Costs nothing where there are none: the message's row says so. */
export function submessageBodies(view: View, message: MessageRecord) {
  if (!hasTrait(message.traits, "hasSubmessages")) return [];
  const range = { start: [message.id], end: [message.id + 1], limit: limits.submessages_per_message_max };
  return view.rows("submessages", range).map(({ key: [messageId, id], row }) => ({
    id,
    message_id: messageId,
    sender_id: row.senderId,
    msg_type: row.msgType,
    content: row.content,
  }));
}
