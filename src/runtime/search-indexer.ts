/**
 * Adds messages to the search index while the realm is idle: one slice between turns, then a pause at least as long,
 * and longer while users post. Without work it waits for changed rows and polls nothing. Until the index has caught up,
 * searches examine the newest messages one by one, up to a bound (`search_unindexed_passes_max`). Progress is committed
 * together with the postings, so a crash costs one slice.
 */
import { realmSetting } from "../../domain/realm-settings.ts";
import { limits } from "../../schemas/limits.ts";
import type { ConversationRecord, MessageRecord } from "../../schemas/messages.ts";
import { type SearchLanguage, type SearchStateRecord, searchPendingKinds } from "../../schemas/search.ts";
import {
  begun,
  filedAgain,
  fileSegment,
  isMostlyGone,
  mergeSlice,
  mergeToBegin,
  newMerge,
  removeLeftovers,
  type SearchChange,
  type SliceSize,
  searchStateKey,
  stateChange,
  stateOf,
} from "../store/search-index.ts";
import type { Clock } from "./clock.ts";
import type { Alarm } from "./dispatcher.ts";
import type { Realm } from "./realm.ts";

/** The terms under which messages and topics are indexed (domain/search/terms.ts). */
export interface SearchTerms {
  ofMessage(message: MessageRecord, language: SearchLanguage): Iterable<string>;
  ofTopic(topic: string, language: SearchLanguage): Iterable<string>;
  /** Every message has exactly one term in this range. */
  readonly everyMessage: readonly [from: string, to: string];
}

const sweepMs = 60 * 60 * 1000;

/** A change of these tables may be work for the indexer. */
const indexedTables = ["messages", "conversations", "searchPending", "searchState"] as const;

const pauseMs_min = 5;
/** Slice size while there are no posts. */
export const wholeSlice: SliceSize = {
  messages: limits.search_segment_messages,
  postings: limits.search_postings_per_slice_max,
  rows: limits.search_rows_per_slice_max,
};

/** A post has to wait for a running slice, so slices are smaller while users post. */
export const sliceWhilePosting: SliceSize = {
  messages: wholeSlice.messages / limits.search_slices_of_one_while_posting,
  postings: wholeSlice.postings / limits.search_slices_of_one_while_posting,
  rows: wholeSlice.rows / limits.search_slices_of_one_while_posting,
};

/**
 * While users post, the indexer gets a tenth of the time. It lags behind until they pause, and searches scan more
 * messages.
 */
const pausesWhilePosting = 9;

export class SearchIndexer {
  readonly #realm: Realm;
  readonly #clock: Clock;
  readonly #alarm: Alarm;
  readonly #terms: SearchTerms;
  #seenMessageId = -1;
  /** When a look first found no newer message than that. */
  #seenAt: number;
  /** Rests until rows change or a sweep is due. */
  #isResting = false;
  /** The last slice could not be written: the disk is nearly full. */
  #isBlocked = false;
  #sweptAt: number;
  /** Number of slices while posts went on. */
  #slices = 0;
  /** Segments that still have to be checked for removed messages. */
  #toSweep: number[] = [];

