// The HTML of emoji: Unicode emoji are spans that clients draw from their sprite sheet, the realm's own are images.
import { EXTRA_EMOJI, emojiByName } from "../emoji/emoji-table.ts";
import { escapeAttribute, escapeText } from "./escape.ts";

/** A built-in emoji shown with its name as typed, or null if there is none. */
export function builtInEmoji(name: string): string | null {
  if (name === EXTRA_EMOJI.name) return emojiImage(name, EXTRA_EMOJI.url);
  const emoji = emojiByName(name);
  return emoji === null ? null : emojiSpan(name, emoji.code);
}

/** An emoji shown with a name, which may be an alias. */
export function emojiSpan(name: string, code: string): string {
  const title = escapeAttribute(name.replaceAll("_", " "));
  return `<span aria-label="${title}" class="emoji emoji-${code}" role="img" title="${title}">:${escapeText(name)}:</span>`;
}

/** An emoji that is an image: the realm's own, and the extra one. */
export function emojiImage(name: string, url: string): string {
  const title = escapeAttribute(name.replaceAll("_", " "));
  return `<img alt=":${escapeAttribute(name)}:" class="emoji" src="${escapeAttribute(url)}" title="${title}">`;
}
