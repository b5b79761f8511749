/**
 * What a text is searched by: its words without case and diacritics. Scripts that set no blanks between words are cut into single
 * characters; a query demands that its characters stand together (query.ts). Content and query are cut by the same rules, so
 * whatever stands in a text is found by writing it again.
 */
import { limits } from "../../../schemas/limits.ts";

const ascii = /^[\0-\x7f]*$/;
const asciiWords = /[a-z0-9_]+/g;
const marks = /\p{M}+/gu;
const unspaced = "\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmr}\\p{sc=Mymr}";
const unspacedCharacter = new RegExp(`^[${unspaced}]$`, "u");
/** One character of a script without blanks, or a run of letters and digits of any other. */
const words = new RegExp(`[${unspaced}]|(?:(?![${unspaced}])[\\p{L}\\p{N}_])+`, "gu");

/** Case and diacritics do not count: `Ärger` is found by `arger`, full-width letters by plain ones. */
export function foldText(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  // The one letter whose small form depends on its place in the word.
  return text.normalize("NFKD").replace(marks, "").toLowerCase().replaceAll("ς", "σ");
}

/** The words of a folded text in their order, repeated ones too. */
export function wordsOf(folded: string): string[] {
  return folded.match(wordPattern(folded)) ?? [];
}

/** True for a word that is one character of a script without blanks: it is a word wherever it appears. */
export function isUnspaced(word: string): boolean {
  return unspacedCharacter.test(word);
}

/** The regular expression that finds the words of a folded text, in their order. */
export function wordPattern(folded: string): RegExp {
  return ascii.test(folded) ? asciiWords : words;
}

/** Under which a word stands in the index: a very long one under its beginning (what is found is looked at again). */
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

/** What a reader of rendered HTML sees as text; a tag ends a word. */
export function textOf(html: string): string {
  return html.replace(tagOrEntity, (found) => (found.startsWith("<") ? " " : decodeEntity(found)));
}

const blanks = /\s+/g;

/** A folded text as phrases are looked for in it: blanks of any kind and number are one. */
export function evenBlanks(folded: string): string {
  return folded.replace(blanks, " ");
}
