/**
 * What all `search` terms of one narrow ask of a message. The message's text is folded once for all of them, and the caller is told
 * what that costs, because a pass of a walk is bounded in characters (S3).
 */
import { joinSearches, type SearchQuery, sizeOf } from "./query.ts";
import { evenBlanks, foldText, textOf, wordsOf } from "./words.ts";

/** Told the cost of looking at a text. One unit is what folding one character costs. */
export type SpendCharacters = (characters: number) => void;

/** Finding a short string in a text costs this fraction of folding the text. */
const findsPerFold = 16;
/** A longer one costs as much for each so many characters: there are texts that make it that dear. */
const charactersPerFind = 4;
/** Cutting a text into words costs so many times as much as folding it. */
const foldsPerCut = 2;

/** A term that must match, or one that must not. */
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
  /** All terms that must match, as one; null: there are none. */
  readonly required: SearchQuery | null;
  readonly #excluded: readonly SearchQuery[];
  readonly #isImpossible: boolean;
  /** Texts that matched, by message: an answer is looked at again before it is given. */
  readonly #matched = new Map<number, Matched>();

  constructor(terms: readonly SearchTerm[]) {
    const required = terms.filter(({ negated }) => !negated).map(({ query }) => query);
    this.required = required.length === 0 ? null : joinSearches(required);
    this.#excluded = terms.filter(({ negated }) => negated).map(({ query }) => query);
    this.#isImpossible = required.some((query) => sizeOf(query) === 0);
  }

  /** @param html rendered content; @param topic "" in direct messages */
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

/** One message, folded; what is derived from it is made once, when it is needed. */
class SearchedText {
  readonly #content: string;
  readonly #topic: string;
  #words: ReadonlySet<string> | null = null;
  #even: readonly [content: string, topic: string] | null = null;
  /** In characters that are folded. */
  cost: number;

  constructor(html: string, topic: string) {
    this.#content = foldText(textOf(html));
    this.#topic = foldText(topic);
    this.cost = Math.max(html.length, this.#content.length) + this.#topic.length;
  }

  matches(query: SearchQuery): boolean {
    const { words, characters, phrases } = query;
    if (sizeOf(query) === 0) return false;
    // Most texts do not even have the letters; cutting them into words costs more.
    return (
      words.every((word) => this.#has(word)) &&
      characters.every((character) => this.#has(character)) &&
      (words.length === 0 || words.every((word) => this.#wordSet().has(word))) &&
      phrases.every((phrase) => this.#hasPhrase(phrase))
    );
  }

  #has(part: string): boolean {
    return this.#isIn(this.#content, part) || this.#isIn(this.#topic, part);
  }

  #isIn(text: string, part: string): boolean {
    this.cost += (text.length / findsPerFold) * (1 + part.length / charactersPerFind);
    return text.includes(part);
  }

  #wordSet(): ReadonlySet<string> {
    if (this.#words === null) {
      this.cost += foldsPerCut * this.#content.length;
      this.#words = new Set([...wordsOf(this.#content), ...wordsOf(this.#topic)]);
    }
    return this.#words;
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
