/** What a message's row says of its content, when it is posted and when it is edited. */
import { type MessageTrait, traitsOf } from "../../schemas/message-traits.ts";
import type { MessageRecord } from "../../schemas/records.ts";
import type { RenderedContent } from "../../src/domain/markdown/render.ts";

type ContentFields = Pick<MessageRecord, "content" | "rendered" | "traits" | "mentionedUserIds" | "mentionedGroupIds">;

/** @param others traits that the content does not tell */
export function contentFields(
  content: string,
  rendered: RenderedContent,
  others: readonly MessageTrait[],
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
      ...Object.fromEntries(others.map((trait) => [trait, true])),
    }),
    mentionedUserIds: rendered.mentionedUserIds,
    mentionedGroupIds: rendered.mentionedGroupIds,
  };
}
