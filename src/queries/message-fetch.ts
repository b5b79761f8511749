/**
 * GET /messages (behaviour 5.4): walks the indexes of a narrow from the anchor in both directions, up to the newest
 * message at its start. A walk has a budget per pass of the event loop, shared by all reads (passes.ts), and resumes in
 * a later pass by seeking again. Messages found in earlier passes are rechecked when the answer is built, because they
 * may have been deleted, changed or hidden from the reader (S1, E2).
 */

import type { Narrowed } from "../../domain/narrow/narrow.ts";
import { canReadMessage } from "../../domain/permissions.ts";
import { isReceived } from "../../domain/read-state.ts";
import type { StaleMessages, View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { MessageRecord } from "../../schemas/messages.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Step } from "./id-streams.ts";
import { type Plan, type PlanKind, planOf, type SearchPlan } from "./message-plan.ts";
import { longAnswers, PassBudget, passes, type Share, type Waiting } from "./passes.ts";
import { SearchedWords } from "./searched-words.ts";

export interface FetchRange {
  readonly anchor: number;
  readonly before: number;
  readonly after: number;
  readonly includesAnchor: boolean;
}

export interface Fetched {
  /** Ascending. Some may lack their texts, which `MessageWalk.shown` reads again. */
  readonly messages: readonly MessageRecord[];
  readonly foundAnchor: boolean;
  readonly foundOldest: boolean;
  readonly foundNewest: boolean;
  /** Where the walks in both directions stopped; null: they did not. */
  readonly stoppedOlder: number | null;
  readonly stoppedNewer: number | null;
}

export function* fetchMessages(walk: MessageWalk, range: FetchRange): Waiting<Fetched> {
  const older = yield* walk.collect(range.anchor - 1, -1, range.before);
  const newer = yield* walk.collect(range.anchor + 1, 1, range.after);
  const anchored = range.includesAnchor ? walk.at(range.anchor) : null;
  const middle = anchored === null ? [] : [anchored];
  return {
    messages: [...older.messages.reverse(), ...middle, ...newer.messages],
    foundAnchor: anchored !== null,
    foundOldest: older.isExhausted,
    foundNewest: newer.isExhausted,
    stoppedOlder: older.stoppedAt,
    stoppedNewer: newer.stoppedAt,
  };
}

export interface Collected {
  readonly messages: MessageRecord[];
  /** There are no more messages in that direction. */
  readonly isExhausted: boolean;
  /** The last message that was examined, if the walk stops at `search_unindexed_passes_max` and did. */
  readonly stoppedAt: number | null;
}

/**
 * Builds a message's part of the answer; undefined omits the message. `characters` is its cost, in characters of JSON
 * written.
 */
export type Maker<T> = (message: MessageRecord) => { readonly value: T; readonly characters: number } | undefined;

/** @param isLong the answer takes more than one pass to build */
export type Begin<T> = (reader: UserRecord, isLong: boolean) => Maker<T>;

interface Part<T> {
  readonly id: number;
  conversationId: number;
  /** State of its conversation when the part was built. */
  place: string | null;
  value: T | undefined;
}

/** Source and rendered text, and submessages. */
function charactersOf(view: View, { id, content, rendered, traits }: MessageRecord): number {
  const own = content.length + rendered.length;
  const widget = hasTrait(traits, "hasSubmessages") ? view.row("widgets", id) : undefined;
  return widget === undefined ? own : own + widget.characters + widget.count * limits.submessage_overhead_characters;
}

function withoutTexts(message: MessageRecord): MessageRecord {
  return { ...message, content: "", rendered: "" };
}

/** Work that a request may still do in vain on messages that the search index does not list. */
export class UnindexedAllowance {
  #left: Share = limits.search_unindexed_passes_max;

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  spend(share: Share): void {
    this.#left -= share;
  }

  renew(): void {
    this.#left = limits.search_unindexed_passes_max;
  }
}

export interface WalkOptions {
  /** At `search_unindexed_passes_max` the walk stops instead of leaving messages out. */
  readonly stopsUnindexed?: boolean;
  /** For several walks of one request. */
  readonly unindexed?: UnindexedAllowance;
}

export class MessageWalk {
  readonly #view: View;
  #reader: UserRecord;
  readonly #narrowed: Narrowed;
  /** Whether the client has disconnected. */
  readonly isAbandoned: () => boolean;
  readonly #newest: number;
  #plan: PlanKind = "dense";
  /** Number of messages examined by the dense plan. */
  #looked = 0;
  readonly #searched: SearchedWords;
  #budget = new PassBudget();
  #charactersLeft = 0;
  readonly #unindexed: UnindexedAllowance;
  readonly #stopsUnindexed: boolean;
  #stoppedAt: number | null = null;
  #hasPaused = false;

  /** @param options see `WalkOptions` */
  constructor(
    view: View,
    reader: UserRecord,
    narrowed: Narrowed,
    isAbandoned: () => boolean,
    { stopsUnindexed = false, unindexed = new UnindexedAllowance() }: WalkOptions = {},
  ) {
    this.#view = view;
    this.#reader = reader;
    this.#narrowed = narrowed;
    this.isAbandoned = isAbandoned;
    this.#stopsUnindexed = stopsUnindexed;
    this.#unindexed = unindexed;
    this.#newest = view.untracked.message;
    this.#searched = new SearchedWords(view, narrowed.search);
  }

  /** Returns the message with this id if it matches and the reader may see it. */
  at(id: number): MessageRecord | null {
    const budget = this.#budget;
    budget.rows += this.#narrowed.search === null ? 1 : limits.search_rows_per_message;
    const view = this.#view;
    const message = view.row("messages", id);
    if (message === undefined) return null;
    budget.readCharacters += charactersOf(view, message);
    const conversation = view.row("conversations", message.conversationId);
    if (conversation === undefined) return null;
    // Messages that the reader may not see are not compared, so that the cost reveals nothing about them (S1).
    if (!canReadMessage(view, this.#reader, message)) return null;
    if (!this.#narrowed.includesHistory && !isReceived(view, this.#reader, message)) return null;
    return this.#narrowed.matches({ message, conversation }, this.#spendCharacters) ? message : null;
  }

  readonly #spendCharacters = (characters: number): void => {
    this.#budget.characters += characters;
  };

  /** null: this read may proceed at once. */
  #enter(): Waiting<void> | null {
    const turn = passes.enter(this.#readerName);
    return turn === null ? null : this.#resumeAfter(turn);
  }

  /** Ends this pass and waits for the next turn. */
  *#pause(): Waiting<void> {
    this.#leave();
    yield* this.#resumeAfter(passes.next(this.#readerName));
  }

  /** Leaves this pass and reports the share of it that was used. */
  #leave(): void {
    passes.leave(this.#budget.share);
    this.#budget = new PassBudget();
  }

  /** The reader's record may have changed in the meantime. */
  *#resumeAfter(turn: Promise<void>): Waiting<void> {
    yield turn;
    this.#hasPaused = true;
    this.#reader = this.#view.users.get(this.#reader.id) ?? this.#reader;
  }

  /** All realms share the event loop, so a reader is identified by realm and id. */
  get #readerName(): string {
    return `${this.#view.realm.label}:${this.#reader.id}`;
  }

  /**
   * Builds a part for each message that the reader may see, in as many passes as necessary. When it returns, each part
   * is current: parts that became stale between passes were rebuilt, and messages deleted or hidden since are
   * left out (S1, E2).
   * @param begin called in each pass; its result is used in that pass only
   * @returns null if the client disconnected
   */
  *shown<T>(found: readonly MessageRecord[], begin: Begin<T>): Waiting<readonly T[] | null> {
    const turn = this.#enter();
    if (turn !== null) yield* this.#waitUnlessStale(turn, found);
    // After a pause each message is read again, so that more than a few take more than one pass.
    const isShort = !this.#hasPaused || found.length <= limits.fetch_again_rows_max;
    const values = isShort ? this.#shownAtOnce(found, begin) : null;
    this.#leave();
    return values ?? (yield* this.#shownInPasses(found.map(withoutTexts), begin));
  }

  /** Messages are read again after a pause only if a turn has changed one of them, or the reader's rights, meanwhile. */
  *#waitUnlessStale(turn: Waiting<void>, found: readonly MessageRecord[]): Waiting<void> {
    const hadPaused = this.#hasPaused;
    const reader = this.#reader;
    const watch = this.#view.watchMessages(reader.id);
    try {
      yield* turn;
      const { isAllStale, messages, conversations } = watch.take();
      const isStale = ({ id, conversationId }: MessageRecord) => messages.has(id) || conversations.has(conversationId);
      this.#hasPaused = hadPaused || isAllStale || this.#reader !== reader || found.some(isStale);
    } finally {
      watch.close();
    }
  }

  /** @returns null if it takes more than one pass */
  #shownAtOnce<T>(found: readonly MessageRecord[], begin: Begin<T>): T[] | null {
    const make = begin(this.#reader, false);
    const values: T[] = [];
    for (const one of found) {
      if (this.#budget.isSpent) return null;
      const message = this.#hasPaused ? this.at(one.id) : one;
      const made = message === null ? undefined : make(message);
      if (made === undefined) continue;
      this.#budget.encodedCharacters += made.characters;
      values.push(made.value);
    }
    return values;
  }

  *#shownInPasses<T>(found: readonly MessageRecord[], begin: Begin<T>): Waiting<readonly T[] | null> {
    const admission = longAnswers.enter(this.#readerName);
    if (admission !== null) yield admission;
    const watch = this.#view.watchMessages(this.#reader.id);
    try {
      const parts: Part<T>[] = found.map(({ id }) => ({ id, place: null, conversationId: 0, value: undefined }));
      yield* this.#resumeAfter(passes.next(this.#readerName));
      let stale: readonly Part<T>[] = parts;
      for (let round = 0; stale.length > 0; round++) {
        // If changes keep making parts stale, the last round runs in one pass, so that the answer ends.
        const isLast = round === limits.fetch_rounds_max;
        if (!(yield* this.#make(stale, begin, isLast))) return null;
        stale = this.#staleOf(parts, watch.take());
      }
      this.#leave();
      return parts.flatMap(({ value }) => (value === undefined ? [] : [value]));
    } finally {
      watch.close();
      longAnswers.leave();
    }
  }

  /** @returns false if the client disconnected */
  *#make<T>(parts: readonly Part<T>[], begin: Begin<T>, isInOnePass: boolean): Waiting<boolean> {
    let make = begin(this.#reader, true);
    for (const part of parts) {
      if (this.#budget.isSpent && !isInOnePass) {
        yield* this.#pause();
        if (this.isAbandoned()) return false;
        make = begin(this.#reader, true);
      }
      const message = this.at(part.id);
      const made = message === null ? undefined : make(message);
      this.#budget.encodedCharacters += made?.characters ?? 0;
      part.value = made?.value;
      part.conversationId = message?.conversationId ?? 0;
      part.place = this.#placeOf(part.conversationId);
    }
    return true;
  }

  #staleOf<T>(parts: readonly Part<T>[], { isAllStale, messages, conversations }: StaleMessages): readonly Part<T>[] {
    if (isAllStale) return parts;
    if (messages.size === 0 && conversations.size === 0) return [];
    return parts.filter(
      ({ id, conversationId, place }) =>
        messages.has(id) || (conversations.has(conversationId) && place !== this.#placeOf(conversationId)),
    );
  }

  /** The conversation that a message shows, as a comparable key. */
  #placeOf(conversationId: number): string | null {
    const conversation = this.#view.row("conversations", conversationId);
    if (conversation === undefined) return null;
    const { channelId, renames, movingId, topic } = conversation;
    return `${channelId}:${renames}:${movingId}:${topic}`;
  }

  /** Those of the given messages that match, for `shown`; null: their texts exceed the limit of an answer. */
  *these(ids: readonly number[]): Waiting<readonly MessageRecord[] | null> {
    const messages: MessageRecord[] = [];
    let characters = 0;
    const turn = this.#enter();
    if (turn !== null) yield* turn;
    let light = 0;
    for (const id of ids) {
      if (this.#budget.isSpent) {
        for (; light < messages.length; light++) messages[light] = withoutTexts(messages[light] as MessageRecord);
        yield* this.#pause();
        if (this.isAbandoned()) return messages;
      }
      const message = this.at(id);
      if (message === null) continue;
      characters += charactersOf(this.#view, message);
      if (characters > limits.fetch_characters_max) break;
      messages.push(message);
    }
    this.#leave();
    return characters > limits.fetch_characters_max ? null : messages;
  }

  /**
   * Up to `count` matches from `start` on, in the direction of `step`; fewer if their texts are very long. A walk that
   * has spent `search_unindexed_passes_max` in vain on messages that the index does not list continues with those that
   * it lists, and never counts as exhausted; one that stops there does so once in each direction.
   */
  *collect(start: number, step: Step, count: number): Waiting<Collected> {
    const messages: MessageRecord[] = [];
    this.#charactersLeft = limits.fetch_characters_max;
    let next = step === 1 ? Math.max(start, 0) : Math.min(start, this.#newest);
    this.#stoppedAt = null;
    if (this.#stopsUnindexed) this.#unindexed.renew();
    const unfinished = { messages, isExhausted: false, stoppedAt: null };
    if (count === 0) return unfinished;
    const turn = this.#enter();
    if (turn !== null) yield* turn;
    while (!this.#searched.prepare(this.#budget)) {
      yield* this.#pause();
      if (this.isAbandoned()) return unfinished;
    }
    let light = 0;
    // Exactly `count` matches do not count as exhausted: the public API reports it only if there were fewer than
    // requested.
    for (;;) {
      const end = this.#pass(messages, next, step, count);
      if (end === null || messages.length === count || this.#charactersLeft <= 0) {
        this.#leave();
        return { messages, isExhausted: end === null && !this.#unindexed.isSpent, stoppedAt: this.#stoppedAt };
      }
      next = end;
      // `shown` reads the texts again: those of many concurrent walks would not fit into memory (S3).
      for (; light < messages.length; light++) messages[light] = withoutTexts(messages[light] as MessageRecord);
      yield* this.#pause();
      if (this.isAbandoned()) return unfinished;
    }
  }

  /**
   * Adds matches until there are enough or the pass's budget is spent.
   * @returns where to resume; null: there are no more
   */
  #pass(messages: MessageRecord[], start: number, step: Step, count: number): number | null {
    let plan = this.#planOf(step);
    let next = start;
    while (messages.length < count && this.#charactersLeft > 0 && !this.#budget.isSpent) {
      const found = this.#agreed(plan, next);
      if (found === null || found.id > this.#newest) return null;
      next = found.id;
      if (!found.isAgreed) break;
      const spent = this.#budget.share;
      const message = this.at(found.id);
      if (message !== null) {
        messages.push(message);
        this.#charactersLeft -= charactersOf(this.#view, message);
      } else if (found.id >= plan.unindexedFrom) {
        this.#unindexed.spend(this.#budget.share - spent);
        if (this.#unindexed.isSpent && this.#stopsUnindexed) {
          this.#stoppedAt = found.id;
          return null;
        }
        if (this.#unindexed.isSpent) plan = this.#planOf(step);
      }
      next += step;
      plan = this.#reconsidered(plan, step);
    }
    return next;
  }

  #planOf(step: Step): SearchPlan {
    const budget = this.#budget;
    const spend = (entries: number) => {
      budget.entries += entries;
    };
    const isIndexOnly = this.#unindexed.isSpent;
    const words = this.#searched.walked(isIndexOnly);
    const walker = { reader: this.#reader, narrowed: this.#narrowed, words, isIndexOnly, step, spend };
    return planOf(this.#view, walker, this.#plan);
  }

  /** The next id that all streams contain, each advancing the others; or how far they got when the budget was spent. */
  #agreed({ streams }: Plan, from: number): { readonly id: number; readonly isAgreed: boolean } | null {
    let at = from;
    let agreeing = 0;
    while (!this.#budget.isSpent) {
      for (const stream of streams) {
        this.#budget.seeks++;
        const id = stream.seek(at);
        if (id === null) return null;
        agreeing = id === at ? agreeing + 1 : 1;
        at = id;
        if (agreeing >= streams.length) return { id: at, isAgreed: true };
      }
    }
    return { id: at, isAgreed: false };
  }

  /**
   * Switches to the sparse plan when the newest messages contain few matches: merges the indexes of the places instead.
   */
  #reconsidered(plan: SearchPlan, step: Step): SearchPlan {
    if (plan.patience === null || this.#plan === "sparse") return plan;
    this.#looked++;
    if (this.#looked < plan.patience) return plan;
    this.#plan = "sparse";
    return this.#planOf(step);
  }
}
