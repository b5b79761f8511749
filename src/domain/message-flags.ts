/**
 * The flags that a message has for a reader (behaviour 5.2; OpenAPI, update-message-flags): what they have read and marked, and
 * what the message says of whom it calls. None of it is a row per reader, but for what a reader marked themselves.
 */
import { hasTrait } from "../../schemas/message-traits.ts";
import { type PersonalFlag, personalFlags } from "../../schemas/records/read-state.ts";
import type { MessageRecord, UserRecord } from "../../schemas/records.ts";
import { isMember } from "./permissions.ts";
import { isRead, isReceived, ReadState } from "./read-state.ts";
import type { View } from "./view.ts";

/**
 * In the order of the public API.
 * @param state of the reader; who asks about many messages gives the same one each time
 */
export function flagsOf(
  view: View,
  reader: UserRecord,
  message: MessageRecord,
  state = new ReadState(view, reader.id),
): string[] {
  const { traits } = message;
  const isHistorical = !isReceived(view, reader, message);
  const callsChannel = !isHistorical && hasTrait(traits, "mentionsChannel");
  const callsTopic = !isHistorical && callsAsParticipant(view, reader.id, message);
  const flags: string[] = [];
  if (isRead(view, message, state)) flags.push("read");
  if (hasPersonalFlag(view, reader.id, message.id, "starred")) flags.push("starred");
  if (hasPersonalFlag(view, reader.id, message.id, "collapsed")) flags.push("collapsed");
  if (isMentioned(view, reader, message)) flags.push("mentioned");
  if (callsChannel) flags.push("stream_wildcard_mentioned");
  if (callsTopic) flags.push("topic_wildcard_mentioned");
  if (!isHistorical && isAlerted(view, reader.id, message)) flags.push("has_alert_word");
  if (isHistorical) flags.push("historical");
  // Deprecated: the OR of the two (spec 2.9).
  if (callsChannel || callsTopic) flags.push("wildcard_mentioned");
  return flags;
}

/** What the question needs of a message. */
type Called = Pick<MessageRecord, "id" | "traits" | "mentionedUserIds" | "mentionedGroupIds">;

/** By name, or as a member of a group. */
export function isMentioned(view: View, reader: UserRecord, message: Called): boolean {
  if (message.mentionedUserIds.length === 0 && message.mentionedGroupIds.length === 0) return false;
  return (
    message.mentionedUserIds.includes(reader.id) ||
    message.mentionedGroupIds.some((groupId) => isMember(view, reader, groupId))
  );
}

/** With the whole channel, or with everybody who had written in the topic: of those who received the message. */
export function isWildcardMentioned(view: View, reader: UserRecord, message: MessageRecord): boolean {
  const calls = hasTrait(message.traits, "mentionsChannel") || callsAsParticipant(view, reader.id, message);
  return calls && isReceived(view, reader, message);
}

function callsAsParticipant(view: View, userId: number, message: Called): boolean {
  if (!hasTrait(message.traits, "mentionsTopic") || !hasTrait(message.traits, "callsAttention")) return false;
  return view.row("messageAttention", message.id)?.participantIds.includes(userId) === true;
}

/** Whether one of the reader's alert words was in it when it was sent. */
export function isAlerted(view: View, userId: number, message: Pick<MessageRecord, "id" | "traits">): boolean {
  if (!hasTrait(message.traits, "callsAttention")) return false;
  return view.row("messageAttention", message.id)?.alertedUserIds.includes(userId) === true;
}

export function isStarred(view: View, userId: number, messageId: number): boolean {
  return hasPersonalFlag(view, userId, messageId, "starred");
}

export function hasPersonalFlag(view: View, userId: number, messageId: number, flag: PersonalFlag): boolean {
  const newest = view.row("readStates", userId)?.newest ?? 0;
  return messageId <= newest && view.row("messageFlags", [userId, personalFlags[flag], messageId]) !== undefined;
}
