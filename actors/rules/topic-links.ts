/**
 * Links to topics and messages in texts of the notification bot. Names may contain any characters and must not be
 * interpreted as markup.
 */

import { encodeHash } from "../../domain/markdown/resolve.ts";
import { emptyTopicName } from "../../domain/topics.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelId, MessageId } from "../../schemas/ids.ts";

interface TopicAddress {
  readonly channelId: ChannelId;
  readonly topic: string;
}

/** Characters that would end the short form of a topic link, or a trailing number that would make it a message link. */
const unsafe = /[`>*&[\]]|\$\$|@\d+$/;
/** Markup in a link's text, including the beginning of strikethrough and of emoji names. */
const markup = /[`>*&[\]$]|~(?=~)|:(?=[\w+-]+:)/g;

export function topicLink(view: View, place: TopicAddress): string {
  const channel = view.channels.get(place.channelId)?.name ?? "";
  if (!unsafe.test(channel) && !unsafe.test(place.topic)) return `#**${channel}>${place.topic}**`;
  return `[${placeName(view, place)}](${narrowPath(view, place)})`;
}

/** A link to one message, with its channel and topic as the text. */
export function messageLink(view: View, place: TopicAddress, messageId: MessageId): string {
  return `[${placeName(view, place)}](${narrowPath(view, place)}/near/${messageId})`;
}

function placeName(view: View, { channelId, topic }: TopicAddress): string {
  const name = topic === "" ? emptyTopicName(view) : topic;
  return `#${escaped(view.channels.get(channelId)?.name ?? "")} > ${escaped(name)}`;
}

/** Escapes markup in a link's text. */
function escaped(text: string): string {
  return text.replace(markup, (character) => `&#${character.charCodeAt(0)};`);
}

export function narrowPath(view: View, { channelId, topic }: TopicAddress): string {
  const slug = (view.channels.get(channelId)?.name ?? "").replaceAll(" ", "-");
  return `#narrow/channel/${channelId}-${encodeHash(slug)}/topic/${encodeHash(topic)}`;
}
