// Records which receiver has seen which post, to check that every receiver saw every event exactly once, and when each
// of them did. A post is complete when all receivers have seen it; only a flag is left of it then.

import { POSTS_PER_RUN_MAX, RECEIPT_BYTES_MAX } from "../lib/limits.ts";

/** When a post arrived: at the first receiver, and how much later at each, in the order of arrival. */
export interface Arrivals {
  readonly firstNs: bigint;
  readonly laterUs: Uint32Array;
}

interface OpenPost extends Arrivals {
  readonly seen: Uint8Array;
  count: number;
}

export class ArrivalTracker {
  readonly #receivers: number;
  readonly #open = new Map<number, OpenPost>();
  readonly #complete = new Uint8Array(POSTS_PER_RUN_MAX);
  #duplicates = 0;

  constructor(receivers: number) {
    this.#receivers = receivers;
  }

  /** Number of posts that some receivers have seen, and some have not. */
  get open(): number {
    return this.#open.size;
  }

  get duplicates(): number {
    return this.#duplicates;
  }

  /** Marks the post as seen. @returns its arrivals, if no other receiver lacks it; otherwise null */
  see(number: number, receiver: number, ns: bigint): Arrivals | null {
    if (number >= POSTS_PER_RUN_MAX) return null;
    if (this.#complete[number] === 1) {
      this.#duplicates += 1;
      return null;
    }
    const post = this.#open.get(number) ?? this.#begin(number, ns);
    if (post.seen[receiver] === 1) {
      this.#duplicates += 1;
      return null;
    }
    post.seen[receiver] = 1;
    post.laterUs[post.count] = Number((ns - post.firstNs) / 1_000n);
    post.count += 1;
    if (post.count < this.#receivers) return null;
    this.#open.delete(number);
    this.#complete[number] = 1;
    return { firstNs: post.firstNs, laterUs: post.laterUs };
  }

  #begin(number: number, ns: bigint): OpenPost {
    if ((this.#open.size + 1) * this.#receivers * (1 + Uint32Array.BYTES_PER_ELEMENT) > RECEIPT_BYTES_MAX) {
      throw new RangeError("too many posts have been seen by some sockets and not by all");
    }
    const post = {
      firstNs: ns,
      laterUs: new Uint32Array(this.#receivers),
      seen: new Uint8Array(this.#receivers),
      count: 0,
    };
    this.#open.set(number, post);
    return post;
  }
}
