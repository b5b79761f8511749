/**
 * A full-text search (behaviour 5.3): every word must occur in the content or the topic, and every quoted phrase
 * literally. Candidates from the index are checked again (text-search.ts), because an index entry may be older than its
 * message.
 */
import { evenBlanks, foldText, isUnspaced, wordsOf } from "./words.ts";

export interface SearchQuery {
  /** Folded, without duplicates and without characters of scripts that do not use spaces. */
  readonly words: readonly string[];
  /** Folded, without duplicates: single characters of scripts that do not use spaces; each is a word. */
  readonly characters: readonly string[];
  /** Folded, with single spaces: quoted text, and runs of scripts that do not use spaces. */
  readonly phrases: readonly string[];
}

const quoted = /"([^"]*)"/g;

/** @returns an empty query if there is nothing to search for */
export function readSearch(operand: string): SearchQuery {
  const phrases = new Set<string>();
  const rest = operand.replace(quoted, (_whole, phrase: string) => {
    const folded = evenBlanks(foldText(phrase)).trim();
    if (folded !== "") phrases.add(folded);
    return " ";
  });
  const words = new Set([...phrases].flatMap(wordsOf));
  for (const part of foldText(rest).split(/\s+/)) {
    const found = wordsOf(part);
    for (const word of found) words.add(word);
    // The parts were split although no space or punctuation was between them.
    if (found.length > 1 && found.some(isUnspaced)) phrases.add(part);
  }
  const all = [...words];
  return {
    words: all.filter((word) => !isUnspaced(word)),
    characters: all.filter(isUnspaced),
    phrases: [...phrases],
  };
}

/** The size of a query: each word, character and phrase is compared with every text. */
export function sizeOf({ words, characters, phrases }: SearchQuery): number {
  return words.length + characters.length + phrases.length;
}

/** Combines several search terms into one query (behaviour 5.3). */
export function joinSearches(queries: readonly SearchQuery[]): SearchQuery {
  return {
    words: [...new Set(queries.flatMap(({ words }) => words))],
    characters: [...new Set(queries.flatMap(({ characters }) => characters))],
    phrases: [...new Set(queries.flatMap(({ phrases }) => phrases))],
  };
}
