/**
 * The newest entries of channels' indexes, kept decoded: what is unread for somebody lies there, and everybody who registers
 * looks for it. Read when first asked for, changed by the same deltas as projections (M9), bounded over all channels.
 */
import { LRUCache } from "lru-cache";
import { limits } from "../../schemas/limits.ts";
import type { IndexedMessage, IndexRange } from "../domain/view.ts";
import type { Environment } from "../store/environment.ts";
import type { Delta } from "../store/projections/projection.ts";

interface Tail {
  /** Ascending, without a gap up to the newest message of the channel. */
  entries: IndexedMessage[];
  /** Nothing is older. */
  isWhole: boolean;
}

const rowsPerRead = 2000;

export class ChannelTails {
  readonly #environment: Environment;
  readonly #tails = new LRUCache<number, Tail>({
    max: limits.channel_tails_max,
    maxSize: limits.channel_tail_entries_max,
    sizeCalculation: ({ entries }) => entries.length + 1,
  });

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Entries between two ids, both exclusive, newest first. */
  read(channelId: number, { above, below, limit }: IndexRange): readonly IndexedMessage[] {
    const tail = this.#tails.get(channelId) ?? { entries: [], isWhole: false };
    for (;;) {
      const end = endBefore(tail.entries, below);
      const start = Math.max(endBefore(tail.entries, above + 1), end - limit);
      const isEnough = end - start === limit || tail.isWhole || (tail.entries[0]?.id ?? Infinity) <= above + 1;
      if (isEnough) return tail.entries.slice(start, end).reverse();
      // What does not fit is read as if it were not kept.
      if (tail.entries.length + rowsPerRead > limits.channel_tail_entries_per_channel_max) {
        return this.#rows(channelId, { above, below, limit });
      }
      const older = this.#rows(channelId, { above: 0, below: tail.entries[0]?.id ?? Infinity, limit: rowsPerRead });
      tail.isWhole = older.length < rowsPerRead;
      tail.entries = older.reverse().concat(tail.entries);
      this.#tails.set(channelId, tail);
    }
  }

  #rows(channelId: number, { above, below, limit }: IndexRange): IndexedMessage[] {
    const start = [channelId, Math.min(below, Number.MAX_SAFE_INTEGER) - 1];
    const rows = this.#environment.rows("channelMessages", { start, end: [channelId, above], reverse: true, limit });
    return rows.map(({ key, row }) => ({ id: key[1], ...row }));
  }

  apply({ table, key, row }: Delta): void {
    if (table !== "channelMessages") return;
    const [channelId, id] = key as [number, number];
    const tail = this.#tails.peek(channelId);
    if (tail === undefined) return;
    const isNewest = row !== null && id > (tail.entries.at(-1)?.id ?? 0);
    // Edits, moves and deletions are rare: what is kept of the channel is read again.
    if (!isNewest || tail.entries.length >= limits.channel_tail_entries_per_channel_max) this.#tails.delete(channelId);
    else tail.entries.push({ id, ...(row as Omit<IndexedMessage, "id">) });
  }
}

/** How many entries have ids below one. */
function endBefore(entries: readonly IndexedMessage[], below: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.id ?? 0) < below) low = middle + 1;
    else high = middle;
  }
  return low;
}
