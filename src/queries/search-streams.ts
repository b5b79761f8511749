/**
 * The messages that the search index lists under a term, plus those it cannot know: newer messages, and those changed
 * since. Callers check the messages themselves, and may leave the second kind out (`search_unindexed_passes_max`).
 */

import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { Seen } from "../../schemas/read-state.ts";
import { type SearchStateRecord, searchPendingKinds } from "../../schemas/search.ts";
import { decodeIds, searchStateIn } from "../store/search-index.ts";
import { type IdStream, KeyStream, ListStream, SortedStream, type Step, unionOf } from "./id-streams.ts";
import { termsFrom } from "./index-terms.ts";
import type { WalkedWord } from "./searched-words.ts";

export interface IndexedStream {
  readonly stream: IdStream;
  /** Messages from this id on are in the stream although the index may not list them; infinite: there are none. */
  readonly unindexedFrom: number;
}

/** The index in its current state, for one pass of a walk. */
export class SearchStreams {
  readonly #view: View;
  readonly #step: Step;
  #known: SearchStateRecord | null = null;
  readonly #isIndexOnly: boolean;
  #changed: readonly number[] | "many" | null = null;

  /** @param isIndexOnly leaves out the messages that the index does not list */
  constructor(view: View, step: Step, isIndexOnly: boolean) {
    this.#view = view;
    this.#step = step;
    this.#isIndexOnly = isIndexOnly;
  }

