/** Terms of the search index that a word of a search accepts: those that begin with it, and those with a typo in it. */
import { rightLetters, type SoughtWord } from "../../domain/search/sought-words.ts";
import { indexed } from "../../domain/search/words.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { SearchSegment } from "../../schemas/search.ts";
import type { PassBudget } from "./passes.ts";

const keysPerRead = 32;
const lastCharacter = "\u{10ffff}";

/** Terms of a segment that begin with a text, in order, at most so many. */
export function termsFrom(view: View, segmentId: number, beginning: string, most: number): string[] {
  const terms: string[] = [];
  const end = [segmentId, `${beginning}${lastCharacter}`];
  let start: readonly (number | string)[] = [segmentId, beginning];
  for (;;) {
    const keys = view.keys("searchPostings", { start, end, limit: keysPerRead });
    for (const [, term] of keys) {
      if (term === terms.at(-1)) continue;
      if (terms.length === most) return terms;
      terms.push(term);
    }
    const last = terms.at(-1);
    if (keys.length < keysPerRead || last === undefined) return terms;
    // A common term has many blocks.
    start = [segmentId, last, Number.MAX_VALUE];
  }
}

/** Letters of the scripts in which a changed or missing letter is looked up. */
const alphabets = ["abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопрстуфхцчшщъыьэюя", "αβγδεζηθικλμνξοπρστυφχψω"];

/** All words that one typo turns into this one: the likely ones first. */
function* neighbours(word: string): Generator<string> {
  const letters = alphabets.find((alphabet) => alphabet.includes(word.charAt(1))) ?? "";
  for (let at = 0; at + 1 < word.length; at++) {
    yield `${word.slice(0, at)}${word.charAt(at + 1)}${word.charAt(at)}${word.slice(at + 2)}`;
  }
  for (let at = 0; at < word.length; at++) yield word.slice(0, at) + word.slice(at + 1);
  for (const letter of letters) {
    for (let at = 0; at <= word.length; at++) {
      yield word.slice(0, at) + letter + word.slice(at);
      if (at < word.length) yield word.slice(0, at) + letter + word.slice(at + 1);
    }
  }
}

interface Looks {
  readonly view: View;
  /** The largest first, because it has most of the terms. */
  readonly segments: readonly SearchSegment[];
  readonly budget: PassBudget;
  /** Terms that may be looked up. */
  readonly most: number;
}

/** Terms that the word accepts when its typos are forgiven, as far as the looks suffice. */
export function nearTerms(word: SoughtWord, { view, segments, budget, most }: Looks): string[] {
  const found = new Set<string>();
  let left = most;
  for (const { id } of segments) {
    for (const term of neighbours(indexed(word.text))) {
      if (left <= 0 || found.size >= limits.search_typo_terms_max) return [...found];
      left--;
      budget.seeks++;
      const range = { start: [id, term], end: [id, term, Number.MAX_VALUE], limit: 1 };
      if (!found.has(term) && view.keys("searchPostings", range).length > 0) found.add(term);
    }
    if (word.errors < 2) continue;
    const terms = termsFrom(view, id, word.text.slice(0, rightLetters), left);
    left -= terms.length;
    budget.seeks += terms.length;
    for (const term of terms) {
      if (found.size < limits.search_typo_terms_max && word.accepts(term)) found.add(term);
    }
  }
  return [...found];
}
