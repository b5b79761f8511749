/** Bounded maps that may be large and are mostly empty, the least recently used out first (S3). */
import { LRUCache } from "lru-cache";

/**
 * Entries are counted as sizes of one: with `max` the library reserves room for all of them when the map is made (5.6 MB and 41 ms
 * for 300,000), which every start would pay for entries that may never come.
 */
export function boundedMap<K extends {}, V extends {}>(entriesMax: number): LRUCache<K, V> {
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
