/**
 * Chooses the words of a search to walk by, and finds the topics whose names contain them. Done once per walk, in as
 * many passes as necessary, because preparing a search with many words may cost more than running it (S3).
 */

import type { SearchQuery } from "../../domain/search/query.ts";
import { foldText, indexed, wordsOf } from "../../domain/search/words.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import { searchPendingKinds } from "../../schemas/search.ts";
import { searchStateKey, stateOf } from "../store/search-index.ts";
import type { PassBudget } from "./passes.ts";

export interface WalkedWord {
  readonly word: string;
  /** Conversations whose topic contains the word. */
  readonly topicIds: readonly number[];
  /** Conversations with higher ids were created since and have not been checked. */
  readonly topicsUpTo: number;
}

/** Words with more blocks of ids than this in the index count as equally common. */
const blocksCompared_max = 16;

export class SearchedWords {
  readonly #view: View;
  readonly #ranked: { readonly word: string; readonly size: number }[] = [];
  /** Words not ranked yet. */
  readonly #unranked: string[];
  #isSorted = false;
  readonly #walked: WalkedWord[] = [];
  /** Words whose topics are too many to merge. */
  readonly #unmerged: WalkedWord[] = [];
  #topicsMerged = 0;
  #topicsUpTo = 0;
  #latest: LatestTopics | "many" | null = null;

  constructor(view: View, query: SearchQuery | null) {
    this.#view = view;
    const words = query === null ? [] : [...query.words, ...query.characters];
    const [only] = words;
    // A single word needs no rank.
    if (only !== undefined && words.length === 1) this.#ranked.push({ word: only, size: 0 });
    this.#unranked = this.#ranked.length > 0 ? [] : words;
  }

  /**
   * The rarest words that can be merged; none: every message must be examined.
   * @param isIndexOnly then rather words without their topics than none
   */
  walked(isIndexOnly: boolean): readonly WalkedWord[] {
    return isIndexOnly && this.#walked.length === 0 ? this.#unmerged : this.#walked;
  }

  /** @returns whether `walked` is complete; false: the budget is spent */
  prepare(budget: PassBudget): boolean {
    for (let word = this.#unranked.pop(); word !== undefined; word = this.#unranked.pop()) {
      this.#ranked.push({ word, size: this.#sizeOf(word, budget) });
      if (budget.isSpent) return false;
    }
    if (!this.#isSorted) {
      // The rarest last.
      this.#ranked.sort((a, b) => b.size - a.size || a.word.length - b.word.length);
      this.#isSorted = true;
    }
    while (this.#walked.length < limits.search_words_walked_max) {
      const next = this.#ranked.pop();
      if (next === undefined) break;
      this.#walk(next.word, budget);
      if (budget.isSpent) return false;
    }
    return true;
  }

  /** Size of a word's entry in the largest segment of the index, in blocks. A single block counts by its bytes. */
  #sizeOf(word: string, budget: PassBudget): number {
    const { segments } = stateOf(this.#view.row("searchState", searchStateKey));
    const [largest] = segments.toSorted((a, b) => b.level - a.level);
    if (largest === undefined) return 0;
    const term = indexed(word);
    const range = { start: [largest.id, term], end: [largest.id, term, Number.MAX_VALUE], limit: blocksCompared_max };
    const blocks = this.#view.keys("searchPostings", range);
    budget.seeks++;
    budget.entries += blocks.length;
    const [only] = blocks;
    if (only === undefined || blocks.length > 1) return blocks.length;
    const bytes = this.#view.row("searchPostings", only)?.ids.length ?? 0;
    return bytes / (bytes + 1);
  }

  /** A word in the names of too many topics is left to the comparison of texts. */
  #walk(word: string, budget: PassBudget): void {
    const topicIds = this.#topicsWith(word, budget);
    if (topicIds === null || this.#topicsMerged + topicIds.length > limits.search_topics_merged_max) {
      const isRoom = this.#unmerged.length < limits.search_words_walked_max;
      if (isRoom) this.#unmerged.push({ word, topicIds: [], topicsUpTo: Number.MAX_SAFE_INTEGER - 1 });
      return;
    }
    this.#topicsMerged += topicIds.length;
    this.#walked.push({ word, topicIds, topicsUpTo: this.#topicsUpTo });
  }

  /** Conversations whose topic contains the word now. */
  #topicsWith(word: string, budget: PassBudget): number[] | null {
    const limit = limits.search_topics_merged_max;
    if (this.#latest === null) {
      const newest = { start: Number.MAX_SAFE_INTEGER, end: 0, reverse: true, limit: 1 };
      this.#topicsUpTo = this.#view.keys("conversations", newest)[0] ?? 0;
      this.#latest = latestTopics(this.#view, budget);
    }
    if (this.#latest === "many") return null;
    const named = indexed(word);
    const range = { start: [named], end: [named, Number.MAX_VALUE], limit: limit + 1 };
    const filed = this.#view.keys("searchTopics", range).map(([, id]) => id);
    if (filed.length > limit) return null;
    budget.entries += filed.length;
    const found = new Set<number>();
    for (const [id, words] of this.#latest) if (words.has(word)) found.add(id);
    for (const id of filed) if (!this.#latest.has(id) && wordsOfTopic(this.#view, id, budget).has(word)) found.add(id);
    return [...found];
  }
}

/** Topics that the index does not know in their current form, with the words of their names. */
type LatestTopics = ReadonlyMap<number, ReadonlySet<string>>;

function latestTopics(view: View, budget: PassBudget): LatestTopics | "many" {
  const limit = limits.search_topics_merged_max;
  const kind = searchPendingKinds.topic;
  const { topicsUpTo } = stateOf(view.row("searchState", searchStateKey));
  const renamed = view.keys("searchPending", { start: [kind], end: [kind + 1], limit }).map(([, id]) => id);
  const fresh = view.keys("conversations", { start: topicsUpTo + 1, limit: limit + 1 });
  budget.entries += renamed.length + fresh.length;
  if (fresh.length > limit || renamed.length === limit) return "many";
  return new Map([...new Set([...renamed, ...fresh])].map((id) => [id, wordsOfTopic(view, id, budget)]));
}

function wordsOfTopic(view: View, id: number, budget: PassBudget): Set<string> {
  const topic = view.row("conversations", id)?.topic ?? "";
  budget.rows += 1 / topicsPerRow;
  budget.characters += topic.length;
  return new Set(topic === "" ? [] : wordsOf(foldText(topic)));
}

/** Topics that cost as much as one message, because they are smaller. */
const topicsPerRow = 4;
