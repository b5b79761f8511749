/**
 * Splits text into searchable words, without case and diacritics. Scripts that do not use spaces are split into single
 * characters; a query requires its characters to be adjacent (query.ts). Content and queries are split by the same
 * rules, so searching for a text as it is written finds it.
 */
import { limits } from "../../schemas/limits.ts";

const ascii = /^[\0-\x7f]*$/;
const asciiWords = /[a-z0-9]+/g;
const marks = /\p{M}+/gu;
const unspaced = "\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmr}\\p{sc=Mymr}";
const unspacedCharacter = new RegExp(`^[${unspaced}]$`, "u");
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

export function isAscii(text: string): boolean {
  return ascii.test(text);
}

/** Where a word begins in a folded ASCII text; not where its letters are a part of a longer word. */
export function asciiWordStarts(folded: string, word: string, most = Number.POSITIVE_INFINITY): number[] {
  const starts: number[] = [];
  for (let at = folded.indexOf(word); at >= 0 && starts.length < most; at = folded.indexOf(word, at + 1)) {
    if (!isWordCode(folded.charCodeAt(at - 1)) && !isWordCode(folded.charCodeAt(at + word.length))) starts.push(at);
  }
  return starts;
}

/** One of a to z and 0 to 9, as in `asciiWords`. */
function isWordCode(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

/** The index term of a word: a very long one is truncated (matches are checked again). */
export function indexed(word: string): string {
  return word.length <= limits.search_word_characters_max ? word : word.slice(0, limits.search_word_characters_max);
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
