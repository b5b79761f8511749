/**
 * Who has a policy for a topic: few people or nobody nearly always, and asked with every post. What is known of a topic is kept
 * until one of its rows changes (M9), so that a post reads no range of rows for it. Bounded in topics and in people of each.
 */
import { LRUCache } from "lru-cache";
import { limits } from "../../schemas/limits.ts";
import type { Delta } from "../store/projections/projection.ts";

export interface KeptPolicy {
  readonly userId: number;
  readonly visibilityPolicy: number;
}

const tooMany = Symbol("too many");

export class TopicPolicies {
  readonly #known = new LRUCache<string, readonly KeptPolicy[] | typeof tooMany>({
    max: limits.cached_rows_per_table_max,
  });

  /**
   * @param read the first rows, as many as that, by ascending id of the person
   * @returns all of a topic; null: they are more than are kept
   */
  of(
    channelId: number,
    foldedTopic: string,
    read: (limit: number) => readonly KeptPolicy[],
  ): readonly KeptPolicy[] | null {
    const name = `${channelId}:${foldedTopic}`;
    let known = this.#known.get(name);
    if (known === undefined) {
      const rows = read(limits.topic_policies_kept_max + 1);
      known = rows.length > limits.topic_policies_kept_max ? tooMany : rows;
      this.#known.set(name, known);
    }
    return known === tooMany ? null : known;
  }

  apply({ table, key }: Delta): void {
    if (table !== "topicPolicies") return;
    const [channelId, foldedTopic] = key as readonly [number, string, number];
    this.#known.delete(`${channelId}:${foldedTopic}`);
  }
}
