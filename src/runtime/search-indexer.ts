/**
 * Files messages in the search index when nothing else is to be done (architecture, Search): one slice between turns, then a pause at
 * least as long, and longer while people post. No posting is written in a sender's turn; until it has caught up, searches look at
 * the newest messages one by one, and miss nothing. What it has done is in the store with how far it is: a crash costs one slice.
 */
import { limits } from "../../schemas/limits.ts";
import { searchPendingKinds } from "../../schemas/records/search.ts";
import type { ConversationRecord, MessageRecord, SearchStateRecord } from "../../schemas/records.ts";
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

/** How things are called in the index (domain/search/terms.ts). */
export interface SearchTerms {
  ofMessage(message: MessageRecord): Iterable<string>;
  ofTopic(topic: string): Iterable<string>;
  /** Every message has exactly one term in this range. */
  readonly everyMessage: readonly [from: string, to: string];
}

const sweepMs = 60 * 60 * 1000;
const pauseMs_min = 5;
/** When nobody posts. */
export const wholeSlice: SliceSize = {
  messages: limits.search_segment_messages,
  postings: limits.search_postings_per_slice_max,
  rows: limits.search_rows_per_slice_max,
};

/** A post waits for the slice before it. */
export const sliceWhilePosting: SliceSize = {
  messages: wholeSlice.messages / limits.search_slices_of_one_while_posting,
  postings: wholeSlice.postings / limits.search_slices_of_one_while_posting,
  rows: wholeSlice.rows / limits.search_slices_of_one_while_posting,
};

/** While people post, the index gets a tenth of the time: it lags behind until they pause, and searches look at more. */
const pausesWhilePosting = 9;

export class SearchIndexer {
  readonly #realm: Realm;
  readonly #clock: Clock;
  readonly #alarm: Alarm;
  readonly #terms: SearchTerms;
  #seenMessageId = -1;
  #sweptAt: number;
  /** Segments that are still to be looked through for messages that are gone. */
  #toSweep: number[] = [];

  constructor(realm: Realm, tools: { readonly clock: Clock; readonly alarm: Alarm; readonly terms: SearchTerms }) {
    this.#realm = realm;
    this.#clock = tools.clock;
    this.#alarm = tools.alarm;
    this.#terms = tools.terms;
    this.#sweptAt = tools.clock.monotonic();
    this.#lookLater();
  }

  #lookLater(): void {
    this.#realm.dispatcher.wheel.set("search", limits.search_look_ms, () => this.#work());
  }

  /** A slice, if nobody posts; then a pause, and again while there is more to do. */
  #work(): void {
    if (this.#realm.isClosed) return;
    const isQuiet = this.#isQuiet();
    if (!isQuiet && !this.#isFarBehind()) {
      this.#lookLater();
      return;
    }
    const startedAt = this.#clock.monotonic();
    if (!this.step(isQuiet ? wholeSlice : sliceWhilePosting)) {
      this.#lookLater();
      return;
    }
    const spentMs = this.#clock.monotonic() - startedAt;
    const pauseMs = Math.max(pauseMs_min, spentMs * (isQuiet ? 1 : pausesWhilePosting));
    this.#clock.after(pauseMs, () => this.#work());
  }

  /** No message came since it was looked last. */
  #isQuiet(): boolean {
    const { view, dispatcher } = this.#realm;
    const newest = view.counter("message");
    const isQuiet = newest === this.#seenMessageId && dispatcher.lineLength === 0;
    this.#seenMessageId = newest;
    return isQuiet;
  }

  /** There are too many for searches to look at one by one. */
  #isFarBehind(): boolean {
    const { view, environment } = this.#realm;
    const { messagesUpTo } = stateOf(environment.get("searchState", searchStateKey));
    return view.counter("message") - messagesUpTo > limits.search_tail_messages_max;
  }

  /** Carries out one slice. A bug stops nothing but the index. @returns whether anything was done */
  step(size = wholeSlice): boolean {
    let changes: readonly SearchChange[];
    try {
      changes = this.#nextSlice(size);
    } catch (error) {
      this.#alarm.bug(error, null);
      return false;
    }
    if (changes.length === 0) return false;
    const { environment, dispatcher } = this.#realm;
    let isDone = false;
    dispatcher.maintain(() => {
      for (const { table, key, row } of changes) {
        if (row === null) environment.remove(table, key);
        else environment.put(table, key, row);
      }
      isDone = true;
    });
    return isDone;
  }

  #nextSlice(size: SliceSize): readonly SearchChange[] {
    const { environment } = this.#realm;
    const state = stateOf(environment.get("searchState", searchStateKey));
    if (state.merge !== null) return mergeSlice(environment, state, state.merge, size);
    if (state.leftovers.length > 0) return removeLeftovers(environment, state, size);
    const merge = mergeToBegin(state);
    if (merge !== null) return [stateChange(begun(state, merge))];
    for (const find of [() => this.#tail(state, size), () => this.#edited(state, size), () => this.#topics(state)]) {
      const changes = find();
      if (changes.length > 0) return changes;
    }
    return this.#sweep(state);
  }

  /** The oldest messages that are not filed yet, as soon as they are enough for a segment. */
  #tail(state: SearchStateRecord, { messages: limit }: SliceSize): readonly SearchChange[] {
    const { view } = this.#realm;
    const rows = view.rows("messages", { start: state.messagesUpTo + 1, limit });
    const last = rows.at(-1);
    if (rows.length < limit || last === undefined) return [];
    return fileSegment(state, this.#postingsOf(rows.map(({ row }) => row)), last.key);
  }

  /** Messages whose content changed after they were filed: as many as make a segment. Those of the tail come with it. */
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
    for (const message of messages) {
      for (const term of this.#terms.ofMessage(message)) {
        const ids = postings.get(term);
        if (ids === undefined) postings.set(term, [message.id]);
        else ids.push(message.id);
      }
    }
    return postings;
  }

  /** Topics that are new, once they are many, and those that were renamed. Words of earlier names stay, and are seen through. */
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
    return conversations.flatMap(({ id, topic }) =>
      [...this.#terms.ofTopic(topic)].map(
        (word): SearchChange => ({ table: "searchTopics", key: [word, id], row: {} }),
      ),
    );
  }

  /** Now and then: a segment most of whose messages are gone is written again without them. */
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
      if (segment === undefined || !isMostlyGone(this.#realm.environment, id, this.#terms.everyMessage)) continue;
      return [stateChange(begun(state, newMerge(state, [segment], segment.level, true)))];
    }
  }
}
