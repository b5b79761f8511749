/**
 * Finds conversations and builds their actors' context. A conversation without messages has no row.
 *
 * The content fields of a message row, for new and edited messages, and the index rows of a message.
 *
 * The content of message index rows (schemas/read-state.ts). Every writer of a message must write them with these
 * functions.
 */

import type { RenderedContent } from "../../domain/markdown/render.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { fold } from "../../schemas/fold.ts";
import type { ChannelId, ConversationId, MessageId, UserId } from "../../schemas/ids.ts";
import { type MessageTrait, traitsOf } from "../../schemas/message-traits.ts";
import type {
  ConversationRecord,
  MessageAlertsRecord,
  MessageIndexRecord,
  MessageRecord,
} from "../../schemas/messages.ts";
import type { RowOf } from "../../schemas/records.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Address, type Effect, effects } from "../protocol/decision.ts";

type Indexed = Pick<MessageRecord, "conversationId" | "senderId" | "traits">;

/** The row of `conversationMessages`. */
export function indexRow({ senderId, traits }: Pick<Indexed, "senderId" | "traits">): MessageIndexRecord {
  return { senderId, traits };
}

/** The row of `channelMessages`. */
export function channelIndexRow({ conversationId, senderId, traits }: Indexed): RowOf<"channelMessages"> {
  return { conversationId, senderId, traits };
}

type ContentFields = Pick<MessageRecord, "content" | "rendered" | "traits" | "mentionedUserIds" | "mentionedGroupIds">;

/** Traits that do not follow from the content. */
type OtherTraits = Readonly<Partial<Record<MessageTrait, boolean>>>;

export function contentFields(content: string, rendered: RenderedContent, others: OtherTraits): ContentFields {
  return {
    content,
    rendered: rendered.html,
    traits: contentTraits(rendered, others),
    mentionedUserIds: rendered.mentionedUserIds,
    mentionedGroupIds: rendered.mentionedGroupIds,
  };
}

export function contentTraits(rendered: RenderedContent, others: OtherTraits): number {
  const ofContent = traitsOf({
    isMe: rendered.isMeMessage,
    mentionsChannel: rendered.hasChannelWildcard,
    mentionsTopic: rendered.hasTopicWildcard,
    hasLink: rendered.hasLink,
    hasImage: rendered.hasImage,
    hasAttachment: rendered.hasAttachment,
    mentionsPeople: rendered.mentionedUserIds.length + rendered.mentionedGroupIds.length > 0,
  });
  return ofContent | traitsOf(others);
}

/**
 * The row of a message and its index entries.
 * @param channelId null: a direct message
 */
export function messageRows(message: MessageRecord, channelId: ChannelId | null): Effect[] {
  const { id, conversationId } = message;
  return [
    effects.put("messages", id, message),
    effects.put("conversationMessages", [conversationId, id], indexRow(message)),
    ...(channelId === null ? [] : [effects.put("channelMessages", [channelId, id], channelIndexRow(message))]),
  ];
}

export interface Posted {
  readonly message: MessageRecord;
  readonly sender: UserRecord;
  /** null for a direct conversation. */
  readonly channel: ChannelRecord | null;
  /** "" in a direct conversation. */
  readonly topic: string;
  /** Participants of a direct conversation, ascending; null in channels. */
  readonly userIds: readonly UserId[] | null;
  readonly rendered: RenderedContent;
  /** Users who should notice the message although it does not mention them by name. */
  readonly alerts: MessageAlertsRecord | null;
}

/** Key of a set of participants in `directNames`: ascending ids. */
export function directName(userIds: readonly UserId[]): string {
  return userIds.join(",");
}

export function conversationIdOf(address: Address, view: View): number | null {
  switch (address.actor) {
    case "conversation":
      return address.id;
    case "message":
      return view.row("messages", address.id)?.conversationId ?? null;
    case "topic":
      return view.row("topicNames", [address.channelId, fold(address.topic)])?.id ?? null;
    case "direct":
      return view.row("directNames", directName(address.userIds))?.id ?? null;
    default:
      throw new Error(`${address.actor} is no conversation`);
  }
}

export function contextOf(row: ConversationRecord): TopicContext {
  const { id, channelId, topic, userIds, lastMessageId, renames, movingId } = row;
  return { id, channelId, topic, userIds, lastMessageId, renames, movingId };
}

/**
 * The row of a conversation with an id. Fields are listed one by one because a spread is slow to copy and every post
 * would pay for it.
 */
export function rowOf(id: number, state: string, version: number, context: TopicContext): ConversationRecord {
  const { channelId, topic, userIds, lastMessageId, renames, movingId } = context;
  return { id, state, version, channelId, topic, userIds, lastMessageId, renames, movingId };
}

export function emptyContext(address: Address): TopicContext {
  return {
    id: null,
    channelId: address.actor === "topic" ? address.channelId : null,
    topic: address.actor === "topic" ? address.topic : "",
    userIds: address.actor === "direct" ? address.userIds : null,
    lastMessageId: 0,
    renames: 0,
    movingId: null,
  };
}

/** The context of the actor at an address, to preview its decisions. */
export function contextAt(address: Address, view: View): TopicContext {
  const id = conversationIdOf(address, view);
  const row = id === null ? undefined : view.row("conversations", id);
  return row === undefined ? emptyContext(address) : contextOf(row);
}

export interface TopicContext {
  /** null until the first message. */
  readonly id: ConversationId | null;
  readonly channelId: ChannelId | null;
  readonly topic: string;
  readonly userIds: readonly UserId[] | null;
  /** 0: there is none. */
  readonly lastMessageId: MessageId;
  readonly renames: number;
  readonly movingId: number | null;
}

export const emptyTopic: TopicContext = {
  id: null,
  channelId: null,
  topic: "",
  userIds: null,
  lastMessageId: 0,
  renames: 0,
  movingId: null,
};
