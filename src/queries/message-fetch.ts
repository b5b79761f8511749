/**
 * GET /messages (behaviour 5.4): walks the narrowest index from the anchor both ways. A long walk has a budget and goes on in
 * a later pass of the loop by seeking again, so that it delays nobody; it ends with the index, or when the caller hangs up.
 */
import { limits } from "../../schemas/limits.ts";
import type { MessageRecord, UserRecord } from "../../schemas/records.ts";
import type { Narrowed } from "../domain/narrow.ts";
import { canReadMessage } from "../domain/permissions.ts";
import { isReceived } from "../domain/read-state.ts";
import type { View } from "../domain/view.ts";

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

const rowsPerSeek = 200;

export async function fetchMessages(
  view: View,
  reader: UserRecord,
  narrowed: Narrowed,
  range: FetchRange,
  isAbandoned: () => boolean,
): Promise<Fetched> {
  const walk = new Walk(view, reader, narrowed, isAbandoned);
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

interface Collected {
  readonly messages: MessageRecord[];
  /** Nothing more lies in that direction. */
  readonly isExhausted: boolean;
}

class Walk {
  readonly #view: View;
  readonly #reader: UserRecord;
  readonly #narrowed: Narrowed;
  #rowsInPass = 0;

  readonly #isAbandoned: () => boolean;

  constructor(view: View, reader: UserRecord, narrowed: Narrowed, isAbandoned: () => boolean) {
    this.#isAbandoned = isAbandoned;
    this.#view = view;
    this.#reader = reader;
    this.#narrowed = narrowed;
  }

  /** The message with exactly this id, if it matches. */
  at(id: number): MessageRecord | null {
    const [found] = this.#ids(id, 1, 1);
    return found === id ? this.#take(id) : null;
  }

  /** Up to `count` matches from `start` on, in the direction of `step`. */
  async collect(start: number, step: 1 | -1, count: number): Promise<Collected> {
    const messages: MessageRecord[] = [];
    let next = start;
    while (messages.length < count) {
      const ids = this.#ids(next, step, rowsPerSeek);
      for (const id of ids) {
        const message = this.#take(id);
        if (message !== null) messages.push(message);
        if (messages.length === count) break;
      }
      if (messages.length === count) break;
      if (ids.length < rowsPerSeek) return { messages, isExhausted: true };
      next = (ids.at(-1) ?? next) + step;
      await this.#yieldLoop();
      if (this.#isAbandoned()) return { messages, isExhausted: false };
    }
    // Exactly enough: is there any more? The public API calls it exhausted only when there were fewer than asked for.
    return { messages, isExhausted: false };
  }

  #take(id: number): MessageRecord | null {
    this.#rowsInPass++;
    const view = this.#view;
    const message = view.row("messages", id);
    if (message === undefined) return null;
    const conversation = view.row("conversations", message.conversationId);
    if (conversation === undefined || !this.#narrowed.matches({ message, conversation })) return null;
    if (!canReadMessage(view, this.#reader, message)) return null;
    return this.#narrowed.includesHistory || isReceived(view, this.#reader, message) ? message : null;
  }

  /** Ids of the source from `start` on; fewer than `limit` means that there are no more. */
  #ids(start: number, step: 1 | -1, limit: number): number[] {
    if (start < 0) return [];
    const reverse = step < 0;
    const { source } = this.#narrowed;
    const last = reverse ? 0 : Number.MAX_SAFE_INTEGER;
    switch (source.kind) {
      case "nothing":
        return [];
      case "everything":
        return this.#view.keys("messages", { start, ...(reverse ? {} : { end: last }), reverse, limit });
      case "channel": {
        const id = source.channelId;
        const found = this.#view.keys("channelMessages", { start: [id, start], end: [id, last], reverse, limit });
        return found.map(([, messageId]) => messageId);
      }
      case "conversation": {
        const id = source.conversationId;
        const found = this.#view.keys("conversationMessages", { start: [id, start], end: [id, last], reverse, limit });
        return found.map(([, messageId]) => messageId);
      }
      default:
        return source satisfies never;
    }
  }

  async #yieldLoop(): Promise<void> {
    if (this.#rowsInPass < limits.narrow_rows_per_pass_max) return;
    this.#rowsInPass = 0;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
