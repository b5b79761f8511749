/**
 * Chooses the words of a search to walk by, and finds the topics whose names contain them. Done once per walk, in as
 * many passes as necessary, because preparing a search with many words may cost more than running it (S3).
 */

import type { SearchQuery } from "../../domain/search/query.ts";
import type { SoughtWord } from "../../domain/search/sought-words.ts";
import { foldText, indexed, wordsOf } from "../../domain/search/words.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import { type SearchSegment, searchPendingKinds } from "../../schemas/search.ts";
import { searchStateIn } from "../store/search-index.ts";
import { nearTerms, termsFrom } from "./index-terms.ts";
import type { PassBudget } from "./passes.ts";

/** How the index finds a word, or a run of a script without spaces. */
interface Lookup {
  readonly terms: readonly string[];
  /** Terms that begin with this are looked up, too. */
  readonly beginning: string | null;
  /** null: a run. */
  readonly word: SoughtWord | null;
}

export interface WalkedWord extends Omit<Lookup, "word"> {
  /** Conversations whose topic contains the word. */
  readonly topicIds: readonly number[];
  /** Conversations with higher ids were created since and have not been checked. */
  readonly topicsUpTo: number;
}

/** Words with more blocks of ids than this in the index count as equally common. */
const blocksCompared_max = 16;

function lookupOf(word: SoughtWord): Lookup {
  const beginning = word.kind === "beginning" ? indexed(word.text) : null;
  return { terms: [indexed(word.stem)], beginning, word };
}

export class SearchedWords {
  readonly #view: View;
  readonly #ranked: { readonly lookup: Lookup; readonly size: number }[] = [];
  /** Words not ranked yet. */
  readonly #unranked: Lookup[];
  readonly #forgiven: number;
  #isSorted = false;
  readonly #walked: WalkedWord[] = [];
  /** Words whose topics are too many to merge, or that too many terms begin with. */
  readonly #unmerged: WalkedWord[] = [];
  #topicsMerged = 0;
  #topicsUpTo = 0;
  #latest: LatestTopics | "many" | null = null;

  constructor(view: View, query: SearchQuery | null) {
    this.#view = view;
    const runs = query === null ? [] : query.runs.map((run): Lookup => ({ terms: [run], beginning: null, word: null }));
    const lookups = query === null ? [] : [...query.words.map(lookupOf), ...runs];
    this.#forgiven = lookups.filter(({ word }) => word !== null && word.errors > 0).length;
    const [only] = lookups;
    // A single word needs no rank.
    if (only !== undefined && lookups.length === 1) this.#ranked.push({ lookup: only, size: 0 });
    this.#unranked = this.#ranked.length > 0 ? [] : lookups;
  }

  /**
   * The rarest words that can be merged; none: every message must be examined.
   * @param isIndexOnly then rather words without some of their topics and terms than none
   */
  walked(isIndexOnly: boolean): readonly WalkedWord[] {
    return isIndexOnly && this.#walked.length === 0 ? this.#unmerged : this.#walked;
  }

  /** @returns whether `walked` is complete; false: the budget is spent */
  prepare(budget: PassBudget): boolean {
    for (let lookup = this.#unranked.pop(); lookup !== undefined; lookup = this.#unranked.pop()) {
      this.#ranked.push({ lookup, size: this.#sizeOf(lookup, budget) });
      if (budget.isSpent) return false;
    }
    if (!this.#isSorted) {
      // The rarest last.
      this.#ranked.sort((a, b) => b.size - a.size || lengthOf(a.lookup) - lengthOf(b.lookup));
      this.#isSorted = true;
    }
    while (this.#walked.length < limits.search_words_walked_max) {
      const next = this.#ranked.pop();
      if (next === undefined) break;
      this.#walk(this.#withNear(next.lookup, budget), budget);
      if (budget.isSpent) return false;
    }
    return true;
  }

  /** The segments of the index, the largest first. */
  #segments(): readonly SearchSegment[] {
    return searchStateIn(this.#view).segments.toSorted((a, b) => b.level - a.level);
  }

