/**
 * A full-text search (behaviour 5.3): every word must stand in the content or in the topic, a quoted phrase as it is written, too.
 * Whoever finds candidates in the index looks at them again here, because an index entry may be older than its message.
 */
import { evenBlanks, foldText, textOf, wordsOf } from "./words.ts";

export interface SearchQuery {
  /** Folded, each once. */
  readonly words: readonly string[];
  /** Folded, with single blanks: what was quoted, and runs of scripts that set no blanks. */
  readonly phrases: readonly string[];
}

const quoted = /"([^"]*)"/g;

/** @returns a query without words when nothing can be searched for */
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
    if (hasUnspaced(found)) phrases.add(part);
  }
  return { words: [...words], phrases: [...phrases] };
}

/** Whether neighbours were cut apart although no blank or mark stood between them. */
function hasUnspaced(found: readonly string[]): boolean {
  return found.length > 1 && found.some((word) => [...word].length === 1 && word > "\u0e00");
}

/** Both searches at once: several terms are one (behaviour 5.3). */
export function joinSearches(queries: readonly SearchQuery[]): SearchQuery {
  return {
    words: [...new Set(queries.flatMap(({ words }) => words))],
    phrases: [...new Set(queries.flatMap(({ phrases }) => phrases))],
  };
}

/** @param html rendered content; @param topic "" in direct messages */
export function matchesSearch(query: SearchQuery, html: string, topic: string): boolean {
  const content = foldText(textOf(html));
  const foldedTopic = foldText(topic);
  // Most of what is looked at does not even have the letters; cutting it into words costs more.
  if (!query.words.every((word) => content.includes(word) || foldedTopic.includes(word))) return false;
  if (query.words.length === 0 && query.phrases.length === 0) return false;
  const known = new Set(wordsOf(content));
  for (const word of wordsOf(foldedTopic)) known.add(word);
  if (!query.words.every((word) => known.has(word))) return false;
  if (query.phrases.length === 0) return true;
  const even = evenBlanks(content);
  const evenTopic = evenBlanks(foldedTopic);
  return query.phrases.every((phrase) => even.includes(phrase) || evenTopic.includes(phrase));
}
