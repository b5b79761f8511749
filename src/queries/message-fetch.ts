/**
 * GET /messages (behaviour 5.4): walks the indexes of a narrow from the anchor both ways. A long walk has a budget and goes on in
 * a later pass of the loop by seeking again, so that it delays nobody; it ends with the indexes, or when the caller hangs up.
 * Others who read take turns with it (passes.ts). It sees messages up to the one that was the newest when it began: what comes meanwhile comes as an event. What was found in an
 * earlier pass is looked at again at the end: it may be gone, changed, or not be the reader's to see any more (S1, E2).
 */
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { MessageRecord, UserRecord } from "../../schemas/records.ts";
import type { Narrowed } from "../domain/narrow.ts";
import { canReadMessage } from "../domain/permissions.ts";
import { isReceived } from "../domain/read-state.ts";
import type { View } from "../domain/view.ts";
import type { Step } from "./id-streams.ts";
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
  /** Ascending. */
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
    messages: walk.still([...older.messages.reverse(), ...middle, ...newer.messages]),
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

  /** Does something with each item, in as many passes as it takes. @param work returns its cost in characters that are folded */
  async each<T>(items: readonly T[], work: (item: T) => number): Promise<void> {
    const turn = this.#enter();
    if (turn !== null) await turn;
    for (const item of items) {
      if (this.#budget.isSpent) {
        await this.#pause();
        if (this.isAbandoned()) return;
      }
      this.#budget.characters += work(item);
    }
    this.#leave();
  }

  /** What of messages that were found is shown to the reader now, as it is now. */
  still(messages: readonly MessageRecord[]): readonly MessageRecord[] {
    return this.#hasPaused ? messages.flatMap(({ id }) => this.at(id) ?? []) : messages;
  }

  /** Of these messages those that match and are shown to the reader; null: their texts are longer than an answer may be. */
  async these(ids: readonly number[]): Promise<readonly MessageRecord[] | null> {
    const messages: MessageRecord[] = [];
    let characters = 0;
    const turn = this.#enter();
    if (turn !== null) await turn;
    for (const id of ids) {
      if (this.#budget.isSpent) {
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
    return characters > limits.fetch_characters_max ? null : this.still(messages);
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
      // `still` reads them again: the texts of many walks at a time would not fit into memory (S3).
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