  /** Read when it is needed: a narrow without words need not wait for the index's turns (M9). */
  get #state(): SearchStateRecord {
    this.#known ??= searchStateIn(this.#view);
    return this.#known;
  }

  get #unindexedFrom(): number {
    if (this.#isIndexOnly) return Number.POSITIVE_INFINITY;
    return this.#changedIds() === "many" ? 0 : this.#state.messagesUpTo + 1;
  }

  /** Messages under any of the terms, and those not yet indexed. */
  filed(terms: readonly string[]): IndexedStream {
    const stream = unionOf(this.#step, [...this.#postings(terms), ...this.#unfiled()]);
    return { stream, unindexedFrom: this.#unindexedFrom };
  }

  /** Messages with the word in their content or in their topic. */
  word({ terms, beginning, topicIds, topicsUpTo }: WalkedWord): IndexedStream {
    const limit = limits.search_topics_merged_max;
    const since = this.#view.keys("conversations", { start: topicsUpTo + 1, limit: limit + 1 });
    const areMany = since.length > limit;
    if (areMany && !this.#isIndexOnly) return { stream: messageStream(this.#view, this.#step, 0), unindexedFrom: 0 };
    const topics = [...topicIds, ...(areMany ? [] : since)].map((id) => conversationStream(this.#view, this.#step, id));
    const postings = [...this.#postings(terms), ...(beginning === null ? [] : this.#beginning(beginning, terms))];
    const stream = unionOf(this.#step, [...postings, ...topics, ...this.#unfiled()]);
    return { stream, unindexedFrom: this.#unindexedFrom };
  }

  #postings(terms: readonly string[]): IdStream[] {
    return this.#state.segments.flatMap(({ id }) =>
      terms.map((term) => new PostingStream(this.#view, this.#step, id, term)),
    );
  }

  /** @param known terms whose streams exist */
  #beginning(beginning: string, known: readonly string[]): IdStream[] {
    let left = limits.search_beginning_terms_max;
    return this.#state.segments.flatMap(({ id }) => {
      const terms = termsFrom(this.#view, id, beginning, left);
      left -= terms.length;
      const others = terms.filter((term) => !known.includes(term));
      return others.map((term) => new PostingStream(this.#view, this.#step, id, term));
    });
  }

  #unfiled(): IdStream[] {
    if (this.#isIndexOnly) return [];
    const { messagesUpTo } = this.#state;
    const changed = this.#changedIds();
    if (changed === "many") return [messageStream(this.#view, this.#step, 0)];
    return [
      messageStream(this.#view, this.#step, messagesUpTo + 1),
      ...(changed.length === 0 ? [] : [new ListStream(this.#step, changed)]),
    ];
  }

  /** If too many messages were changed to merge them, all messages are examined, so that none is missed. */
  #changedIds(): readonly number[] | "many" {
    if (this.#changed === null) {
      const kind = searchPendingKinds.message;
      const most = limits.search_pending_read_max;
      const keys = this.#view.keys("searchPending", { start: [kind], end: [kind + 1], limit: most + 1 });
      this.#changed = keys.length > most ? "many" : keys.map(([, id]) => id);
    }
    return this.#changed;
  }
}

/** Ids of one segment under one term. */
class PostingStream implements IdStream {
  readonly #view: View;
  readonly #step: Step;
  readonly #segmentId: number;
  readonly #term: string;
  #ids: SortedStream | null = null;
  #isOver = false;

  constructor(view: View, step: Step, segmentId: number, term: string) {
    this.#view = view;
    this.#step = step;
    this.#segmentId = segmentId;
    this.#term = term;
  }

  seek(from: number): number | null {
    const known = this.#ids?.seek(from) ?? null;
    if (known !== null || this.#isOver) return known;
    const within = this.#blockAt(from, true)?.seek(from) ?? null;
    if (within !== null) return within;
    // A block's key is its first id: one of two adjacent blocks may end before `from` and the other begin after it.
    const beyond = this.#step === 1 ? this.#blockAt(from, false) : null;
    if (beyond === null) this.#isOver = true;
    return beyond?.seek(from) ?? null;
  }

  /** The block that begins at or before `from`, or the next one after it. */
  #blockAt(from: number, isBefore: boolean): IdStream | null {
    const [segment, term] = [this.#segmentId, this.#term];
    const range = isBefore
      ? { start: [segment, term, from], end: [segment, term, -1], reverse: true, limit: 1 }
      : { start: [segment, term, from + 0.5], end: [segment, term, Number.MAX_VALUE], limit: 1 };
    const [found] = this.#view.rows("searchPostings", range);
    this.#ids = found === undefined ? null : new SortedStream(this.#step, decodeIds(found.row.ids));
    return this.#ids;
  }
}

/** All messages from an id on. */
export function messageStream(view: View, step: Step, first: number): IdStream {
  return new KeyStream(step, (from, limit) => {
    if (step === 1) return view.keys("messages", { start: Math.max(from, first), limit });
    return from < first ? [] : view.keys("messages", { start: from, end: first - 1, reverse: true, limit });
  });
}

export function conversationStream(view: View, step: Step, id: number): IdStream {
  return new KeyStream(step, (from, limit) =>
    view.keys("conversationMessages", placeRange(id, from, step, limit)).map(([, messageId]) => messageId),
  );
}

export function channelStream(view: View, step: Step, id: number): IdStream {
  return new KeyStream(step, (from, limit) =>
    view.keys("channelMessages", placeRange(id, from, step, limit)).map(([, messageId]) => messageId),
  );
}

/** A conversation or a channel, with its index of messages. */
export interface MessageIndexRef {
  readonly table: "conversationMessages" | "channelMessages";
  readonly id: number;
}

interface IndexWalk {
  readonly from: number;
  readonly step: Step;
  readonly limit: number;
}

/** Index entries of a conversation or channel, from an id on. */
export function indexEntries(
  view: View,
  { table, id }: MessageIndexRef,
  { from, step, limit }: IndexWalk,
): readonly (Seen & { readonly conversationId: number })[] {
  const range = placeRange(id, from, step, limit);
  if (table === "channelMessages") return view.rows(table, range).map(({ key, row }) => ({ id: key[1], ...row }));
  return view.rows(table, range).map(({ key, row }) => ({ id: key[1], conversationId: id, ...row }));
}

function placeRange(id: number, from: number, step: Step, limit: number) {
  const end = step === 1 ? Number.MAX_VALUE : -1;
  return { start: [id, from], end: [id, end], reverse: step === -1, limit };
}
