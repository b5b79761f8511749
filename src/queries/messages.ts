/** The message object (spec 2.9) in its variants. */
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { ConversationRecord, MessageRecord, UserRecord } from "../../schemas/records.ts";
import type { ExtraType } from "../domain/emoji/extra-type.ts";
import { renderTopicLinks } from "../domain/markdown/render.ts";
import { apiEmail, avatarUrl } from "../domain/people.ts";
import { seconds } from "../domain/presence.ts";
import { shownTopic } from "../domain/topics.ts";
import type { View } from "../domain/view.ts";
import { changeFields, type HiddenChannels } from "./message-history.ts";
import { reactionBodies } from "./reactions.ts";
import { submessageBodies } from "./submessages.ts";

/** What shapes a message for a client. Two clients with equal options get equal bytes. */
export interface MessageOptions {
  readonly applyMarkdown: boolean;
  readonly clientGravatar: boolean;
  readonly allowEmptyTopicName: boolean;
  /** What the client calls the extra emoji's type in reactions. */
  readonly extraEmojiType: ExtraType;
}

/**
 * Without `flags`, which are the reader's. undefined when its conversation is gone.
 * @param hidden of the channels that it came from, those that its readers may not know
 */
export function messageBody(
  view: View,
  message: MessageRecord,
  options: MessageOptions,
  hidden: HiddenChannels,
): Record<string, unknown> | undefined {
  const conversation = view.row("conversations", message.conversationId);
  return conversation === undefined ? undefined : messageIn(view, conversation, message, options, hidden);
}

/** The same for a message and a conversation that are not on disk, too. */
export function messageIn(
  view: View,
  conversation: ConversationRecord,
  message: MessageRecord,
  options: MessageOptions,
  hidden: HiddenChannels,
): Record<string, unknown> | undefined {
  const sender = view.users.get(message.senderId);
  if (sender === undefined) return undefined;
  const place =
    conversation.userIds === null ? channelPlace(view, conversation, options) : directPlace(view, conversation);
  if (place === undefined) return undefined;
  return {
    id: message.id,
    sender_id: sender.id,
    content: options.applyMarkdown ? message.rendered : message.content,
    content_type: options.applyMarkdown ? "text/html" : "text/x-markdown",
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
    type: "stream",
    stream_id: channel.id,
    display_recipient: channel.name,
    recipient_id: channel.recipientId,
    subject: shownTopic(view, conversation.topic, options.allowEmptyTopicName),
    topic_links: topicLinks(view, conversation),
  };
}

type TopicLinks = ReturnType<typeof renderTopicLinks>;

/**
 * By the list of linkifiers and the conversation's row, which change when what they say changes: a page of messages looks for
 * links in their topic once.
 */
const knownLinks = new WeakMap<View["linkifiers"], WeakMap<ConversationRecord, TopicLinks>>();

function topicLinks({ linkifiers }: View, conversation: ConversationRecord): TopicLinks {
  const byRow = knownLinks.get(linkifiers) ?? new WeakMap<ConversationRecord, TopicLinks>();
  knownLinks.set(linkifiers, byRow);
  const links = byRow.get(conversation) ?? renderTopicLinks(conversation.topic, linkifiers);
  byRow.set(conversation, links);
  return links;
}

/** Both directions of a conversation share its id (spec 2.9, since level 327). */
function directPlace(view: View, conversation: ConversationRecord) {
  const people = (conversation.userIds ?? []).flatMap((id) => view.users.get(id) ?? []);
  const recipients = people.map((user) => ({
    id: user.id,
    email: apiEmail(user),
    full_name: user.fullName,
    is_mirror_dummy: false,
  }));
  return {
    type: "private",
    display_recipient: recipients.sort((a, b) => (a.email < b.email ? -1 : 1)),
    recipient_id: conversation.id,
    subject: "",
    topic_links: [],
  };
}

/** The newest message that the person received (OpenAPI, register): one look per channel and conversation; -1: none. */
export function newestReceived(view: View, reader: UserRecord): number {
  let newest = -1;
  for (const { channelId, stays } of view.subscriptions.ofUser(reader.id)) {
    const stay = stays.at(-1);
    if (stay === undefined) continue;
    const start = [channelId, stay.leftAtId ?? Number.MAX_SAFE_INTEGER] as const;
    const end = [channelId, stay.joinedAfterId] as const;
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
