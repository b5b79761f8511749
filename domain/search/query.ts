/**
 * A full-text search (behaviour 5.3): every word must occur in the content or the topic, in any form (sought-words.ts),
 * and every quoted phrase literally. Candidates from the index are checked again (text-search.ts), because an index
 * entry may be older than its message.
 */
import { limits } from "../../schemas/limits.ts";
import type { SearchLanguage } from "../../schemas/search.ts";
import { SoughtWord } from "./sought-words.ts";
import { evenBlanks, foldText, isUnspaced, termsOfRuns, wordsOf } from "./words.ts";

export interface SearchQuery {
  /** Without duplicates and without characters of scripts that do not use spaces. */
  readonly words: readonly SoughtWord[];
  /** Index terms of the phrases' characters of scripts that do not use spaces: single ones, or pairs. */
  readonly runs: readonly string[];
  /** Folded, with single spaces: quoted text, and runs of scripts that do not use spaces. */
  readonly phrases: readonly string[];
}

const quoted = /"([^"]*)"/g;
const endsWithWord = /[\p{L}\p{N}]$/u;

/** @returns an empty query if there is nothing to search for */
export function readSearch(operand: string, language: SearchLanguage): SearchQuery {
  const phrases = new Set<string>();
  const words: SoughtWord[] = [];
  const rest = operand.replace(quoted, (_whole, phrase: string) => {
    const folded = evenBlanks(foldText(phrase)).trim();
    if (folded !== "") phrases.add(folded);
    return " ";
  });
  for (const word of [...phrases].flatMap(wordsOf)) {
    if (!isUnspaced(word)) words.push(new SoughtWord(word, "exact", language));
  }
  const folded = foldText(rest);
  const parts = folded.split(/\s+/);
  for (const part of parts) {
    const found = wordsOf(part);
    for (const word of found) if (!isUnspaced(word)) words.push(new SoughtWord(word, "form", language));
    // The parts were split although no space or punctuation was between them.
    if (found.some(isUnspaced)) phrases.add(found.length > 1 ? part : found.join(""));
  }
  const last = endsWithWord.test(folded) ? (wordsOf(parts.at(-1) ?? "").at(-1) ?? "") : "";
  if (last.length >= limits.search_beginning_characters_min) words.push(new SoughtWord(last, "beginning", language));
  return joinSearches([{ words: withoutForm(words, last), runs: [], phrases: [...phrases] }]);
}

/** Leaves out the form of the last word: its beginning accepts the same words and more. */
function withoutForm(words: readonly SoughtWord[], beginning: string): SoughtWord[] {
  const isThere = words.some(({ kind }) => kind === "beginning");
  return words.filter(({ kind, text }) => !(isThere && kind === "form" && text === beginning));
}

/** The size of a query: each word, run and phrase is compared with every text. */
export function sizeOf({ words, runs, phrases }: SearchQuery): number {
  return words.length + runs.length + phrases.length;
}

/** Combines several search terms into one query (behaviour 5.3). */
export function joinSearches(queries: readonly SearchQuery[]): SearchQuery {
  const phrases = [...new Set(queries.flatMap((query) => query.phrases))];
  return {
    words: [...new Map(queries.flatMap(({ words }) => words).map((word) => [word.key, word])).values()],
    runs: [...new Set(phrases.flatMap(termsOfRuns))],
    phrases,
  };
}

/** The same search with typos forgiven; null: it has no word that could have one. */
export function forgivingSearch(query: SearchQuery): SearchQuery | null {
  const words = query.words.map((word) => word.forgiving());
  return words.some(({ errors }) => errors > 0) ? { ...query, words } : null;
}
