/** Bounded maps that may be large and are mostly empty, the least recently used out first (S3). */
import { LRUCache } from "lru-cache";

/**
 * Entries are counted as sizes of one: with `max` the library would reserve room for all of them when the map is made, 4 MB and
 * 30 ms of every start for 200,000 entries that may never come. Maps that every post touches use `max`: they are a little faster.
 */
export function boundedMap<K extends {}, V extends {}>(entriesMax: number): LRUCache<K, V> {
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
