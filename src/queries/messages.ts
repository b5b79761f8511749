/** The message object (spec 2.9) in its variants. */

import { type ExtraType, shownType } from "../../domain/emoji/extra-type.ts";
import { renderTopicLinks } from "../../domain/markdown/render.ts";
import { apiEmail, avatarUrl } from "../../domain/people.ts";
import { seconds } from "../../domain/presence.ts";
import { shownTopic } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import { type ReactionType, reactionTypes } from "../../schemas/event-values.ts";
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord, MessageBody, MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { changeFields, type HiddenChannels } from "./message-history.ts";
import type { Section } from "./state-section.ts";

interface ReactionBody {
  readonly emoji_name: string;
  readonly emoji_code: string;
  readonly reaction_type: ReactionType | ExtraType;
  readonly user_id: number;
}

/**
 * Costs nothing if there are none, because the message's row records it.
 * @param extraType the client's name for the type of the extra emoji (D22)
 */
function reactionBodies(view: View, message: MessageRecord, extraType: ExtraType): readonly ReactionBody[] {
  const rows = reactionRows(view, message).sort((a, b) => a.row.position - b.row.position);
  return rows.map(({ key, row }) => ({
    emoji_name: row.emojiName,
    emoji_code: row.emojiCode,
    reaction_type: shownType(row.reactionType, extraType),
    user_id: key[1],
  }));
}

/** Whether the message's reactions depend on the client. */
export function hasExtraReaction(view: View, message: MessageRecord): boolean {
  return reactionRows(view, message).some(({ row }) => row.reactionType === reactionTypes.extra);
}

function reactionRows(view: View, message: MessageRecord) {
  if (!hasTrait(message.traits, "hasReactions")) return [];
  const range = { start: [message.id], end: [message.id + 1], limit: limits.reactions_per_message_max };
  return view.rows("reactions", range);
}

/** Options that determine a client's version of a message. Clients with equal options receive equal bytes. */
export interface MessageOptions {
  readonly applyMarkdown: boolean;
  readonly clientGravatar: boolean;
  readonly allowEmptyTopicName: boolean;
  /** The client's name for the type of the extra emoji in reactions. */
  readonly extraEmojiType: ExtraType;
}

/**
 * Without `flags`, which depend on the reader. undefined if its conversation no longer exists.
 * @param hidden the former channels that the reader may not see
 */
export function messageBody(
  view: View,
  message: MessageRecord,
  options: MessageOptions,
  hidden: HiddenChannels,
): MessageBody | undefined {
  const conversation = view.row("conversations", message.conversationId);
  return conversation === undefined ? undefined : messageIn(view, conversation, message, options, hidden);
}

/** The same for a message and a conversation that need not be stored. */
export function messageIn(
  view: View,
  conversation: ConversationRecord,
  message: MessageRecord,
  options: MessageOptions,
  hidden: HiddenChannels,
): MessageBody | undefined {
  const sender = view.users.get(message.senderId);
  if (sender === undefined) return undefined;
  const place =
    conversation.userIds === null ? channelPlace(view, conversation, options) : directPlace(view, conversation);
  if (place === undefined) return undefined;
  return {
    id: message.id,
    sender_id: sender.id,
    content: options.applyMarkdown ? message.rendered : message.content,
    content_type: options.applyMarkdown ? ("text/html" as const) : ("text/x-markdown" as const),
    timestamp: seconds(message.sentAt),
    client: message.client,
    is_me_message: hasTrait(message.traits, "isMe"),
    reactions: reactionBodies(view, message, options.extraEmojiType),
    submessages: submessageBodies(view, message),
    sender_full_name: sender.fullName,
    sender_email: apiEmail(sender),
    sender_realm_str: view.realm.label,
    avatar_url: avatarUrl(sender, options.clientGravatar),
    ...place,
    ...changeFields(view, message, conversation, options.allowEmptyTopicName, hidden),
  };
}

