/** The bot that announces and notifies: what it says goes through the same door as everybody's messages. */
import type { ChannelRecord, UserRecord } from "../../schemas/records.ts";
import { parseContent } from "../../src/domain/markdown/render.ts";
import { type Address, type Command, command, type MessagePost } from "../commands.ts";

/** Its id is stable: the first user of every realm. */
export const notificationBotId = 1;

/** A message in a channel; one that has the empty topic only gets it there. */
export function botMessage(channel: ChannelRecord, topic: string, content: string, more: Peculiarity = {}): Command {
  const place = channel.topicsPolicy === "empty_topic_only" ? "" : topic;
  return botPost({ actor: "topic", channelId: channel.id, topic: place }, content, more);
}

/** A direct message to one person. */
export function botDirectMessage(userId: number, content: string, more: Peculiarity = {}): Command<"message.post"> {
  return botPost(botConversation(userId), content, more);
}

/** Where it writes to one person. */
export function botConversation(userId: number): Address {
  return { actor: "direct", userIds: [notificationBotId, userId].sort((a, b) => a - b) };
}

export type Peculiarity = Partial<Pick<MessagePost, "mentionsAs" | "isResolveNotice" | "unreadByIds" | "readById">>;

export function botPost(to: Address, content: string, more: Peculiarity = {}): Command<"message.post"> {
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

/** A mention that notifies nobody. */
export function silently(user: UserRecord): string {
  return `@_**${user.fullName}|${user.id}**`;
}
