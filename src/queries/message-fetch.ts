/**
 * GET /messages (behaviour 5.4): walks the indexes of a narrow from the anchor both ways. A long walk has a budget and goes on in
 * a later pass of the loop by seeking again, so that it delays nobody; it ends with the indexes, or when the caller hangs up.
 * Others who read take turns with it (passes.ts). It sees messages up to the one that was the newest when it began: what comes meanwhile comes as an event. What was found in an
 * earlier pass is looked at again when the answer is made: it may be gone, changed, or not be the reader's to see any more (S1, E2).
 */
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { MessageRecord, UserRecord } from "../../schemas/records.ts";
import type { Narrowed } from "../domain/narrow.ts";
import { canReadMessage } from "../domain/permissions.ts";
import { isReceived } from "../domain/read-state.ts";
import type { StaleMessages, View } from "../domain/view.ts";
import type { Step } from "./id-streams.ts";
import { longAnswers } from "./long-answers.ts";
import { type Plan, type PlanKind, planOf } from "./message-plan.ts";
import { PassBudget } from "./pass-budget.ts";
import { passes } from "./passes.ts";
import { SearchedWords } from "./searched-words.ts";

export interface FetchRange {
  readonly anchor: number;
  readonly before: number;
  readonly after: number;
  readonly includesAnchor: boolean;
}

export interface Fetched {
  /** Ascending. Some may lack their texts: `MessageWalk.shown` reads them again. */
  readonly messages: readonly MessageRecord[];
  readonly foundAnchor: boolean;
  readonly foundOldest: boolean;
  readonly foundNewest: boolean;
}

export async function fetchMessages(walk: MessageWalk, range: FetchRange): Promise<Fetched> {
  const older = await walk.collect(range.anchor - 1, -1, range.before);
  const newer = await walk.collect(range.anchor + 1, 1, range.after);
  const anchored = range.includesAnchor ? walk.at(range.anchor) : null;
  const middle = anchored === null ? [] : [anchored];
  return {
    messages: [...older.messages.reverse(), ...middle, ...newer.messages],
    foundAnchor: anchored !== null,
    foundOldest: older.isExhausted,
    foundNewest: newer.isExhausted,
  };
}

export interface Collected {
  readonly messages: MessageRecord[];
  /** Nothing more lies in that direction. */
  readonly isExhausted: boolean;
}

/**
 * Makes a part of an answer of a message; undefined: the message is left out. `characters` is what it costs, as characters of JSON
 * that is written.
 */
export type Maker<T> = (message: MessageRecord) => { readonly value: T; readonly characters: number } | undefined;

/** @param isLong the answer takes more than one pass to make */
export type Begin<T> = (reader: UserRecord, isLong: boolean) => Maker<T>;

interface Part<T> {
  readonly id: number;
  conversationId: number;
  /** Of its conversation, when it was made. */
  place: string | null;
  value: T | undefined;
}

/** As sent and as shown, with its submessages. */
function charactersOf(view: View, { id, content, rendered, traits }: MessageRecord): number {
  const own = content.length + rendered.length;
  const widget = hasTrait(traits, "hasSubmessages") ? view.row("widgets", id) : undefined;
  return widget === undefined ? own : own + widget.characters + widget.count * limits.submessage_characters_beside;
}

function withoutTexts(message: MessageRecord): MessageRecord {
  return { ...message, content: "", rendered: "" };
}

export class MessageWalk {
  readonly #view: View;
  #reader: UserRecord;
  readonly #narrowed: Narrowed;
  /** Whether whoever asked has hung up. */
  readonly isAbandoned: () => boolean;
  readonly #newest: number;
  #plan: PlanKind = "dense";
  /** Messages that the dense plan looked at. */
  #looked = 0;
  readonly #searched: SearchedWords;
  #budget = new PassBudget();
  #charactersLeft = 0;
  #hasPaused = false;

