/**
 * The flags of a message for a reader (behaviour 5.2; OpenAPI, update-message-flags), derived from what they have read
 * and marked, and from whom the message mentions. Only what a reader marked explicitly has a row per reader.
 */

import type { MessageId, UserId } from "../schemas/ids.ts";
import { type MessageFlag, type PersonalFlag, personalFlags } from "../schemas/message-flags.ts";
import { hasTrait } from "../schemas/message-traits.ts";
import type { MessageRecord } from "../schemas/messages.ts";
import type { UserRecord } from "../schemas/users.ts";
import { isMember } from "./permissions.ts";
import { isRead, isReceived, ReadState } from "./read-state.ts";
import type { View } from "./view.ts";

/**
 * In the order of the public API.
 * @param state the reader's state; pass the same one for many messages
 */
export function flagsOf(
  view: View,
  reader: UserRecord,
  message: MessageRecord,
  state = new ReadState(view, reader.id),
): MessageFlag[] {
  const { traits } = message;
  const isHistorical = !isReceived(view, reader, message);
  const mentionsChannel = !isHistorical && hasTrait(traits, "mentionsChannel");
  const mentionsTopic = !isHistorical && mentionsParticipant(view, reader.id, message);
  const flags: MessageFlag[] = [];
  if (isRead(view, message, state)) flags.push("read");
  if (hasPersonalFlag(view, reader.id, message.id, "starred")) flags.push("starred");
  if (hasPersonalFlag(view, reader.id, message.id, "collapsed")) flags.push("collapsed");
  if (isMentioned(view, reader, message)) flags.push("mentioned");
  if (mentionsChannel) flags.push("stream_wildcard_mentioned");
  if (mentionsTopic) flags.push("topic_wildcard_mentioned");
  if (!isHistorical && isAlerted(view, reader.id, message)) flags.push("has_alert_word");
  if (isHistorical) flags.push("historical");
  // Deprecated: true if either of the two is (spec 2.9).
  if (mentionsChannel || mentionsTopic) flags.push("wildcard_mentioned");
  return flags;
}

/** The fields of a message that are needed. */
type MentioningMessage = Pick<MessageRecord, "id" | "traits" | "mentionedUserIds" | "mentionedGroupIds">;

/** By name, or as a member of a group. */
export function isMentioned(view: View, reader: UserRecord, message: MentioningMessage): boolean {
  if (message.mentionedUserIds.length === 0 && message.mentionedGroupIds.length === 0) return false;
  return (
    message.mentionedUserIds.includes(reader.id) ||
    message.mentionedGroupIds.some((groupId) => isMember(view, reader, groupId))
  );
}

/** Mentioned with the whole channel or with all participants of the topic; only users who received the message. */
export function isWildcardMentioned(view: View, reader: UserRecord, message: MessageRecord): boolean {
  const isWildcard = hasTrait(message.traits, "mentionsChannel") || mentionsParticipant(view, reader.id, message);
  return isWildcard && isReceived(view, reader, message);
}

function mentionsParticipant(view: View, userId: UserId, message: MentioningMessage): boolean {
  if (!hasTrait(message.traits, "mentionsTopic") || !hasTrait(message.traits, "hasAlerts")) return false;
  return view.row("messageAlerts", message.id)?.participantIds.includes(userId) === true;
}

/** Whether the message contained one of the reader's alert words when it was sent. */
export function isAlerted(view: View, userId: UserId, message: Pick<MessageRecord, "id" | "traits">): boolean {
  if (!hasTrait(message.traits, "hasAlerts")) return false;
  return view.row("messageAlerts", message.id)?.alertedUserIds.includes(userId) === true;
}

export function isStarred(view: View, userId: UserId, messageId: MessageId): boolean {
  return hasPersonalFlag(view, userId, messageId, "starred");
}

export function hasPersonalFlag(view: View, userId: UserId, messageId: MessageId, flag: PersonalFlag): boolean {
  const newest = view.row("readStates", userId)?.newest ?? 0;
  return messageId <= newest && view.row("messageFlags", [userId, personalFlags[flag], messageId]) !== undefined;
}
