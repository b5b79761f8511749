/** What a message's row says of its content, when it is posted and when it is edited; and the rows that a message has. */
import { type MessageTrait, traitsOf } from "../../schemas/message-traits.ts";
import type { MessageRecord } from "../../schemas/records.ts";
import type { RenderedContent } from "../../src/domain/markdown/render.ts";
import { channelIndexRow, indexRow } from "../../src/domain/message-index.ts";
import { type Effect, effects } from "../effects.ts";

type ContentFields = Pick<MessageRecord, "content" | "rendered" | "traits" | "mentionedUserIds" | "mentionedGroupIds">;

/** Traits that the content does not tell. */
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

/** A message as it is from now on, and where the indexes list it. @param channelId null: a direct message */
export function messageRows(message: MessageRecord, channelId: number | null): Effect[] {
  const { id, conversationId } = message;
  return [
    effects.put("messages", id, message),
    effects.put("conversationMessages", [conversationId, id], indexRow(message)),
    ...(channelId === null ? [] : [effects.put("channelMessages", [channelId, id], channelIndexRow(message))]),
  ];
}
