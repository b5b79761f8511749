/**
 * Durable shapes of the search index (architecture, Search). All of it is derived from messages and topics, in the background: it may
 * be behind, and may name messages that are gone. The rules of `schemas/records.ts` hold.
 */

/** The messages of one segment that stand under one term: ids from the key's on, ascending. */
export interface SearchPostingsRecord {
  /** store/posting-lists.ts */
  readonly ids: Uint8Array;
}

/** A part of the index that is written once, as a whole. */
export interface SearchSegment {
  readonly id: number;
  /** How often it was merged from smaller ones. */
  readonly level: number;
}

/** Several segments become one, slice by slice. */
export interface SearchMerge {
  readonly inputs: readonly SearchSegment[];
  readonly output: SearchSegment;
  /** The last posting that was carried over; null: none yet. */
  readonly after: readonly [term: string, messageId: number] | null;
  /** Messages that are gone are left out. */
  readonly isSweeping: boolean;
}

/** How far the index is. One row. */
export interface SearchStateRecord {
  /** The format that the index was written in: another one is made anew. */
  readonly format: number;
  /** Messages up to this id are filed. */
  readonly messagesUpTo: number;
  /** Conversations up to this id are filed by their topics' words. */
  readonly topicsUpTo: number;
  readonly lastSegmentId: number;
  readonly segments: readonly SearchSegment[];
  readonly merge: SearchMerge | null;
  /** Segments that nobody reads any more and whose rows are not all removed yet. */
  readonly leftovers: readonly number[];
}

/** What was changed after it was filed. */
export const searchPendingKinds = { message: 1, topic: 2 } as const;

/** Part of `Tables` (schemas/records.ts). */
export interface SearchTables {
  searchState: { key: string; row: SearchStateRecord };
  searchPostings: {
    key: readonly [segmentId: number, term: string, firstMessageId: number];
    row: SearchPostingsRecord;
  };
  /** Conversations by the words of their topics. */
  searchTopics: { key: readonly [word: string, conversationId: number]; row: Readonly<Record<string, never>> };
  /** Messages and topics that were changed and are to be filed again; `kind` is one of `searchPendingKinds`. */
  searchPending: { key: readonly [kind: number, id: number]; row: Readonly<Record<string, never>> };
}

/** Part of `rowFields`: append only. */
export const searchRowFields = {
  searchState: ["format", "messagesUpTo", "topicsUpTo", "lastSegmentId", "segments", "merge", "leftovers"],
  searchPostings: ["ids"],
  searchTopics: [],
  searchPending: [],
} as const;