  constructor(realm: Realm, tools: { readonly clock: Clock; readonly alarm: Alarm; readonly terms: SearchTerms }) {
    this.#realm = realm;
    this.#clock = tools.clock;
    this.#alarm = tools.alarm;
    this.#terms = tools.terms;
    this.#sweptAt = tools.clock.monotonic();
    this.#seenAt = this.#sweptAt;
    for (const table of indexedTables) {
      realm.dispatcher.observers.observe(table, () => {
        if (this.#isResting) this.#lookLater();
      });
    }
    realm.dispatcher.observers.observe("realm", () => {
      const { language } = this.#realm.lmdb.get("searchState", searchStateKey) ?? this.#state();
      if (this.#isResting && language !== this.#language) this.#lookLater();
    });
    this.#lookLater();
  }

  #lookLater(): void {
    this.#isResting = false;
    this.#realm.dispatcher.volatileTimers.set("search", limits.search_poll_ms, () => this.#work());
  }

  #rest(): void {
    this.#isResting = true;
    const untilSweep = Math.max(0, this.#sweptAt + sweepMs - this.#clock.monotonic());
    this.#realm.dispatcher.volatileTimers.set("search", untilSweep, () => this.#work());
  }

  /** Runs a slice if there are no posts; then pauses, and repeats while there is work. */
  #work(): void {
    if (this.#realm.isClosed) return;
    this.#isResting = false;
    const isQuiet = this.#isQuiet();
    if (!isQuiet && !this.#isFarBehind()) {
      this.#lookLater();
      return;
    }
    const startedAt = this.#clock.monotonic();
    if (!this.step(isQuiet ? wholeSlice : sliceWhilePosting)) {
      if (isQuiet && !this.#isBlocked) this.#rest();
      else this.#lookLater();
      return;
    }
    const spentMs = this.#clock.monotonic() - startedAt;
    const pauseMs = Math.max(pauseMs_min, spentMs * (isQuiet ? 1 : pausesWhilePosting));
    this.#clock.after(pauseMs, () => this.#work());
  }

  /** No message has arrived for a while: the time between two messages of a busy organization is not quiet. */
  #isQuiet(): boolean {
    const { view, dispatcher } = this.#realm;
    const newest = view.counter("message");
    const now = this.#clock.monotonic();
    if (newest !== this.#seenMessageId) this.#seenAt = now;
    this.#seenMessageId = newest;
    return now - this.#seenAt >= limits.search_poll_ms && dispatcher.queueLength === 0;
  }

  /** More unindexed messages than searches can scan one by one. */
  #isFarBehind(): boolean {
    const { view } = this.#realm;
    const { messagesUpTo } = this.#state();
    return view.counter("message") - messagesUpTo > limits.search_tail_messages_max;
  }

  /**
   * Runs one slice. A bug stops only the indexer.
   * @returns whether anything was done
   */
  step(size = wholeSlice): boolean {
    this.#isBlocked = false;
    let changes: readonly SearchChange[];
    try {
      changes = this.#nextSlice(size);
    } catch (error) {
      this.#alarm.bug(error, null);
      return false;
    }
    if (changes.length === 0) return false;
    const { lmdb, dispatcher } = this.#realm;
    let isDone = false;
    dispatcher.maintain(() => {
      for (const { table, key, row } of changes) {
        if (row === null) lmdb.remove(table, key);
        else lmdb.put(table, key, row);
      }
      isDone = true;
    });
    this.#isBlocked = !isDone;
    return isDone;
  }

  #state(): SearchStateRecord {
    return stateOf(this.#realm.lmdb.get("searchState", searchStateKey), this.#language);
  }

  get #language(): SearchLanguage {
    return realmSetting(this.#realm.view, "search_language");
  }

  #nextSlice(size: SliceSize): readonly SearchChange[] {
    const { lmdb } = this.#realm;
    const state = this.#state();
    if (state.merge !== null) return mergeSlice(lmdb, state, state.merge, size);
    if (state.leftovers.length > 0) return removeLeftovers(lmdb, state, size);
    const merge = mergeToBegin(state);
    if (merge !== null) return [stateChange(begun(state, merge))];
    const finders = [() => this.#tail(state, size), () => this.#edited(state, size), () => this.#topics(state)];
    // While posts go on, there is always a tail: edits and topics get their turns all the same.
    const first = size === wholeSlice ? 0 : this.#slices++ % finders.length;
    for (const find of [...finders.slice(first), ...finders.slice(0, first)]) {
      const changes = find();
      if (changes.length > 0) return changes;
    }
    return this.#sweep(state);
  }

  /** The oldest unindexed messages, once there are enough for a segment. */
  #tail(state: SearchStateRecord, { messages: limit }: SliceSize): readonly SearchChange[] {
    const { view } = this.#realm;
    const rows = view.rows("messages", { start: state.messagesUpTo + 1, limit });
    const last = rows.at(-1);
    if (rows.length < limit || last === undefined) return [];
    return fileSegment(state, this.#postingsOf(rows.map(({ row }) => row)), last.key);
  }

  /**
   * Messages edited after they were indexed, once there are enough for a segment. Those not indexed yet are picked up
   * by `#tail`.
   */
  #edited(state: SearchStateRecord, { messages: limit }: SliceSize): readonly SearchChange[] {
    const { view } = this.#realm;
    const kind = searchPendingKinds.message;
    const range = { start: [kind], end: [kind, state.messagesUpTo + 0.5], limit };
    const ids = view.keys("searchPending", range).map(([, id]) => id);
    if (ids.length < limit) return [];
    const rows = ids.flatMap((id) => view.row("messages", id) ?? []);
    return [...fileSegment(state, this.#postingsOf(rows), state.messagesUpTo), ...filedAgain("message", ids)];
  }

  #postingsOf(messages: readonly MessageRecord[]): Map<string, number[]> {
    const postings = new Map<string, number[]>();
    const language = this.#language;
    for (const message of messages) {
      for (const term of this.#terms.ofMessage(message, language)) {
        const ids = postings.get(term);
        if (ids === undefined) postings.set(term, [message.id]);
        else ids.push(message.id);
      }
    }
    return postings;
  }

  /**
   * New topics, once there are many, and renamed ones. Words of earlier names stay in the index, and searches filter
   * them out.
   */
  #topics(state: SearchStateRecord): readonly SearchChange[] {
    const { view } = this.#realm;
    const limit = limits.search_segment_messages;
    const fresh = view.rows("conversations", { start: state.topicsUpTo + 1, limit });
    const last = fresh.at(-1);
    if (fresh.length === limit && last !== undefined) {
      return [...this.#topicRows(fresh.map(({ row }) => row)), stateChange({ ...state, topicsUpTo: last.key })];
    }
    const kind = searchPendingKinds.topic;
    const ids = view.keys("searchPending", { start: [kind], end: [kind + 1], limit }).map(([, id]) => id);
    const renamed = ids.flatMap((id) => view.row("conversations", id) ?? []);
    return [...this.#topicRows(renamed), ...filedAgain("topic", ids)];
  }

  #topicRows(conversations: readonly ConversationRecord[]): SearchChange[] {
    const language = this.#language;
    return conversations.flatMap(({ id, topic }) =>
      [...this.#terms.ofTopic(topic, language)].map(
        (word): SearchChange => ({ table: "searchTopics", key: [word, id], row: {} }),
      ),
    );
  }

  /** Periodically rewrites a segment if most of its messages were removed. */
  #sweep(state: SearchStateRecord): readonly SearchChange[] {
    const now = this.#clock.monotonic();
    if (now - this.#sweptAt >= sweepMs) {
      this.#sweptAt = now;
      this.#toSweep = state.segments.map(({ id }) => id);
    }
    for (;;) {
      const id = this.#toSweep.pop();
      if (id === undefined) return [];
      const segment = state.segments.find((candidate) => candidate.id === id);
      if (segment === undefined || !isMostlyGone(this.#realm.lmdb, id, this.#terms.everyMessage)) continue;
      return [stateChange(begun(state, newMerge(state, [segment], segment.level, true)))];
    }
  }
}
