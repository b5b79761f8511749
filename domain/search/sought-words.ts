/**
 * The rule of matching: which words of a text a word of a search accepts. The index only proposes messages; comparing
 * (text-search.ts) and highlighting (highlight.ts) both ask this rule.
 */
import type { SearchLanguage } from "../../schemas/search.ts";
import { stemOf } from "./stems.ts";

/**
 * `exact`: the word as it is, in a quoted phrase. `form`: any form of the word. `beginning`: any form of it, and any word
 * that begins with it.
 */
export type SoughtKind = "exact" | "form" | "beginning";

/** Shorter words have too many neighbours. */
const forgivenLetters_min = 4;
const twiceForgivenLetters_min = 8;
/** Letters that are right in a word with two typos. */
export const rightLetters = 3;
const letters = /^\p{L}+$/u;

/** Decisions remembered by one word; texts repeat their words. */
const known_max = 4096;

export class SoughtWord {
  readonly text: string;
  readonly kind: SoughtKind;
  readonly stem: string;
  /** Typos that are forgiven. */
  readonly errors: 0 | 1 | 2;
  readonly #language: SearchLanguage;
  readonly #known = new Map<string, boolean>();

  constructor(text: string, kind: SoughtKind, language: SearchLanguage, errors: 0 | 1 | 2 = 0) {
    this.text = text;
    this.kind = kind;
    this.stem = kind === "exact" ? text : stemOf(language, text);
    this.errors = errors;
    this.#language = language;
  }

  /** Equal for words that accept the same. */
  get key(): string {
    return `${this.kind}:${this.text}`;
  }

  /** The same word with its typos forgiven; numbers and words in quotes are meant as they are. */
  forgiving(): SoughtWord {
    const { length } = this.text;
    const isForgiven = this.kind !== "exact" && length >= forgivenLetters_min && letters.test(this.text);
    if (!isForgiven) return this;
    return new SoughtWord(this.text, this.kind, this.#language, length >= twiceForgivenLetters_min ? 2 : 1);
  }

  /** @param word folded */
  accepts(word: string): boolean {
    if (word === this.text) return true;
    if (this.kind === "exact") return false;
    if (this.errors === 0 && word.charCodeAt(0) !== this.text.charCodeAt(0)) return false;
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    if (this.#known.size >= known_max) this.#known.clear();
    const isAccepted = this.#isForm(word) || this.#isNear(word);
    this.#known.set(word, isAccepted);
    return isAccepted;
  }

  #isForm(word: string): boolean {
    if (this.kind === "beginning" && word.startsWith(this.text)) return true;
    return stemOf(this.#language, word) === this.stem;
  }

  #isNear(word: string): boolean {
    if (this.errors === 0) return false;
    const most = word.startsWith(this.text.slice(0, rightLetters)) ? this.errors : 1;
    return typosBetween(this.text, word, most) <= most;
  }
}

/**
 * Letters that were left out, added, changed, or exchanged with their neighbour.
 * @returns more than `most` if there are more
 */
export function typosBetween(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let twoBack: number[] = [];
  let back = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at++) {
    const row = [at];
    let least = at;
    for (let to = 1; to <= other.length; to++) {
      const isSame = one.charCodeAt(at - 1) === other.charCodeAt(to - 1);
      let cost = Math.min((back[to] ?? 0) + 1, (row[to - 1] ?? 0) + 1, (back[to - 1] ?? 0) + (isSame ? 0 : 1));
      const areExchanged =
        at > 1 &&
        to > 1 &&
        one.charCodeAt(at - 1) === other.charCodeAt(to - 2) &&
        one.charCodeAt(at - 2) === other.charCodeAt(to - 1);
      if (areExchanged) cost = Math.min(cost, (twoBack[to - 2] ?? 0) + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (least > most) return most + 1;
    twoBack = back;
    back = row;
  }
  return back[other.length] ?? 0;
}
