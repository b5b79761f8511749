// Who has seen what: one bit per post and receiver, so that "every receiver counted every event exactly once" is checked and
// not assumed. A post is complete when all receivers have it.

import { LEDGER_BITS_MAX, POSTS_PER_RUN_MAX } from "../lib/limits.ts";

const PAGE_POSTS = 1024;

export class Ledger {
  readonly #receivers: number;
  readonly #pages: Uint8Array[] = [];
  readonly #dueAt: number[] = [];
  readonly #missing: number[] = [];
  #open = 0;
  #duplicates = 0;

  constructor(receivers: number) {
    this.#receivers = receivers;
  }

  /** Posts that some receiver still lacks. */
  get open(): number {
    return this.#open;
  }

  get duplicates(): number {
    return this.#duplicates;
  }

  /** Notes a post that is being sent. Throws when the run outgrows its bounds. */
  begin(post: number, dueAt: number): void {
    if (post >= POSTS_PER_RUN_MAX || post * this.#receivers >= LEDGER_BITS_MAX) {
      throw new RangeError(
        "the run has more posts than its ledger may hold: choose a shorter duration or a lower rate",
      );
    }
    this.#dueAt[post] = dueAt;
    this.#missing[post] = this.#receivers;
    this.#open += 1;
  }

  /** When the post was due; null for one that this run never sent (an event of somebody else). */
  dueAt(post: number): number | null {
    return this.#dueAt[post] ?? null;
  }

  /** Marks the post as seen: `again` for a duplicate, `last` when this was the last receiver that lacked it. */
  see(post: number, receiver: number): "first" | "last" | "again" {
    const bit = (post % PAGE_POSTS) * this.#receivers + receiver;
    const page = this.#page(Math.floor(post / PAGE_POSTS));
    const mask = 1 << (bit & 7);
    const byte = page[bit >> 3] ?? 0;
    if ((byte & mask) !== 0) {
      this.#duplicates += 1;
      return "again";
    }
    page[bit >> 3] = byte | mask;
    const missing = (this.#missing[post] ?? 0) - 1;
    this.#missing[post] = missing;
    if (missing !== 0) return "first";
    this.#open -= 1;
    return "last";
  }

  isComplete(post: number): boolean {
    return this.#missing[post] === 0;
  }

  #page(index: number): Uint8Array {
    let page = this.#pages[index];
    if (page === undefined) {
      page = new Uint8Array(Math.ceil((PAGE_POSTS * this.#receivers) / 8));
      this.#pages[index] = page;
    }
    return page;
  }
}