  constructor(view: View, reader: UserRecord, narrowed: Narrowed, isAbandoned: () => boolean) {
    this.#view = view;
    this.#reader = reader;
    this.#narrowed = narrowed;
    this.isAbandoned = isAbandoned;
    this.#newest = view.counter("message");
    this.#searched = new SearchedWords(view, narrowed.search);
  }

  /** The message with exactly this id, if it matches and the reader is shown it. */
  at(id: number): MessageRecord | null {
    const budget = this.#budget;
    budget.rows++;
    const view = this.#view;
    const message = view.row("messages", id);
    if (message === undefined) return null;
    budget.readCharacters += charactersOf(view, message);
    const conversation = view.row("conversations", message.conversationId);
    if (conversation === undefined) return null;
    // What the reader may not see is not compared: it costs nothing, and its cost tells nothing (S1).
    if (!canReadMessage(view, this.#reader, message)) return null;
    if (!this.#narrowed.includesHistory && !isReceived(view, this.#reader, message)) return null;
    const spend = (characters: number) => {
      budget.characters += characters;
    };
    return this.#narrowed.matches({ message, conversation }, spend) ? message : null;
  }

  /** null: this read may use the loop at once. */
  #enter(): Promise<void> | null {
    const turn = passes.enter(this.#readerName);
    return turn === null ? null : this.#resumeAfter(turn);
  }

  /** The pass is over: others have their turn. */
  async #pause(): Promise<void> {
    this.#leave();
    await this.#resumeAfter(passes.next(this.#readerName));
  }

  /** No more of this pass is used. */
  #leave(): void {
    passes.leave(this.#budget.share);
    this.#budget = new PassBudget();
  }

  /** Whatever happened meanwhile: the reader may be another one. */
  async #resumeAfter(turn: Promise<void>): Promise<void> {
    await turn;
    this.#hasPaused = true;
    this.#reader = this.#view.users.get(this.#reader.id) ?? this.#reader;
  }

  /** Realms share the loop: each of their people is somebody else. */
  get #readerName(): string {
    return `${this.#view.realm.label}:${this.#reader.id}`;
  }

