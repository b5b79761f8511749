/**
 * Who may change which message (spec 4.4; public API: update-message, delete-message; behaviour 5.6, 5.7). Pure questions; each
 * answers with the refusal that the public server gives. That the caller can read the message is asked before.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, ConversationRecord, MessageRecord, UserRecord } from "../../schemas/records.ts";
import { roles } from "../../schemas/types.ts";
import {
  canAdminister,
  canReadMessage,
  hasChannelPermission,
  hasContentAccess,
  hasRealmPermission,
} from "./permissions.ts";
import { realmSetting } from "./realm-settings.ts";
import { cutTopic, emptyTopicName } from "./topics.ts";
import type { View } from "./view.ts";

/** Where a message is that somebody wants to change; `channel` is null for direct messages. */
export interface Changeable {
  readonly message: MessageRecord;
  readonly channel: ChannelRecord | null;
}

/** One answer for what is not there, may not be seen, or is in a channel that is archived. */
export function findChangeable(
  view: View,
  caller: UserRecord,
  messageId: number,
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

/** Content is the sender's own, whatever anybody's role is. */
export function checkContentEdit(view: View, caller: UserRecord, message: MessageRecord): Refusal | null {
  if (!realmSetting(view, "allow_message_editing")) {
    return refuse.badRequest("Your organization has turned off message editing");
  }
  if (message.senderId !== caller.id) return refuse.badRequest("You don't have permission to edit this message");
  return isOver(view, message, withGrace(realmSetting(view, "message_content_edit_limit_seconds")))
    ? refuse.badRequest("The time limit for editing this message has passed")
    : null;
}

/** Where messages go, and whether that only resolves or unresolves their topic. */
export interface Move {
  readonly from: ChannelRecord;
  readonly to: ChannelRecord;
  readonly toggle: TopicToggle;
  readonly isTopicChanged: boolean;
}

/** Moderators and above move at any time. */
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

/** Seconds after which a whole move is refused to this caller: the strictest limit that applies; null: none. */
export function moveLimitS(view: View, caller: UserRecord, move: Move): number | null {
  if (isModerator(caller) || move.toggle !== "none") return null;
  const limitsS = [
    move.isTopicChanged ? realmSetting(view, "move_messages_within_stream_limit_seconds") : null,
    move.from.id === move.to.id ? null : realmSetting(view, "move_messages_between_streams_limit_seconds"),
  ].flatMap((limitS) => withGrace(limitS) ?? []);
  return limitsS.length === 0 ? null : Math.min(...limitsS);
}

/** The channel that messages go to: one whose content the caller can read; D24: else it is as if it were not there. */
export function findTarget(view: View, caller: UserRecord, channelId: number): ChannelRecord | Refusal {
  const channel = view.channels.get(channelId);
  if (channel === undefined || channel.isArchived || !hasContentAccess(view, caller, channel)) {
    return refuse.invalidChannelId();
  }
  return channel;
}

export const resolvedPrefix = "✔ ";

/** What a change of a topic's name is, when it is only that: the mark of a resolved topic set or taken away. */
export type TopicToggle = "resolved" | "unresolved" | "none";

/** @param topic the new name as it is kept: a name that was cut because of the mark is resolved like any other (spec 2.9) */
export function topicToggle(former: string, topic: string): TopicToggle {
  const wasResolved = former.startsWith(resolvedPrefix);
  if (topic.startsWith(resolvedPrefix)) {
    return !wasResolved && topic === cutTopic(resolvedPrefix + former) ? "resolved" : "none";
  }
  return wasResolved && former.replace(/^[✔ ]+/u, "") === topic ? "unresolved" : "none";
}

/** Whether a message that moved so is somewhere else now; a topic that was only resolved or unresolved is where it was (spec 2.9). */
export function leadsElsewhere(
  from: { readonly channelId: number; readonly topic: string },
  to: { readonly channelId: number; readonly topic: string },
): boolean {
  if (from.channelId !== to.channelId) return true;
  return from.topic !== to.topic && topicToggle(from.topic, to.topic) === "none";
}

/**
 * Which of too many moves is forgotten (S3): the oldest, but never the newest that led elsewhere, by which it is known when a
 * message moved (spec 2.9).
 * @param moves oldest first
 */
export function forgottenMove<Move>(moves: readonly Move[], isElsewhere: (move: Move) => boolean): Move | undefined {
  const [oldest, second] = moves;
  if (oldest === undefined || second === undefined || !isElsewhere(oldest)) return oldest;
  return moves.findLast(isElsewhere) === oldest ? second : oldest;
}

/** Names that would resolve the empty topic, which cannot be. */
export function isResolvedEmptyTopic(view: View, topic: string): boolean {
  return [resolvedPrefix.trim(), `${resolvedPrefix}${emptyTopicName(view)}`].includes(topic);
}

/** Behaviour 5.7: who may delete any message, or one's own and one's bots' in time. */
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