function channelPlace(view: View, conversation: ConversationRecord, options: MessageOptions) {
  const channel = view.channels.get(conversation.channelId ?? 0);
  if (channel === undefined) return undefined;
  return {
    type: "stream" as const,
    stream_id: channel.id,
    display_recipient: channel.name,
    recipient_id: channel.recipientId,
    subject: shownTopic(view, conversation.topic, options.allowEmptyTopicName),
    topic_links: topicLinks(view, conversation),
  };
}

type TopicLinks = ReturnType<typeof renderTopicLinks>;

/**
 * Keyed by the list of linkifiers and the conversation's row, which are replaced when they change: a page of messages
 * computes its topic's links once.
 */
const knownLinks = new WeakMap<View["linkifiers"], WeakMap<ConversationRecord, TopicLinks>>();

function topicLinks({ linkifiers }: View, conversation: ConversationRecord): TopicLinks {
  const byRow = knownLinks.get(linkifiers) ?? new WeakMap<ConversationRecord, TopicLinks>();
  knownLinks.set(linkifiers, byRow);
  const links = byRow.get(conversation) ?? renderTopicLinks(conversation.topic, linkifiers);
  byRow.set(conversation, links);
  return links;
}

/** Both directions of a direct conversation share its id (spec 2.9, since level 327). */
function directPlace(view: View, conversation: ConversationRecord) {
  const people = (conversation.userIds ?? []).flatMap((id) => view.users.get(id) ?? []);
  const recipients = people.map((user) => ({
    id: user.id,
    email: apiEmail(user),
    full_name: user.fullName,
    is_mirror_dummy: false,
  }));
  return {
    type: "private" as const,
    display_recipient: recipients.sort((a, b) => (a.email < b.email ? -1 : 1)),
    recipient_id: conversation.id,
    subject: "",
    topic_links: [],
  };
}

/**
 * The newest message that the user received (OpenAPI, register): one lookup per channel and conversation.
 * @param upTo newer ones in channels are left out
 * @returns -1 if there is none
 */
export function newestReceived(view: View, reader: UserRecord, upTo = Number.MAX_SAFE_INTEGER): number {
  let newest = -1;
  for (const { channelId, periods } of view.subscriptions.ofUser(reader.id)) {
    const period = periods.at(-1);
    if (period === undefined) continue;
    const start = [channelId, Math.min(period.leftAtId ?? upTo, upTo)] as const;
    const end = [channelId, period.joinedAfterId] as const;
    const [last] = view.keys("channelMessages", { start, end, reverse: true, limit: 1 });
    newest = Math.max(newest, last?.[1] ?? -1);
  }
  const limit = limits.recent_direct_conversations_max;
  const directs = { start: [reader.id + 1], end: [reader.id], reverse: true, limit };
  for (const [, id] of view.keys("directConversations", directs)) {
    newest = Math.max(newest, view.row("conversations", id)?.lastMessageId ?? -1);
  }
  return newest;
}

/**
 * The caller's direct conversations, newest message first (behaviour 4.1). If there are very many, those started last.
 */
export const recentDirectConversationsState: Section<"recent_private_conversations"> = (view, user) => {
  const keys = view.keys("directConversations", {
    start: [user.id + 1],
    end: [user.id],
    reverse: true,
    limit: limits.recent_direct_conversations_max,
  });
  const recent = keys.flatMap(([, id]) => {
    const conversation = view.row("conversations", id);
    if (conversation === undefined) return [];
    const others = (conversation.userIds ?? []).filter((participant) => participant !== user.id);
    return [{ max_message_id: conversation.lastMessageId, user_ids: others }];
  });
  return { recent_private_conversations: recent.sort((a, b) => b.max_message_id - a.max_message_id) };
};

export const newestMessageState: Section<"message"> = (view, user) => ({ max_message_id: newestReceived(view, user) });

/** Submessages, oldest first. Costs nothing if there are none, because the message's row records it. */
function submessageBodies(view: View, message: MessageRecord) {
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
