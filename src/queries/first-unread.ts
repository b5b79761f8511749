/** Where reading goes on (behaviour 5.4, anchor `first_unread`): found among what is unread, however large the narrow is. */
import type { ConversationRecord, MessageRecord, UserRecord } from "../../schemas/records.ts";
import { canReadMessage } from "../domain/permissions.ts";
import { collectUnread } from "../domain/unread.ts";
import { isTopicMuted, topicPolicies, visibilityPolicy } from "../domain/user-topics.ts";
import type { View } from "../domain/view.ts";

/** What is looked for; `isInChannel`: it names a channel, so that a channel that is muted does not count as muted. */
export interface FirstUnreadFilter {
  matches(candidate: { readonly message: MessageRecord; readonly conversation: ConversationRecord }): boolean;
  readonly isInChannel: boolean;
}

/** The id of the first unread message that matches and is not muted; null: there is none. */
export function firstUnread(view: View, reader: UserRecord, filter: FirstUnreadFilter): number | null {
  const muted = new Map<number, boolean>();
  for (const { id, conversation } of collectUnread(view, reader.id).messages) {
    const isMuted = muted.get(conversation.id) ?? isMutedFor(view, reader.id, conversation, filter.isInChannel);
    muted.set(conversation.id, isMuted);
    const message = isMuted ? undefined : view.row("messages", id);
    if (message === undefined || !canReadMessage(view, reader, message)) continue;
    if (filter.matches({ message, conversation })) return id;
  }
  return null;
}

function isMutedFor(
  view: View,
  userId: number,
  { channelId, topic }: ConversationRecord,
  isInChannel: boolean,
): boolean {
  if (channelId === null) return false;
  if (isInChannel) return visibilityPolicy(view, userId, channelId, topic) === topicPolicies.muted;
  return isTopicMuted(view, userId, channelId, topic);
}
