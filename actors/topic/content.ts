/** The content fields of a message row, for new and edited messages, and the index rows of a message. */

import type { RenderedContent } from "../../domain/markdown/render.ts";
import { channelIndexRow, indexRow } from "../../domain/message-index.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import type { ChannelId, UserId } from "../../schemas/ids.ts";
import { type MessageTrait, traitsOf } from "../../schemas/message-traits.ts";
import type { MessageAlertsRecord, MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/effects.ts";

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
