/** The notification bot posts announcements and notices. Its messages are posted by the same command as everybody's. */

import { parseContent } from "../../domain/markdown/render.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import type { UserId } from "../../schemas/ids.ts";
import type { MessagePost } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Address, type Command, command } from "../protocol/decision.ts";

/** Stable: the first user of every realm. */
export const notificationBotId = 1;

/** A message in a channel. If the channel allows only the empty topic, that topic is used. */
export function botMessage(channel: ChannelRecord, topic: string, content: string, more: BotPostOptions = {}): Command {
  const place = channel.topicsPolicy === "empty_topic_only" ? "" : topic;
  return botPost({ actor: "topic", channelId: channel.id, topic: place }, content, more);
}

export function botDirectMessage(userId: UserId, content: string, more: BotPostOptions = {}): Command<"message.post"> {
  return botPost(botConversation(userId), content, more);
}

/** The address of its direct conversation with a user. */
export function botConversation(userId: UserId): Address {
  return { actor: "direct", userIds: [notificationBotId, userId].sort((a, b) => a - b) };
}

export type BotPostOptions = Partial<Pick<MessagePost, "mentionsAs" | "isResolveNotice" | "unreadByIds" | "readById">>;

export function botPost(to: Address, content: string, more: BotPostOptions = {}): Command<"message.post"> {
  const post = {
    content,
    parsed: parseContent(content, { linkifiers: [], translateEmoticons: false }),
    client: "Internal",
    queueId: null,
    localId: null,
    isReadBySender: true,
    ...more,
  };
  return command(to, "message.post", post, notificationBotId);
}

/** A silent mention, which sends no notification. */
export function silentMention(user: UserRecord): string {
  return `@_**${user.fullName}|${user.id}**`;
}
