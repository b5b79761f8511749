/** What a message's row says of its content, when it is posted and when it is edited; and the rows that a message has. */
import { type MessageTrait, traitsOf } from "../../schemas/message-traits.ts";
import type { MessageRecord } from "../../schemas/records.ts";
import type { RenderedContent } from "../../src/domain/markdown/render.ts";
import { indexRow } from "../../src/domain/message-index.ts";
import { type Effect, effects } from "../effects.ts";

type ContentFields = Pick<MessageRecord, "content" | "rendered" | "traits" | "mentionedUserIds" | "mentionedGroupIds">;

/** @param others traits that the content does not tell */
export function contentFields(
  content: string,
  rendered: RenderedContent,
  others: Readonly<Partial<Record<MessageTrait, boolean>>>,
): ContentFields {
  return {
    content,
    rendered: rendered.html,
    traits: traitsOf({
      isMe: rendered.isMeMessage,
      mentionsChannel: rendered.hasChannelWildcard,
      mentionsTopic: rendered.hasTopicWildcard,
      hasLink: rendered.hasLink,
      hasImage: rendered.hasImage,
      hasAttachment: rendered.hasAttachment,
      mentionsPeople: rendered.mentionedUserIds.length + rendered.mentionedGroupIds.length > 0,
      ...others,
    }),
    mentionedUserIds: rendered.mentionedUserIds,
    mentionedGroupIds: rendered.mentionedGroupIds,
  };
}

/** A message as it is from now on, and where the indexes list it. @param channelId null: a direct message */
export function messageRows(message: MessageRecord, channelId: number | null): Effect[] {
  const { id, conversationId } = message;
  const index = indexRow(message);
  return [
    effects.put("messages", id, message),
    effects.put("conversationMessages", [conversationId, id], index),
    ...(channelId === null ? [] : [effects.put("channelMessages", [channelId, id], { conversationId, ...index })]),
  ];
}
