/**
 * The search index (architecture, Search): derived from messages and topics in the background, so it may lag behind and
 * may refer to deleted messages.
 */

import { defineArea, defineCommands, defineTable, type Empty } from "./area.ts";
import type { ConversationId, MessageId } from "./ids.ts";

const limits = {
  narrow_rows_per_pass_max: 1000,
  /** Characters that a pass folds and compares; shared by all reads in one pass of the event loop, like the rows. */
  narrow_characters_per_pass_max: 300_000,
  search_operand_code_points_max: 1000,
  /** All `search` terms of one narrow in total. */
  search_operands_code_points_max: 2000,
  /** Words, characters or pairs of scripts without spaces, and phrases in all `search` terms of one narrow in total. */
  search_words_max: 200,
  /**
   * The rarest words, whose index entries are merged to find candidates. Every candidate is compared with all words.
   */
  search_words_walked_max: 4,
  /** Highlighted matches per message; later matches are not highlighted. */
  search_marks_per_message_max: 200,
  /** Characters of a folded text; the rest is not highlighted. The longest message has about a fifth of this. */
  search_marked_characters_max: 50_000,
  search_word_characters_max: 40,
  /** A shorter last word of a search does not find words that begin with it. */
  search_beginning_characters_min: 3,
  /** Terms of the index that begin with the last word, counted in each segment; with more, messages are scanned. */
  search_beginning_terms_max: 200,
  /** Terms looked up to forgive typos in one search: 10 ms. */
  search_typo_looks_max: 2000,
  /** Terms that one word with forgiven typos is searched by. */
  search_typo_terms_max: 16,
  search_segment_messages: 128,
  search_segments_merged: 8,
  /** As many as usually fit into half a page of the store: larger rows have pages of their own. */
  search_block_ids_max: 1900,
  search_postings_per_slice_max: 5000,
  search_rows_per_slice_max: 1000,
  /** While messages are being posted, slices are smaller by this factor. */
  search_slices_of_one_while_posting: 4,
  search_pending_read_max: 10_000,
  /**
   * Topics whose names contain a word and whose messages are merged; with more topics, messages are scanned one by one.
   */
  search_topics_merged_max: 500,
  /** A reader's groups whose mentions are merged for `is:mentioned`; with more groups, every message is scanned. */
  mention_groups_merged_max: 200,
  /** Groups and subgroups that are looked at to find those groups. */
  mention_group_looks_max: 100_000,
  /** How often the indexer looks for work, and how long after the last message an organization counts as quiet. */
  search_poll_ms: 1000,
  /** With more unindexed messages than this, the indexer also works while other commands run. */
  search_tail_messages_max: 256,
  /** A message that is compared with a search counts as so many rows: ten milliseconds read a quarter as many. */
  search_rows_per_message: 4,
  /**
   * Passes' worth of work that a request spends in vain on messages that the index does not list; after that it examines
   * only those that the index lists. A pass takes about ten milliseconds.
   */
  search_unindexed_passes_max: 5,
} as const;

/** Values of the setting `search_language`: whose word forms are found. */
export const searchLanguages = [
  "none",
  "danish",
  "dutch",
  "english",
  "finnish",
  "french",
  "german",
  "hungarian",
  "italian",
  "norwegian",
  "portuguese",
  "romanian",
  "russian",
  "spanish",
  "swedish",
  "turkish",
] as const;

export type SearchLanguage = (typeof searchLanguages)[number];

/** The messages of one segment that contain a term: ascending ids, starting with the one in the key. */
export interface SearchPostingsRecord {
  /** See store/search-index.ts. */
  readonly ids: Uint8Array;
}

/** A part of the index that is written as a whole and never changed. */
export interface SearchSegment {
  readonly id: number;
  /** Number of merges from smaller segments. */
  readonly level: number;
}

/** Several segments are merged into one, slice by slice. */
export interface SearchMerge {
  readonly inputs: readonly SearchSegment[];
  readonly output: SearchSegment;
  /** The last posting carried over; null: none yet. */
  readonly after: readonly [term: string, messageId: MessageId] | null;
  /** Deleted messages are left out. */
  readonly isSweeping: boolean;
}

/** Progress of the index. One row. */
export interface SearchStateRecord {
  /** Format version of the index; another version is rebuilt. */
  readonly format: number;
  /** The language of its stems; an index of another language than the organization's is rebuilt. */
  readonly language: SearchLanguage;
  /** Messages up to this id are indexed. */
  readonly messagesUpTo: number;
  /** The topics of conversations up to this id are indexed. */
  readonly topicsUpTo: number;
  readonly lastSegmentId: number;
  readonly segments: readonly SearchSegment[];
  readonly merge: SearchMerge | null;
  /** Segments that are no longer read and whose rows are still being removed. */
  readonly leftovers: readonly number[];
}

/** Kinds of content that changed after it was indexed. */
export const searchPendingKinds = { message: 1, topic: 2 } as const;

/** Parameters of its commands, by type. */
export interface SearchCommands {
  /** By the operator: the index is built again. */
  "search.rebuild": Record<string, never>;
}

export const searchArea = defineArea({
  commands: defineCommands<SearchCommands>(),
  tables: {
    searchState: defineTable<string, SearchStateRecord>({
      fields: ["format", "messagesUpTo", "topicsUpTo", "lastSegmentId", "segments", "merge", "leftovers", "language"],
    }),
    searchPostings: defineTable<
      readonly [segmentId: number, term: string, firstMessageId: MessageId],
      SearchPostingsRecord
    >({
      fields: ["ids"],
    }),
    /** Conversations by the words in their topics. */
    searchTopics: defineTable<readonly [word: string, conversationId: ConversationId], Empty>({
      fields: [],
    }),
    /** Messages and topics to be reindexed; `kind` is one of `searchPendingKinds`. */
    searchPending: defineTable<readonly [kind: number, id: number], Empty>({
      fields: [],
    }),
  },
  limits,
});
