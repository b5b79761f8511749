/**
 * Caches which users have a policy for a topic: usually few or none, and read with every post. An entry is kept until
 * one of the topic's rows changes (M9), so a post reads no range of rows. Bounded in topics and in users per topic.
 */
import { limits } from "../../schemas/limits.ts";
import type { Delta } from "../store/projections/projection.ts";
import { boundedMap } from "./bounded-map.ts";

export interface KeptPolicy {
  readonly userId: number;
  readonly visibilityPolicy: number;
}

const tooMany = Symbol("too many");

export class TopicPolicies {
  readonly #known = boundedMap<string, readonly KeptPolicy[] | typeof tooMany>(limits.cached_rows_per_table_max);

  /**
   * @param read returns the first rows, up to `limit`, by ascending user id
   * @returns all policies of a topic; null if there are more than are cached
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
    const [channelId, foldedTopic] = key;
    this.#known.delete(`${channelId}:${foldedTopic}`);
  }
}