  /** Size of a word's entry in the largest segment of the index, in blocks. A single block counts by its bytes. */
  #sizeOf({ terms: [term = ""], beginning, word }: Lookup, budget: PassBudget): number {
    if (beginning !== null || (word !== null && word.errors > 0)) return blocksCompared_max + 1;
    const [largest] = this.#segments();
    if (largest === undefined) return 0;
    const range = { start: [largest.id, term], end: [largest.id, term, Number.MAX_VALUE], limit: blocksCompared_max };
    const blocks = this.#view.keys("searchPostings", range);
    budget.seeks++;
    budget.entries += blocks.length;
    const [only] = blocks;
    if (only === undefined || blocks.length > 1) return blocks.length;
    const bytes = this.#view.row("searchPostings", only)?.ids.length ?? 0;
    return bytes / (bytes + 1);
  }

  #withNear(lookup: Lookup, budget: PassBudget): Lookup {
    const { word } = lookup;
    if (word === null || word.errors === 0) return lookup;
    const most = Math.floor(limits.search_typo_looks_max / this.#forgiven);
    const near = nearTerms(word, { view: this.#view, segments: this.#segments(), budget, most });
    return { ...lookup, terms: [...new Set([...lookup.terms, ...near])] };
  }

  /** Whether more terms begin with the word than can be merged. */
  #isTooBroad({ beginning }: Lookup, budget: PassBudget): boolean {
    if (beginning === null) return false;
    let left = limits.search_beginning_terms_max;
    for (const { id } of this.#segments()) {
      const { length } = termsFrom(this.#view, id, beginning, left + 1);
      budget.seeks++;
      budget.entries += length;
      left -= length;
      if (left < 0) return true;
    }
    return false;
  }

  /** A word in the names of too many topics is left to the comparison of texts. */
  #walk(lookup: Lookup, budget: PassBudget): void {
    const { terms, beginning } = lookup;
    const topicIds = this.#isTooBroad(lookup, budget) ? null : this.#topicsWith(lookup, budget);
    if (topicIds === null || this.#topicsMerged + topicIds.length > limits.search_topics_merged_max) {
      const isRoom = this.#unmerged.length < limits.search_words_walked_max;
      if (isRoom) this.#unmerged.push({ terms, beginning, topicIds: [], topicsUpTo: Number.MAX_SAFE_INTEGER - 1 });
      return;
    }
    this.#topicsMerged += topicIds.length;
    this.#walked.push({ terms, beginning, topicIds, topicsUpTo: this.#topicsUpTo });
  }

  /** Conversations whose topic contains the word now. */
  #topicsWith(lookup: Lookup, budget: PassBudget): number[] | null {
    if (this.#latest === null) {
      const newest = { start: Number.MAX_SAFE_INTEGER, end: 0, reverse: true, limit: 1 };
      this.#topicsUpTo = this.#view.keys("conversations", newest)[0] ?? 0;
      this.#latest = latestTopics(this.#view, budget);
    }
    if (this.#latest === "many") return null;
    const filed = this.#topicsFiled(lookup);
    if (filed === null) return null;
    budget.entries += filed.size;
    const found = new Set<number>();
    for (const [id, topic] of this.#latest) if (isIn(lookup, topic)) found.add(id);
    for (const id of filed) {
      if (!this.#latest.has(id) && isIn(lookup, foldedTopic(this.#view, id, budget))) found.add(id);
    }
    return [...found];
  }

  /** Conversations that the index lists; null: they are too many. */
  #topicsFiled({ terms, beginning }: Lookup): ReadonlySet<number> | null {
    const limit = limits.search_topics_merged_max;
    const ranges = terms.map((term) => ({ start: [term], end: [term, Number.MAX_VALUE], limit: limit + 1 }));
    if (beginning !== null) ranges.push({ start: [beginning], end: [`${beginning}\u{10ffff}`], limit: limit + 1 });
    const filed = new Set<number>();
    for (const range of ranges) {
      const ids = this.#view.keys("searchTopics", range);
      for (const [, id] of ids) filed.add(id);
      if (ids.length > limit || filed.size > limit) return null;
    }
    return filed;
  }
}

function lengthOf({ terms: [term = ""] }: Lookup): number {
  return term.length;
}

function isIn({ terms: [run = ""], word }: Lookup, topic: string): boolean {
  return word === null ? topic.includes(run) : wordsOf(topic).some((own) => word.accepts(own));
}

/** Topics that the index does not know in their current form, with their folded names. */
type LatestTopics = ReadonlyMap<number, string>;

function latestTopics(view: View, budget: PassBudget): LatestTopics | "many" {
  const limit = limits.search_topics_merged_max;
  const kind = searchPendingKinds.topic;
  const { topicsUpTo } = searchStateIn(view);
  const renamed = view.keys("searchPending", { start: [kind], end: [kind + 1], limit }).map(([, id]) => id);
  const fresh = view.keys("conversations", { start: topicsUpTo + 1, limit: limit + 1 });
  budget.entries += renamed.length + fresh.length;
  if (fresh.length > limit || renamed.length === limit) return "many";
  return new Map([...new Set([...renamed, ...fresh])].map((id) => [id, foldedTopic(view, id, budget)]));
}

function foldedTopic(view: View, id: number, budget: PassBudget): string {
  const topic = view.row("conversations", id)?.topic ?? "";
  budget.rows += 1 / topicsPerRow;
  budget.characters += topic.length;
  return foldText(topic);
}

/** Topics that cost as much as one message, because they are smaller. */
const topicsPerRow = 4;
