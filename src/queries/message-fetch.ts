/**
 * GET /messages (behaviour 5.4): walks the indexes of a narrow from the anchor both ways. A long walk has a budget and goes on in
 * a later pass of the loop by seeking again, so that it delays nobody; it ends with the indexes, or when the caller hangs up.
 * It sees messages up to the one that was the newest when it began: what comes meanwhile comes as an event. What was found in an
 * earlier pass is looked at again at the end: it may be gone, changed, or not be the reader's to see any more (S1, E2).
 */
import { limits } from "../../schemas/limits.ts";
import type { MessageRecord, UserRecord } from "../../schemas/records.ts";
import type { Narrowed } from "../domain/narrow.ts";
import { canReadMessage } from "../domain/permissions.ts";
import { isReceived } from "../domain/read-state.ts";
import type { View } from "../domain/view.ts";
import type { Step } from "./id-streams.ts";
import { type Plan, type PlanKind, planOf } from "./message-plan.ts";

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

/** As sent and as shown. */
function charactersOf({ content, rendered }: MessageRecord): number {
  return content.length + rendered.length;
}

function withoutTexts(message: MessageRecord): MessageRecord {
  return { ...message, content: "", rendered: "" };
}

/** A seek costs a fraction of a message that is looked at. */
const seeksPerRow = 4;
/** And so does an entry of an index. */
const entriesPerRow = 8;

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
  #seeks = 0;
  #entries = 0;
  #rows = 0;
  #charactersLeft = 0;
  #hasPaused = false;

  constructor(view: View, reader: UserRecord, narrowed: Narrowed, isAbandoned: () => boolean) {
    this.#view = view;
    this.#reader = reader;
    this.#narrowed = narrowed;
    this.isAbandoned = isAbandoned;
    this.#newest = view.counter("message");
  }

  /** The message with exactly this id, if it matches and the reader is shown it. */
  at(id: number): MessageRecord | null {
    this.#rows++;
    const view = this.#view;
    const message = view.row("messages", id);
    if (message === undefined) return null;
    const conversation = view.row("conversations", message.conversationId);
    if (conversation === undefined || !this.#narrowed.matches({ message, conversation })) return null;
    if (!canReadMessage(view, this.#reader, message)) return null;
    return this.#narrowed.includesHistory || isReceived(view, this.#reader, message) ? message : null;
  }

  /** Others have their turn: the reader may be another one after it. */
  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#hasPaused = true;
    this.#reader = this.#view.users.get(this.#reader.id) ?? this.#reader;
  }

  /** What of messages that were found is shown to the reader now, as it is now. */
  still(messages: readonly MessageRecord[]): readonly MessageRecord[] {
    return this.#hasPaused ? messages.flatMap(({ id }) => this.at(id) ?? []) : messages;
  }

  /** Of these messages those that match and are shown to the reader; null: their texts are longer than an answer may be. */
  async these(ids: readonly number[]): Promise<readonly MessageRecord[] | null> {
    const messages: MessageRecord[] = [];
    let characters = 0;
    for (const [index, id] of ids.entries()) {
      if (index > 0 && index % limits.narrow_rows_per_pass_max === 0) {
        await this.#pause();
        if (this.isAbandoned()) return messages;
      }
      const message = this.at(id);
      if (message === null) continue;
      characters += charactersOf(message);
      if (characters > limits.fetch_characters_max) return null;
      messages.push(message);
    }
    return this.still(messages);
  }

  /** Up to `count` matches from `start` on, in the direction of `step`; fewer where their texts are very long. */
  async collect(start: number, step: Step, count: number): Promise<Collected> {
    const messages: MessageRecord[] = [];
    this.#charactersLeft = limits.fetch_characters_max;
    let next = step === 1 ? Math.max(start, 0) : Math.min(start, this.#newest);
    let light = 0;
    // Exactly enough: is there any more? The public API calls it exhausted only when there were fewer than asked for.
    while (messages.length < count) {
      const end = this.#pass(messages, next, step, count);
      if (end === null) return { messages, isExhausted: true };
      next = end;
      if (messages.length === count || this.#charactersLeft <= 0) break;
      // `still` reads them again: the texts of many walks at a time would not fit into memory (S3).
      for (; light < messages.length; light++) messages[light] = withoutTexts(messages[light] as MessageRecord);
      await this.#pause();
      if (this.isAbandoned()) return { messages, isExhausted: false };
    }
    return { messages, isExhausted: false };
  }

  /** Adds matches until there are enough or the pass's budget is spent. @returns where to go on; null: there is no more */
  #pass(messages: MessageRecord[], start: number, step: Step, count: number): number | null {
    let plan = this.#planOf(step);
    this.#rows = 0;
    this.#seeks = 0;
    this.#entries = 0;
    let next = start;
    while (messages.length < count && this.#charactersLeft > 0 && !this.#isSpent()) {
      const found = this.#agreed(plan, next);
      if (found === null || found.id > this.#newest) return null;
      next = found.id;
      if (!found.isAgreed) break;
      const message = this.at(found.id);
      if (message !== null) {
        messages.push(message);
        this.#charactersLeft -= charactersOf(message);
      }
      next += step;
      plan = this.#reconsidered(plan, step);
    }
    return next;
  }

  #planOf(step: Step): Plan {
    const spend = (entries: number) => {
      this.#entries += entries;
    };
    return planOf(this.#view, { reader: this.#reader, narrowed: this.#narrowed, step, spend }, this.#plan);
  }

  #isSpent(): boolean {
    return this.#rows + this.#seeks / seeksPerRow + this.#entries / entriesPerRow >= limits.narrow_rows_per_pass_max;
  }

  /** The next id that all streams have, each moves the others forward; or how far they came when the budget was spent. */
  #agreed({ streams }: Plan, from: number): { readonly id: number; readonly isAgreed: boolean } | null {
    let at = from;
    let agreeing = 0;
    while (!this.#isSpent()) {
      for (const stream of streams) {
        this.#seeks++;
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
