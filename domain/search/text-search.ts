/**
 * Matches all `search` terms of one narrow against messages. A message's text is folded once for all terms, and the
 * cost is reported to the caller, because one pass of a walk is bounded in characters (S3).
 */
import { joinSearches, type SearchQuery, sizeOf } from "./query.ts";
import type { SoughtWord } from "./sought-words.ts";
import { evenBlanks, foldText, textOf, wordsOf } from "./words.ts";

/** Receives the cost of examining a text. One unit is the cost of folding one character. */
export type SpendCharacters = (characters: number) => void;

/** Finding a short string in a text costs this fraction of folding the text. */
const findsPerFold = 16;
/** Finding a longer one costs that much per this many characters, for worst-case texts. */
const charactersPerFind = 4;
/** Splitting a text into words costs this many times as much as folding it. */
const foldsPerCut = 2;
/** Comparing a word of the text with one of the search costs as much as folding so many characters. */
const charactersPerComparison = 2;

/** A term that must match, or must not match if negated. */
export interface SearchTerm {
  readonly query: SearchQuery;
  readonly operand: string;
  readonly negated: boolean;
}

interface Matched {
  readonly html: string;
  readonly topic: string;
}

export class TextSearch {
  /** All terms that must match, combined; null if there are none. */
  readonly required: SearchQuery | null;
  readonly #excluded: readonly SearchQuery[];
  readonly #isImpossible: boolean;
  /** Texts that matched, by message, because an answer is checked again before it is sent. */
  readonly #matched = new Map<number, Matched>();

  constructor(terms: readonly SearchTerm[]) {
    const required = terms.filter(({ negated }) => !negated).map(({ query }) => query);
    this.required = required.length === 0 ? null : joinSearches(required);
    this.#excluded = terms.filter(({ negated }) => negated).map(({ query }) => query);
    this.#isImpossible = required.some((query) => sizeOf(query) === 0);
  }

  /**
   * @param html rendered content
   * @param topic "" in direct messages
   */
  matches(id: number, html: string, topic: string, spend: SpendCharacters): boolean {
    if (this.#isImpossible) return false;
    const known = this.#matched.get(id);
    if (known !== undefined && known.html === html && known.topic === topic) return true;
    const text = new SearchedText(html, topic);
    const isMatch =
      (this.required === null || text.matches(this.required)) && !this.#excluded.some((query) => text.matches(query));
    spend(text.cost);
    if (isMatch) this.#matched.set(id, { html, topic });
    return isMatch;
  }
}

/** One folded message; derived data is computed once, on first use. */
class SearchedText {
  readonly #content: string;
  readonly #topic: string;
  /** Its words by their first characters. */
  #groups: ReadonlyMap<number, readonly string[]> | null = null;
  #even: readonly [content: string, topic: string] | null = null;
  /** In folded characters. */
  cost: number;

  constructor(html: string, topic: string) {
    this.#content = foldText(textOf(html));
    this.#topic = foldText(topic);
    this.cost = Math.max(html.length, this.#content.length) + this.#topic.length;
  }

  matches(query: SearchQuery): boolean {
    const { words, phrases } = query;
    if (sizeOf(query) === 0) return false;
    // Searching for the letters is cheaper than splitting the text into words, and most texts do not contain them.
    return (
      words.every(({ kind, text }) => kind !== "exact" || this.#has(text)) &&
      phrases.every((phrase) => this.#hasPhrase(phrase)) &&
      words.every((word) => this.#hasWord(word))
    );
  }

  #has(part: string): boolean {
    return this.#isIn(this.#content, part) || this.#isIn(this.#topic, part);
  }

  #isIn(text: string, part: string): boolean {
    this.cost += (text.length / findsPerFold) * (1 + part.length / charactersPerFind);
    return text.includes(part);
  }

  #hasWord(word: SoughtWord): boolean {
    const groups = this.#wordGroups();
    // A form begins like the word; a typo may be in the first letter.
    const looked = word.errors > 0 ? [...groups.values()] : [groups.get(word.text.charCodeAt(0)) ?? []];
    return looked.some((words) => {
      this.cost += words.length * charactersPerComparison;
      return words.some((own) => word.accepts(own));
    });
  }

  #wordGroups(): ReadonlyMap<number, readonly string[]> {
    if (this.#groups !== null) return this.#groups;
    this.cost += foldsPerCut * this.#content.length;
    const groups = new Map<number, string[]>();
    for (const word of new Set([...wordsOf(this.#content), ...wordsOf(this.#topic)])) {
      const group = groups.get(word.charCodeAt(0));
      if (group === undefined) groups.set(word.charCodeAt(0), [word]);
      else group.push(word);
    }
    this.#groups = groups;
    return groups;
  }

  #hasPhrase(phrase: string): boolean {
    if (this.#even === null) {
      this.cost += this.#content.length;
      this.#even = [evenBlanks(this.#content), evenBlanks(this.#topic)];
    }
    const [content, topic] = this.#even;
    return this.#isIn(content, phrase) || this.#isIn(topic, phrase);
  }
}

/** Whether one query matches a text. */
export function matchesSearch(query: SearchQuery, html: string, topic: string): boolean {
  return new SearchedText(html, topic).matches(query);
}