  /**
   * Makes something of each message that the reader is shown, in as many passes as it takes. At the moment when it resolves, each part
   * is as if it were made then: what changed between passes was made again, and what is gone or hidden since is left out (S1, E2).
   * @param begin is called in each pass; what it returns is used in that pass only
   * @returns null when the caller hung up
   */
  async shown<T>(found: readonly MessageRecord[], begin: Begin<T>): Promise<readonly T[] | null> {
    const turn = this.#enter();
    if (turn !== null) await turn;
    const values = this.#shownAtOnce(found, begin);
    this.#leave();
    return values ?? (await this.#shownInPasses(found.map(withoutTexts), begin));
  }

  /** @returns null when it takes more than a pass */
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

  async #shownInPasses<T>(found: readonly MessageRecord[], begin: Begin<T>): Promise<readonly T[] | null> {
    const admission = longAnswers.enter(this.#readerName);
    if (admission !== null) await admission;
    const watch = this.#view.watchMessages(this.#reader.id);
    try {
      const parts: Part<T>[] = found.map(({ id }) => ({ id, place: null, conversationId: 0, value: undefined }));
      await this.#resumeAfter(passes.next(this.#readerName));
      let stale: readonly Part<T>[] = parts;
      for (let round = 0; stale.length > 0; round++) {
        // While very much changes, the last round runs in one pass: an answer must end.
        const isLast = round === limits.fetch_rounds_max;
        if (!(await this.#make(stale, begin, isLast))) return null;
        stale = this.#staleOf(parts, watch.take());
      }
      this.#leave();
      return parts.flatMap(({ value }) => (value === undefined ? [] : [value]));
    } finally {
      watch.close();
      longAnswers.leave();
    }
  }

  /** @returns false when the caller hung up */
  async #make<T>(parts: readonly Part<T>[], begin: Begin<T>, isInOnePass: boolean): Promise<boolean> {
    let make = begin(this.#reader, true);
    for (const part of parts) {
      if (this.#budget.isSpent && !isInOnePass) {
        await this.#pause();
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

  /** What a message shows of its conversation. */
  #placeOf(conversationId: number): string | null {
    const conversation = this.#view.row("conversations", conversationId);
    if (conversation === undefined) return null;
    const { channelId, renames, movingId, topic } = conversation;
    return `${channelId}:${renames}:${movingId}:${topic}`;
  }

  /** Of these messages those that match, for `shown`; null: their texts are longer than an answer may be. */
  async these(ids: readonly number[]): Promise<readonly MessageRecord[] | null> {
    const messages: MessageRecord[] = [];
    let characters = 0;
    const turn = this.#enter();
    if (turn !== null) await turn;
    let light = 0;
    for (const id of ids) {
      if (this.#budget.isSpent) {
        for (; light < messages.length; light++) messages[light] = withoutTexts(messages[light] as MessageRecord);
        await this.#pause();
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

  /** Up to `count` matches from `start` on, in the direction of `step`; fewer where their texts are very long. */
  async collect(start: number, step: Step, count: number): Promise<Collected> {
    const messages: MessageRecord[] = [];
    this.#charactersLeft = limits.fetch_characters_max;
    let next = step === 1 ? Math.max(start, 0) : Math.min(start, this.#newest);
    if (count === 0) return { messages, isExhausted: false };
    const turn = this.#enter();
    if (turn !== null) await turn;
    while (!this.#searched.prepare(this.#budget)) {
      await this.#pause();
      if (this.isAbandoned()) return { messages, isExhausted: false };
    }
    let light = 0;
    // Exactly enough: is there any more? The public API calls it exhausted only when there were fewer than asked for.
    for (;;) {
      const end = this.#pass(messages, next, step, count);
      if (end === null || messages.length === count || this.#charactersLeft <= 0) {
        this.#leave();
        return { messages, isExhausted: end === null };
      }
      next = end;
      // `shown` reads them again: the texts of many walks at a time would not fit into memory (S3).
      for (; light < messages.length; light++) messages[light] = withoutTexts(messages[light] as MessageRecord);
      await this.#pause();
      if (this.isAbandoned()) return { messages, isExhausted: false };
    }
  }

  /** Adds matches until there are enough or the pass's budget is spent. @returns where to go on; null: there is no more */
  #pass(messages: MessageRecord[], start: number, step: Step, count: number): number | null {
    let plan = this.#planOf(step);
    let next = start;
    while (messages.length < count && this.#charactersLeft > 0 && !this.#budget.isSpent) {
      const found = this.#agreed(plan, next);
      if (found === null || found.id > this.#newest) return null;
      next = found.id;
      if (!found.isAgreed) break;
      const message = this.at(found.id);
      if (message !== null) {
        messages.push(message);
        this.#charactersLeft -= charactersOf(this.#view, message);
      }
      next += step;
      plan = this.#reconsidered(plan, step);
    }
    return next;
  }

  #planOf(step: Step): Plan {
    const budget = this.#budget;
    const spend = (entries: number) => {
      budget.entries += entries;
    };
    const walker = { reader: this.#reader, narrowed: this.#narrowed, words: this.#searched.walked, step, spend };
    return planOf(this.#view, walker, this.#plan);
  }

  /** The next id that all streams have, each moves the others forward; or how far they came when the budget was spent. */
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

  /** The newest messages hold little of what is wanted: the places are merged instead. */
  #reconsidered(plan: Plan, step: Step): Plan {
    if (plan.patience === null || this.#plan === "sparse") return plan;
    this.#looked++;
    if (this.#looked < plan.patience) return plan;
    this.#plan = "sparse";
    return this.#planOf(step);
  }
}
