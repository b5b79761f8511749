/**
 * The users who have read a message (public API: get-read-receipts): computed from read state in slices, so that a
 * channel with many subscribers delays no other request.
 */

import { canAccessUser } from "../../domain/people.ts";
import { hasReceived } from "../../domain/permissions.ts";
import { isReceived, ReadState } from "../../domain/read-state.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";

/**
 * Ids ascending; without the sender, users who do not share receipts, and users who have muted the caller or whom the
 * caller has muted.
 */
export async function readReceipts(
  view: View,
  caller: UserRecord,
  message: MessageRecord,
  conversation: ConversationRecord,
): Promise<number[]> {
  const receivers = [...(conversation.userIds ?? view.subscriptions.ofChannel(conversation.channelId ?? 0))];
  const found: number[] = [];
  for (let first = 0; first < receivers.length; first += limits.read_receipts_per_pass_max) {
    if (first > 0) await new Promise<void>((resolve) => setImmediate(resolve));
    for (const id of receivers.slice(first, first + limits.read_receipts_per_pass_max)) {
      const reader = view.users.get(id);
      if (reader !== undefined && isShown(view, caller, reader, message, conversation)) found.push(id);
    }
  }
  return found.sort((a, b) => a - b);
}

function isShown(
  view: View,
  caller: UserRecord,
  reader: UserRecord,
  message: MessageRecord,
  conversation: ConversationRecord,
): boolean {
  if (reader.id === message.senderId || !reader.isActive || !userSetting(reader, "send_read_receipts")) return false;
  if (!isReceived(view, reader, message) || !wasThere(view, reader, message)) return false;
  if (!new ReadState(view, reader.id).isRead(message, conversation)) return false;
  const isMuted = isMutedBy(view, caller.id, reader.id) || isMutedBy(view, reader.id, caller.id);
  return !isMuted && canAccessUser(view, caller, reader);
}

/**
 * A message from another channel counts as read by rule for users who were not subscribed to that channel; they never
 * received it.
 */
function wasThere(view: View, reader: UserRecord, message: MessageRecord): boolean {
  if (!hasTrait(message.traits, "changedChannel")) return true;
  const moves = message.moves.flatMap((moveId) => view.row("messageMoves", moveId) ?? []);
  const first = moves.find(({ prevChannelId, channelId }) => prevChannelId !== channelId);
  // If there were very many moves, the first ones are no longer stored.
  if (first === undefined) return true;
  return hasReceived(view.subscriptions.get(reader.id, first.prevChannelId)?.periods ?? [], message.id);
}

function isMutedBy(view: View, userId: number, mutedUserId: number): boolean {
  return view.row("mutedUsers", [userId, mutedUserId]) !== undefined;
}
