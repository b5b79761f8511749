// Records which receiver has seen which post, one bit each, to check that every receiver saw every event exactly once.
// A post is complete when all receivers have seen it.

import { POSTS_PER_RUN_MAX, RECEIPT_BITS_MAX } from "../lib/limits.ts";

const PAGE_POSTS = 1024;

export class ReceiptTracker {
  readonly #receivers: number;
  readonly #pages: Uint8Array[] = [];
  readonly #dueAt: number[] = [];
  readonly #missing: number[] = [];
  #open = 0;
  #duplicates = 0;

  constructor(receivers: number) {
    this.#receivers = receivers;
  }

  /** Number of posts that at least one receiver has not seen. */
  get open(): number {
    return this.#open;
  }

  get duplicates(): number {
    return this.#duplicates;
  }

  /** Records a post that is being sent. Throws when the run exceeds its bounds. */
  begin(post: number, dueAt: number): void {
    if (post >= POSTS_PER_RUN_MAX || post * this.#receivers >= RECEIPT_BITS_MAX) {
      throw new RangeError(
        "the run has more posts than its receipt tracker can hold: choose a shorter duration or a lower rate",
      );
    }
    this.#dueAt[post] = dueAt;
    this.#missing[post] = this.#receivers;
    this.#open += 1;
  }

  /** The post's due time; null for a post that this run never sent. */
  dueAt(post: number): number | null {
    return this.#dueAt[post] ?? null;
  }

  /** Marks the post as seen. Returns `again` for a duplicate, and `last` if no other receiver lacks it. */
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
