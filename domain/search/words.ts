/**
 * Splits text into searchable words, without case and diacritics. Scripts that do not use spaces are split into single
 * characters, and indexed by them and by pairs of adjacent ones; a query requires its characters to be adjacent
 * (query.ts). Content and queries are split by the same rules, so searching for a text as it is written finds it.
 */
import { limits } from "../../schemas/limits.ts";

const ascii = /^[\0-\x7f]*$/;
const asciiWords = /[a-z0-9]+/g;
const marks = /\p{M}+/gu;
const unspaced = "\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmr}\\p{sc=Mymr}";
const unspacedCharacter = new RegExp(`^[${unspaced}]$`, "u");
const runs = new RegExp(`[${unspaced}]+`, "gu");
/** One character of a script without spaces, or a run of letters and digits of any other. */
const words = new RegExp(`[${unspaced}]|(?:(?![${unspaced}])[\\p{L}\\p{N}])+`, "gu");

/** Ignores case and diacritics: `arger` finds `Ärger`, and plain letters find full-width ones. */
export function foldText(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  // The only letter whose lower-case form depends on its position in the word.
  return text.normalize("NFKD").replace(marks, "").toLowerCase().replaceAll("ς", "σ");
}

/** The words of a folded text in order, with repetitions. */
export function wordsOf(folded: string): string[] {
  return folded.match(wordPattern(folded)) ?? [];
}

/** True for a word that is one character of a script without spaces. */
export function isUnspaced(word: string): boolean {
  return unspacedCharacter.test(word);
}

/** The regular expression for the words of a folded text. */
export function wordPattern(folded: string): RegExp {
  return ascii.test(folded) ? asciiWords : words;
}

/** The index term of a word: a very long one is truncated (matches are checked again). */
export function indexed(word: string): string {
  return word.length <= limits.search_word_characters_max ? word : word.slice(0, limits.search_word_characters_max);
}

/** Index terms of the runs of scripts without spaces in a query: a single character, or all pairs of a longer run. */
export function termsOfRuns(folded: string): string[] {
  return (folded.match(runs) ?? []).flatMap((run) => {
    const characters = [...run];
    return characters.length === 1 ? [run] : pairsOf(characters);
  });
}

function pairsOf(characters: readonly string[]): string[] {
  return characters.slice(1).map((character, before) => `${characters[before]}${character}`);
}

/** All index terms of a folded text, with repetitions: words, their stems, single characters and pairs of runs. */
export function indexTermsOf(folded: string, stem: (word: string) => string): string[] {
  const found = wordsOf(folded);
  const terms = found.map(indexed);
  for (const word of found) {
    const own = stem(word);
    if (own !== word) terms.push(indexed(own));
  }
  if (ascii.test(folded)) return terms;
  for (const run of folded.match(runs) ?? []) terms.push(...pairsOf([...run]));
  return terms;
}

const tagOrEntity = /<[^>]*>|&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});/g;
const namedEntities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": " ",
};

export function decodeEntity(entity: string): string {
  const named = namedEntities[entity];
  if (named !== undefined) return named;
  const [, hex, decimal] = /^&#(?:x([0-9a-fA-F]+)|(\d+));$/.exec(entity) ?? [];
  const code = hex !== undefined ? Number.parseInt(hex, 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}

/** The text that a reader of rendered HTML sees; a tag ends a word. */
export function textOf(html: string): string {
  return html.replace(tagOrEntity, (found) => (found.startsWith("<") ? " " : decodeEntity(found)));
}

const blanks = /\s+/g;

/** A folded text prepared for phrase search: white space collapsed to single spaces. */
export function evenBlanks(folded: string): string {
  return folded.replace(blanks, " ");
}
