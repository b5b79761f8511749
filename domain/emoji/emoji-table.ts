// Built-in emoji by name and by code. The clients' list defines the names of its emoji; emojibase-data adds the others
// under names that the list does not use. A code is the code points in lower-case hex with at least four digits, joined
// by "-", without the variation selector fe0f ("1f642", "2764", "0031-20e3"). Emoji with skin tones are not separate
// emoji. The tables are built once on first use, which takes some ten milliseconds.
import github from "emojibase-data/en/shortcodes/github.json" with { type: "json" };
import iamcal from "emojibase-data/en/shortcodes/iamcal.json" with { type: "json" };
import { clientEmojiNames } from "./emoji-names.ts";

/** The one emoji that is neither Unicode nor the realm's: shown as an image, reaction type `service_extra_emoji`. */
export const EXTRA_EMOJI = {
  name: "zulip",
  code: "zulip",
  url: "/static/generated/emoji/images/emoji/unicode/zulip.png",
} as const;

export interface EmojiName {
  readonly code: string;
  /** The canonical name of the code, whichever alias was requested. */
  readonly name: string;
}

export interface EmojiCode {
  readonly code: string;
  /** All names, the canonical one first; never empty. */
  readonly names: readonly string[];
}

interface Tables {
  readonly byName: ReadonlyMap<string, EmojiName>;
  readonly byCode: ReadonlyMap<string, EmojiCode>;
  readonly byCharacters: ReadonlyMap<string, EmojiCode>;
  readonly firstCodePoints: ReadonlySet<number>;
}

const SKIN_TONE = /(?:^|-)1f3f[b-f]/;
const SOURCES: readonly Record<string, string | string[]>[] = [iamcal, github];
const EMOJI_STYLE = "\ufe0f";
/** Characters allowed in `:name:`. Some names have accents, and a second name without them. */
const NAME_FORM = /^[\p{L}\p{N}_+-]+$/u;

let tables: Tables | null = null;

/** The Unicode emoji with this canonical name or alias, or null. Case-sensitive. */
export function emojiByName(name: string): EmojiName | null {
  return getTables().byName.get(name) ?? null;
}

/** The Unicode emoji with this code, or null. */
export function emojiByCode(code: string): EmojiCode | null {
  return getTables().byCode.get(code) ?? null;
}

/** True for every name that needs no realm emoji: Unicode names and the extra emoji. */
export function isEmojiName(name: string): boolean {
  return name === EXTRA_EMOJI.name || getTables().byName.has(name);
}

/** The Unicode emoji with these characters (with or without variation selectors), or null. */
export function emojiByCharacters(characters: string): EmojiCode | null {
  return getTables().byCharacters.get(characters.replaceAll(EMOJI_STYLE, "")) ?? null;
}

/** True if an emoji starts with this code point. */
export function beginsEmoji(codePoint: number): boolean {
  return getTables().firstCodePoints.has(codePoint);
}

/** All Unicode emoji codes. */
export function emojiCodes(): Iterable<string> {
  return getTables().byCode.keys();
}

/** The characters of a code, without variation selectors. */
export function charactersOfCode(code: string): string {
  return String.fromCodePoint(...code.split("-").map((part) => Number.parseInt(part, 16)));
}

function getTables(): Tables {
  tables ??= buildTables();
  return tables;
}

function buildTables(): Tables {
  const owners = new Map<string, string>();
  const namesByCode = new Map<string, string[]>();
  const give = (code: string, name: string): void => {
    if (owners.has(name) || !NAME_FORM.test(name)) return;
    owners.set(name, code);
    const names = namesByCode.get(code);
    if (names === undefined) namesByCode.set(code, [name]);
    else names.push(name);
  };
  const listed = clientEmojiNames();
  const isListed = new Set(listed.map(([code]) => code));
  for (const [code, names] of listed) for (const name of names) give(code, name);
  for (const hexcode of new Set(SOURCES.flatMap((source) => Object.keys(source)))) {
    const code = codeOfHexcode(hexcode);
    if (isListed.has(code) || SKIN_TONE.test(code)) continue;
    // For sequences the second source has names with underscores ("woman_shrugging", not "woman-shrugging").
    const sources = code.includes("-") ? [...SOURCES].reverse() : SOURCES;
    for (const name of sources.flatMap((source) => source[hexcode] ?? [])) give(code, name);
  }
  return indexNames(namesByCode);
}

function indexNames(namesByCode: ReadonlyMap<string, readonly string[]>): Tables {
  const byName = new Map<string, EmojiName>();
  const byCode = new Map<string, EmojiCode>();
  const byCharacters = new Map<string, EmojiCode>();
  const firstCodePoints = new Set<number>();
  for (const [code, names] of namesByCode) {
    const emoji = { code, names };
    const characters = charactersOfCode(code);
    byCode.set(code, emoji);
    byCharacters.set(characters, emoji);
    firstCodePoints.add(characters.codePointAt(0) ?? 0);
    for (const name of names) byName.set(name, { code, name: names[0] ?? name });
  }
  return { byName, byCode, byCharacters, firstCodePoints };
}

function codeOfHexcode(hexcode: string): string {
  return hexcode
    .toLowerCase()
    .split("-")
    .filter((part) => part !== "fe0f")
    .join("-");
}
