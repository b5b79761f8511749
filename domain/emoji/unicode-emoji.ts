// Finds emoji characters in text. A run of characters that belong together (zero-width joiners, keycaps, flags, skin
// tones) is looked up as a whole: an unknown sequence stays text, because half a family is not what was typed. Linear:
// every character is visited once or twice.
import { beginsEmoji, type EmojiCode, emojiByCharacters } from "./emoji-table.ts";

export interface EmojiRun {
  readonly end: number;
  /** null if the run is an unknown emoji sequence. */
  readonly emoji: EmojiCode | null;
}

const JOINER = 0x200d;
const EMOJI_STYLE = 0xfe0f;
const TEXT_STYLE = 0xfe0e;
const KEYCAP = 0x20e3;
const ASCII_MAX = 0x7f;
// Signs that are common in prose: they are emoji only with a variation selector.
const PROSE_SIGNS = new Set([0xa9, 0xae, 0x2122]);

/** The emoji run that starts at `position`, or null. */
export function emojiRunAt(text: string, position: number): EmojiRun | null {
  const first = text.codePointAt(position);
  if (first === undefined || !beginsEmoji(first)) return null;
  const end = endOfRun(text, position, first);
  const run = text.slice(position, end);
  if (text.codePointAt(end) === TEXT_STYLE) return { end: end + 1, emoji: null };
  if (first <= ASCII_MAX && !run.endsWith(String.fromCodePoint(KEYCAP))) return null;
  if (PROSE_SIGNS.has(first) && run.charCodeAt(1) !== EMOJI_STYLE) return null;
  return { end, emoji: emojiByCharacters(run) };
}

/** The end of the element at `position` and of everything joined to it. */
function endOfRun(text: string, position: number, first: number): number {
  let end = endOfElement(text, position, first);
  for (let next = text.codePointAt(end); next === JOINER; next = text.codePointAt(end)) {
    const joined = text.codePointAt(end + 1);
    if (joined === undefined) break;
    end = endOfElement(text, end + 1, joined);
  }
  return end;
}

function endOfElement(text: string, position: number, codePoint: number): number {
  let end = position + widthOf(codePoint);
  if (isRegionalIndicator(codePoint)) {
    const second = text.codePointAt(end);
    return second !== undefined && isRegionalIndicator(second) ? end + widthOf(second) : end;
  }
  for (let next = text.codePointAt(end); next !== undefined && isModifier(next); next = text.codePointAt(end)) {
    end += widthOf(next);
  }
  return end;
}

function isModifier(codePoint: number): boolean {
  return codePoint === EMOJI_STYLE || codePoint === KEYCAP || isSkinTone(codePoint) || isTag(codePoint);
}

const isSkinTone = (codePoint: number): boolean => codePoint >= 0x1f3fb && codePoint <= 0x1f3ff;
const isTag = (codePoint: number): boolean => codePoint >= 0xe0020 && codePoint <= 0xe007f;
const isRegionalIndicator = (codePoint: number): boolean => codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff;
const widthOf = (codePoint: number): number => (codePoint > 0xffff ? 2 : 1);
