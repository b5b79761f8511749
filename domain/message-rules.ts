/**
 * Rules of who may change which message (spec 4.4; public API: update-message, delete-message; behaviour 5.6, 5.7).
 * Pure checks that return Zulip's errors. The caller's access to the message is checked before.
 */

import type { ChannelRecord } from "../schemas/channels.ts";
import { type Refusal, refuse } from "../schemas/errors.ts";
import type { ChannelId, MessageId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import type { TopicToggle } from "../schemas/message-changes.ts";
import type { ConversationRecord, MessageRecord } from "../schemas/messages.ts";
import { roles } from "../schemas/types.ts";
import type { UserRecord } from "../schemas/users.ts";
import { canAdminister, canReadMessage, hasChannelPermission, hasRealmPermission } from "./permissions.ts";
import { realmSetting } from "./realm-settings.ts";
import { cutTopic, emptyTopicName } from "./topics.ts";
import type { View } from "./view.ts";

/** A message to be changed; `channel` is null for direct messages. */
export interface Changeable {
  readonly message: MessageRecord;
  readonly channel: ChannelRecord | null;
}

/** One answer for a message that does not exist, may not be seen, or is in an archived channel. */
export function findChangeable(
  view: View,
  caller: UserRecord,
  messageId: MessageId,
  place: Pick<ConversationRecord, "channelId"> | null,
): Changeable | Refusal {
  const message = view.row("messages", messageId);
  if (message === undefined || place === null || !canReadMessage(view, caller, message)) return refuse.invalidMessage();
  if (place.channelId === null) return { message, channel: null };
  const channel = view.channels.get(place.channelId);
  return channel === undefined || channel.isArchived ? refuse.invalidMessage() : { message, channel };
}

function isOver(view: View, message: MessageRecord, limitS: number | null): boolean {
  return limitS !== null && view.now - message.sentAt > limitS * 1000;
}

function withGrace(limitS: number | null): number | null {
  return limitS === null ? null : limitS + limits.edit_grace_s;
}

/** Only the sender may edit the content, whatever anybody's role is. */
export function checkContentEdit(view: View, caller: UserRecord, message: MessageRecord): Refusal | null {
  if (!realmSetting(view, "allow_message_editing")) {
    return refuse.badRequest("Your organization has turned off message editing");
  }
  if (message.senderId !== caller.id) return refuse.badRequest("You don't have permission to edit this message");
  return isOver(view, message, withGrace(realmSetting(view, "message_content_edit_limit_seconds")))
    ? refuse.badRequest("The time limit for editing this message has passed")
    : null;
}

/** A move, and whether it only resolves or unresolves the topic. */
export interface Move {
  readonly from: ChannelRecord;
  readonly to: ChannelRecord;
  readonly toggle: TopicToggle;
  readonly isTopicChanged: boolean;
}

/** Moderators and above have no time limit for moves. */
function isModerator(user: UserRecord): boolean {
  return user.role <= roles.moderator;
}

export function checkTopicEdit(view: View, caller: UserRecord, message: MessageRecord, move: Move): Refusal | null {
  if (!move.isTopicChanged) return null;
  if (move.toggle !== "none") {
    return mayResolve(view, caller, move)
      ? null
      : refuse.badRequest("You don't have permission to resolve topics in this channel.");
  }
  if (!mayEditTopic(view, caller, move)) return refuse.badRequest("You don't have permission to edit this message");
  const limitS = withGrace(realmSetting(view, "move_messages_within_stream_limit_seconds"));
  return !isModerator(caller) && isOver(view, message, limitS)
    ? refuse.badRequest("The time limit for editing this message's topic has passed.")
    : null;
}

function mayResolve(view: View, caller: UserRecord, { from, to }: Move): boolean {
  return (
    hasRealmPermission(view, caller, "can_resolve_topics_group") ||
    [from, to].some((channel) => hasChannelPermission(view, caller, channel, "can_resolve_topics_group"))
  );
}

function mayEditTopic(view: View, caller: UserRecord, { from, to }: Move): boolean {
  return (
    hasRealmPermission(view, caller, "can_move_messages_between_topics_group") ||
    [from, to].some(
      (channel) =>
        canAdminister(view, caller, channel) ||
        hasChannelPermission(view, caller, channel, "can_move_messages_within_channel_group"),
    )
  );
}

export function checkChannelMove(view: View, caller: UserRecord, message: MessageRecord, move: Move): Refusal | null {
  const { from, to } = move;
  if (from.id === to.id) return null;
  const mayMoveOut =
    canAdminister(view, caller, from) ||
    hasRealmPermission(view, caller, "can_move_messages_between_channels_group") ||
    hasChannelPermission(view, caller, from, "can_move_messages_out_of_channel_group");
  if (!mayMoveOut) return refuse.badRequest("You don't have permission to move this message");
  if (!mayPost(view, caller, to)) return refuse.badRequest("You do not have permission to post in this channel.");
  const limitS = withGrace(realmSetting(view, "move_messages_between_streams_limit_seconds"));
  return !isModerator(caller) && isOver(view, message, limitS)
    ? refuse.badRequest("The time limit for editing this message's channel has passed")
    : null;
}

/** A bot may use its owner's permission. */
export function mayPost(view: View, caller: UserRecord, channel: ChannelRecord): boolean {
  const owner = caller.botOwnerId === null ? undefined : view.users.get(caller.botOwnerId);
  return [caller, owner].some(
    (user) => user !== undefined && hasChannelPermission(view, user, channel, "can_send_message_group"),
  );
}

/** Age in seconds beyond which this caller may not move a message: the strictest limit that applies, or null. */
export function moveLimitS(view: View, caller: UserRecord, move: Move): number | null {
  if (isModerator(caller) || move.toggle !== "none") return null;
  const limitsS = [
    move.isTopicChanged ? realmSetting(view, "move_messages_within_stream_limit_seconds") : null,
    move.from.id === move.to.id ? null : realmSetting(view, "move_messages_between_streams_limit_seconds"),
  ].flatMap((limitS) => withGrace(limitS) ?? []);
  return limitsS.length === 0 ? null : Math.min(...limitsS);
}

export const resolvedPrefix = "✔ ";

/**
 * @param topic the new name as stored: a name that was truncated to fit the mark still counts as resolved (spec 2.9)
 */
export function topicToggle(former: string, topic: string): TopicToggle {
  const wasResolved = former.startsWith(resolvedPrefix);
  if (topic.startsWith(resolvedPrefix)) {
    return !wasResolved && topic === cutTopic(resolvedPrefix + former) ? "resolved" : "none";
  }
  return wasResolved && former.replace(/^[✔ ]+/u, "") === topic ? "unresolved" : "none";
}

/** Whether a move leads to another conversation; resolving or unresolving a topic does not (spec 2.9). */
export function leadsElsewhere(
  from: { readonly channelId: ChannelId; readonly topic: string },
  to: { readonly channelId: ChannelId; readonly topic: string },
): boolean {
  if (from.channelId !== to.channelId) return true;
  return from.topic !== to.topic && topicToggle(from.topic, to.topic) === "none";
}

/**
 * Chooses which of too many moves to drop (S3): the oldest, but never the newest that led elsewhere, which records when
 * the message moved (spec 2.9).
 * @param moves oldest first
 */
export function forgottenMove<Move>(moves: readonly Move[], isElsewhere: (move: Move) => boolean): Move | undefined {
  const [oldest, second] = moves;
  if (oldest === undefined || second === undefined || !isElsewhere(oldest)) return oldest;
  return moves.findLast(isElsewhere) === oldest ? second : oldest;
}

/** Names that would resolve the empty topic, which cannot be resolved. */
export function isResolvedEmptyTopic(view: View, topic: string): boolean {
  return [resolvedPrefix.trim(), `${resolvedPrefix}${emptyTopicName(view)}`].includes(topic);
}

/** Behaviour 5.7: users who may delete any message, or their own and their bots' within the time limit. */
export function checkDeletion(view: View, caller: UserRecord, { message, channel }: Changeable): Refusal | null {
  const has = (name: "can_delete_any_message_group" | "can_delete_own_message_group") =>
    hasRealmPermission(view, caller, name) || (channel !== null && hasChannelPermission(view, caller, channel, name));
  if (has("can_delete_any_message_group")) return null;
  const sender = view.users.get(message.senderId);
  const isOwn = message.senderId === caller.id || sender?.botOwnerId === caller.id;
  if (!isOwn || !has("can_delete_own_message_group")) {
    return refuse.badRequest("You don't have permission to delete this message");
  }
  return isOver(view, message, realmSetting(view, "message_content_delete_limit_seconds"))
    ? refuse.badRequest("The time limit for deleting this message has passed")
    : null;
}
