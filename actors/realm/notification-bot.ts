/** The bot that announces and notifies: what it says goes through the same door as everybody's messages. */
import type { ChannelRecord, UserRecord } from "../../schemas/records.ts";
import { parseContent } from "../../src/domain/markdown/render.ts";
import { type Address, command } from "../commands.ts";
import { type Effect, effects } from "../effects.ts";

/** Its id is stable: the first user of every realm. */
export const notificationBotId = 1;

/** A message in a channel; one that has the empty topic only gets it there. */
export function botMessage(channel: ChannelRecord, topic: string, content: string): Effect {
  const place = channel.topicsPolicy === "empty_topic_only" ? "" : topic;
  return botPost({ actor: "topic", channelId: channel.id, topic: place }, content);
}

/** A direct message to one person. */
export function botDirectMessage(userId: number, content: string): Effect {
  return botPost({ actor: "direct", userIds: [notificationBotId, userId].sort((a, b) => a - b) }, content);
}

function botPost(to: Address, content: string): Effect {
  const post = {
    content,
    parsed: parseContent(content, { linkifiers: [], translateEmoticons: false }),
    client: "Internal",
    queueId: null,
    localId: null,
    isReadBySender: true,
  };
  return effects.tell(command(to, "message.post", post, notificationBotId));
}

/** A mention that notifies nobody. */
export function silently(user: UserRecord): string {
  return `@_**${user.fullName}|${user.id}**`;
}
