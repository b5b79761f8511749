/** Mentions and links as text that renders, whatever the names contain. */
import { addressOf, channelNarrow, topicNarrow, withMessage } from "../state/narrow.ts";

const wildcards: ReadonlySet<string> = new Set(["all", "everyone", "channel", "stream", "topic"]);

/** A name that several people have, or that means everybody, needs the id. */
export function mentionOf(name: string, userId: number, isShared: boolean): string {
  return isShared || wildcards.has(name) ? `${name}|${userId}` : name;
}

/** Marks that end a reference, or that other clients do not expect there; a topic may look like a link to a message. */
const unfit = /[`>*&[\]\n]|\$\$|@\d+$/;

function escaped(text: string): string {
  return text.replace(/[`>*&[\]$<:@~#|]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** @returns null if the channel's own form cannot be written, so that no topic can follow it */
export function channelStart(name: string): string | null {
  return unfit.test(name) ? null : `#**${name}>`;
}

export function channelReference({ id, name }: { readonly id: number; readonly name: string }): string {
  return unfit.test(name) ? `[#${escaped(name)}](${addressOf(channelNarrow(id), () => name)})` : `#**${name}**`;
}

/** @param newest a message of the topic, if one is known: the link leads to it under any name */
export function topicReference(
  { id, name }: { readonly id: number; readonly name: string },
  topic: string,
  newest?: number,
): string {
  if (!unfit.test(name) && !unfit.test(topic)) return `#**${name}>${topic}**`;
  const address = addressOf(withMessage(topicNarrow(id, topic), newest), () => name);
  return `[#${escaped(name)} &#62; ${escaped(topic)}](${address})`;
}
