/**
 * Whether a user has room for one more topic policy, without counting the rows for every post that starts a topic. It
 * knows an upper bound for each user, which follows the writes (M9), and counts only when that bound reaches the limit.
 */
import { limits } from "../../schemas/limits.ts";
import type { Delta, Follower } from "../store/projections/projection.ts";
import { boundedMap } from "./bounded-map.ts";

interface Known {
  /** The user has no more policies than this. */
  readonly atMost: number;
  /** Whether the user has exactly `atMost`. */
  readonly isExact: boolean;
}

export class TopicCounts implements Follower {
  readonly #known = boundedMap<number, Known>(limits.cached_rows_per_table_max);

  /** @param count counts the user's rows, up to `limit` */
  hasRoom(userId: number, count: (limit: number) => number): boolean {
    const limit = limits.user_topics_per_user_max;
    let known = this.#known.get(userId);
    if (known === undefined || (known.atMost >= limit && !known.isExact)) {
      known = { atMost: count(limit), isExact: true };
      this.#known.set(userId, known);
    }
    return known.atMost < limit;
  }

  /** A row that is removed was there; a row that is written may be new or may replace another. */
  apply({ table, key, row }: Delta): void {
    if (table !== "userTopics") return;
    const [userId] = key;
    const known = this.#known.get(userId);
    if (known === undefined) return;
    if (row === null) this.#known.set(userId, { ...known, atMost: known.atMost - 1 });
    // Nothing is added at the limit, so the row replaces another.
    else if (known.atMost < limits.user_topics_per_user_max) {
      this.#known.set(userId, { atMost: known.atMost + 1, isExact: false });
    }
  }
}
