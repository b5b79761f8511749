/** Links to topics and messages in what the notification bot writes: whatever characters names hold, they stay text. */
import { encodeHash } from "../../src/domain/markdown/resolve.ts";
import { emptyTopicName } from "../../src/domain/topics.ts";
import type { View } from "../../src/domain/view.ts";

interface Place {
  readonly channelId: number;
  readonly topic: string;
}

/** What would end the shorter form of a link to a topic, or, as a number at the topic's end, make it a link to a message. */
const unsafe = /[`>*&[\]]|\$\$|@\d+$/;
/** Markup in the text of a link, the beginnings of what is struck through and of emoji names among it. */
const markup = /[`>*&[\]$]|~(?=~)|:(?=[\w+-]+:)/g;

export function topicLink(view: View, place: Place): string {
  const channel = view.channels.get(place.channelId)?.name ?? "";
  if (!unsafe.test(channel) && !unsafe.test(place.topic)) return `#**${channel}>${place.topic}**`;
  return `[${placeName(view, place)}](${narrowPath(view, place)})`;
}

/** A link to one message, named by its place. */
export function messageLink(view: View, place: Place, messageId: number): string {
  return `[${placeName(view, place)}](${narrowPath(view, place)}/near/${messageId})`;
}

function placeName(view: View, { channelId, topic }: Place): string {
  const name = topic === "" ? emptyTopicName(view) : topic;
  return `#${escaped(view.channels.get(channelId)?.name ?? "")} > ${escaped(name)}`;
}

/** As text of a link: no character of it means anything. */
function escaped(text: string): string {
  return text.replace(markup, (character) => `&#${character.charCodeAt(0)};`);
}

export function narrowPath(view: View, { channelId, topic }: Place): string {
  const slug = (view.channels.get(channelId)?.name ?? "").replaceAll(" ", "-");
  return `#narrow/channel/${channelId}-${encodeHash(slug)}/topic/${encodeHash(topic)}`;
}
