/**
 * A full-text search (behaviour 5.3): every word must stand in the content or in the topic, a quoted phrase as it is written, too.
 * Whoever finds candidates in the index looks at them again (text-search.ts), because an index entry may be older than its message.
 */
import { evenBlanks, foldText, isUnspaced, wordsOf } from "./words.ts";

export interface SearchQuery {
  /** Folded, each once, without those of scripts that set no blanks. */
  readonly words: readonly string[];
  /** Folded, each once: single characters of scripts that set no blanks, which are words wherever they appear. */
  readonly characters: readonly string[];
  /** Folded, with single blanks: what was quoted, and runs of scripts that set no blanks. */
  readonly phrases: readonly string[];
}

const quoted = /"([^"]*)"/g;

/** @returns a query that has nothing when nothing can be searched for */
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
    // Neighbors were cut apart although no blank or mark stood between them.
    if (found.length > 1 && found.some(isUnspaced)) phrases.add(part);
  }
  const all = [...words];
  return {
    words: all.filter((word) => !isUnspaced(word)),
    characters: all.filter(isUnspaced),
    phrases: [...phrases],
  };
}

/** How much a query asks for: each word, character and phrase is compared with every text. */
export function sizeOf({ words, characters, phrases }: SearchQuery): number {
  return words.length + characters.length + phrases.length;
}

/** Both searches at once: several terms are one (behaviour 5.3). */
export function joinSearches(queries: readonly SearchQuery[]): SearchQuery {
  return {
    words: [...new Set(queries.flatMap(({ words }) => words))],
    characters: [...new Set(queries.flatMap(({ characters }) => characters))],
    phrases: [...new Set(queries.flatMap(({ phrases }) => phrases))],
  };
}
