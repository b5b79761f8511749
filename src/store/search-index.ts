/**
 * The search index on disk: for every term the ids of the messages that contain it, in segments that are written once.
 * Eight segments of one level are merged into one of the next, because a list per term would rewrite a page for each
 * word of a message. Every function returns the changes of one slice; the caller commits them together with the
 * resulting state, so a crash leaves the index at a slice boundary.
 */
import { realmSetting } from "../../domain/realm-settings.ts";
import { compareText } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { KeyOf, RowOf } from "../../schemas/records.ts";
import {
  type SearchLanguage,
  type SearchMerge,
  type SearchSegment,
  type SearchStateRecord,
  searchPendingKinds,
} from "../../schemas/search.ts";
import type { Lmdb } from "./lmdb.ts";

/** Encodes ascending message ids: the first id, then the differences, seven bits per byte. */

function encodeIds(ids: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  let last = 0;
  for (const id of ids) {
    let rest = id - last;
    last = id;
    // Ids are doubles; bit shifts would truncate those above 31 bits.
    while (rest >= 128) {
      bytes.push((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    bytes.push(rest);
  }
  return Uint8Array.from(bytes);
}

export function decodeIds(bytes: Uint8Array): Float64Array {
  // A byte ends at most one id.
  const ids = new Float64Array(bytes.length);
  let count = 0;
  let last = 0;
  for (let at = 0; at < bytes.length; at++) {
    let distance = bytes[at] as number;
    for (let scale = 128; distance >= scale; scale *= 128) {
      at++;
      distance += ((bytes[at] as number) - 1) * scale;
    }
    last += distance;
    ids[count++] = last;
  }
  return ids.subarray(0, count);
}

/** Raise it when the generation of terms changes; the index is then rebuilt. */
export const searchFormat = 2;
export const searchStateKey = "state";

/** Upper bounds of one slice. */
export interface SliceSize {
  readonly messages: number;
  readonly postings: number;
  readonly rows: number;
}

type SearchTable = "searchState" | "searchPostings" | "searchTopics" | "searchPending";

/** A row to write, or to remove if null. */
export interface SearchChange {
  readonly table: SearchTable;
  readonly key: KeyOf<SearchTable>;
  readonly row: RowOf<SearchTable> | null;
}

const emptyState: Omit<SearchStateRecord, "language"> = {
  format: searchFormat,
  messagesUpTo: 0,
  topicsUpTo: 0,
  lastSegmentId: 0,
  segments: [],
  merge: null,
  leftovers: [],
};

/** @param language of the organization */
export function stateOf(row: SearchStateRecord | undefined, language: SearchLanguage): SearchStateRecord {
  if (row === undefined) return { ...emptyState, language };
  return row.format === searchFormat && row.language === language ? row : startedAnew(row, language);
}

/** The state of the index; empty while it is to be rebuilt. */
export function searchStateIn(view: View): SearchStateRecord {
  return stateOf(view.row("searchState", searchStateKey), realmSetting(view, "search_language"));
}

/** An empty index, with the rows of the old one as leftovers. */
export function startedAnew(state: SearchStateRecord, language: SearchLanguage): SearchStateRecord {
  const output = state.merge === null ? [] : [state.merge.output.id];
  return {
    ...emptyState,
    language,
    lastSegmentId: state.lastSegmentId,
    leftovers: [...state.leftovers, ...state.segments.map(({ id }) => id), ...output],
  };
}

export function stateChange(row: SearchStateRecord): SearchChange {
  return { table: "searchState", key: searchStateKey, row };
}

/**
 * Creates a new segment.
 * @param postings ascending ids by term
 */
export function fileSegment(
  state: SearchStateRecord,
  postings: ReadonlyMap<string, readonly number[]>,
  messagesUpTo: number,
): SearchChange[] {
  const id = state.lastSegmentId + 1;
  const changes: SearchChange[] = [];
  for (const [term, ids] of [...postings].sort(([a], [b]) => compareText(a, b))) {
    for (let start = 0; start < ids.length; start += limits.search_block_ids_max) {
      changes.push(block(id, term, ids.slice(start, start + limits.search_block_ids_max)));
    }
  }
  const segments = [...state.segments, { id, level: 0 }];
  return [...changes, stateChange({ ...state, segments, lastSegmentId: id, messagesUpTo })];
}

function block(segmentId: number, term: string, ids: readonly number[]): SearchChange {
  return { table: "searchPostings", key: [segmentId, term, ids[0] ?? 0], row: { ids: encodeIds(ids) } };
}

/** Removes messages or topics that were indexed again from the pending list. */
export function filedAgain(kind: keyof typeof searchPendingKinds, ids: readonly number[]): SearchChange[] {
  return ids.map((id) => ({ table: "searchPending", key: [searchPendingKinds[kind], id], row: null }));
}

/** Segments to be merged: enough of one level; null if there are none. */
export function mergeToBegin(state: SearchStateRecord): SearchMerge | null {
  for (const { level } of state.segments) {
    const inputs = state.segments.filter((segment) => segment.level === level);
    if (inputs.length < limits.search_segments_merged) continue;
    return newMerge(state, inputs.slice(0, limits.search_segments_merged), level + 1, false);
  }
  return null;
}

export function newMerge(
  state: SearchStateRecord,
  inputs: readonly SearchSegment[],
  level: number,
  isSweeping: boolean,
): SearchMerge {
  return { inputs, output: { id: state.lastSegmentId + 1, level }, after: null, isSweeping };
}

export function begun(state: SearchStateRecord, merge: SearchMerge): SearchStateRecord {
  return { ...state, merge, lastSegmentId: merge.output.id };
}

/**
 * One posting in this many is probed: once a tenth of the probes are gone, the rest of the merge drops all removed
 * messages.
 */
const probeEvery = 64;
/** Even a small slice has this many probes. */
const probes_min = 16;
const goneShare = 0.1;

/** Continues a merge for one slice. */
export function mergeSlice(lmdb: Lmdb, state: SearchStateRecord, merge: SearchMerge, size: SliceSize): SearchChange[] {
  const readers = merge.inputs.map(({ id }) => new SegmentReader(lmdb, id, merge.after));
  const slice = new MergeSlice(lmdb, merge, size);
  while (!slice.isFull) {
    const unfinished = readers.filter(({ term }) => term !== null);
    const [first] = unfinished;
    if (first === undefined) return [...slice.changes, stateChange(merged(state, merge))];
    let term = first.term ?? "";
    for (const reader of unfinished) if (compareText(reader.term ?? "", term) < 0) term = reader.term ?? "";
    slice.pending(
      term,
      unfinished.filter((reader) => reader.term === term),
    );
  }
  return [...slice.changes, stateChange({ ...state, merge: { ...merge, ...slice.progress } })];
}

function merged(state: SearchStateRecord, merge: SearchMerge): SearchStateRecord {
  const inputs = new Set(merge.inputs.map(({ id }) => id));
  return {
    ...state,
    segments: [...state.segments.filter(({ id }) => !inputs.has(id)), merge.output],
    merge: null,
    leftovers: [...state.leftovers, ...inputs],
  };
}

class MergeSlice {
  readonly changes: SearchChange[] = [];
  readonly #lmdb: Lmdb;
  readonly #merge: SearchMerge;
  readonly #size: SliceSize;
  #after: SearchMerge["after"];
  #isSweeping: boolean;
  #postings = 0;
  #probes = 0;
  #gone = 0;

  constructor(lmdb: Lmdb, merge: SearchMerge, size: SliceSize) {
    this.#lmdb = lmdb;
    this.#merge = merge;
    this.#size = size;
    this.#after = merge.after;
    this.#isSweeping = merge.isSweeping;
  }

  get isFull(): boolean {
    return this.#postings >= this.#size.postings || this.changes.length >= this.#size.rows;
  }

  get progress(): Pick<SearchMerge, "after" | "isSweeping"> {
    return { after: this.#after, isSweeping: this.#isSweeping };
  }

  /** Copies the readers' postings of one term, as many as fit into the slice. */
  pending(term: string, readers: readonly SegmentReader[]): void {
    let ids: number[] = [];
    let last = -1;
    while (this.#postings < this.#size.postings) {
      let next: SegmentReader | null = null;
      for (const reader of readers) {
        if (reader.term === term && (next === null || reader.id < next.id)) next = reader;
      }
      if (next === null) break;
      const { id } = next;
      next.advance();
      this.#postings++;
      this.#after = [term, id];
      // A message that was indexed again is in two segments.
      if (id === last || this.#isLeftOut(id)) continue;
      last = id;
      ids.push(id);
      if (ids.length < limits.search_block_ids_max) continue;
      this.changes.push(block(this.#merge.output.id, term, ids));
      ids = [];
    }
    if (ids.length > 0) this.changes.push(block(this.#merge.output.id, term, ids));
  }

  #isLeftOut(id: number): boolean {
    if (this.#isSweeping) return !this.#lmdb.has("messages", id);
    if (this.#postings % probeEvery !== 0) return false;
    this.#probes++;
    if (!this.#lmdb.has("messages", id)) this.#gone++;
    if (this.#probes >= probes_min && this.#gone > this.#probes * goneShare) this.#isSweeping = true;
    return false;
  }
}

const rowsPerRead = 32;

/** Reads the postings of one segment in order of terms and ids, starting after a given posting. */
class SegmentReader {
  readonly #lmdb: Lmdb;
  readonly #segmentId: number;
  #rows: { key: KeyOf<"searchPostings">; row: RowOf<"searchPostings"> }[] = [];
  #isLast = false;
  #ids: ArrayLike<number> = [];
  #at = 0;
  /** null at the end. */
  term: string | null = null;
  id = 0;

  constructor(lmdb: Lmdb, segmentId: number, after: SearchMerge["after"]) {
    this.#lmdb = lmdb;
    this.#segmentId = segmentId;
    this.#read(after === null ? [segmentId] : this.#blockOf(after));
    this.advance();
    if (after === null) return;
    const [term, id] = after;
    while (this.term === term && this.id <= id) this.advance();
  }

  /** Key of the block that contains a posting, or of what follows it. */
  #blockOf([term, id]: readonly [string, number]): readonly (number | string)[] {
    const segment = this.#segmentId;
    const range = { start: [segment, term, id], end: [segment, term, -1], reverse: true, limit: 1 };
    return this.#lmdb.keys("searchPostings", range)[0] ?? [segment, term, id];
  }

  #read(start: readonly (number | string)[]): void {
    this.#rows = this.#lmdb.rows("searchPostings", { start, end: [this.#segmentId + 1], limit: rowsPerRead });
    this.#isLast = this.#rows.length < rowsPerRead;
  }

  advance(): void {
    if (this.#at < this.#ids.length) {
      this.id = this.#ids[this.#at++] ?? 0;
      return;
    }
    const next = this.#rows.shift();
    if (next === undefined) {
      this.term = null;
      return;
    }
    this.#ids = decodeIds(next.row.ids);
    this.#at = 0;
    [, this.term] = next.key;
    if (this.#rows.length === 0 && !this.#isLast) {
      const [, term, first] = next.key;
      this.#read([this.#segmentId, term, first + 0.5]);
    }
    this.advance();
  }
}

/** Removes rows of a segment that is no longer used. */
export function removeLeftovers(lmdb: Lmdb, state: SearchStateRecord, size: SliceSize): SearchChange[] {
  const [segment = 0, ...others] = state.leftovers;
  const limit = size.rows;
  const keys = lmdb.keys("searchPostings", { start: [segment], end: [segment + 1], limit });
  const changes: SearchChange[] = keys.map((key) => ({ table: "searchPostings", key, row: null }));
  return keys.length < limit ? [...changes, stateChange({ ...state, leftovers: others })] : changes;
}

/**
 * Whether many of a segment's messages were removed.
 * @param terms a range of terms of which every message has one
 */
export function isMostlyGone(lmdb: Lmdb, segmentId: number, terms: readonly [string, string]): boolean {
  const [from, to] = terms;
  const range = { start: [segmentId, from], end: [segmentId, to], limit: rowsPerRead };
  const ids = lmdb.rows("searchPostings", range).flatMap(({ row }) => [...decodeIds(row.ids)]);
  const probed = ids.filter((_id, index) => index % 16 === 0);
  const gone = probed.filter((id) => !lmdb.has("messages", id)).length;
  return gone > probed.length * 2 * goneShare;
}
