/** Bounded maps, the least recently used out first (S3). */
import { LRUCache } from "lru-cache";

/**
 * Entries are counted as sizes of one: with `max` the library would reserve room for all of them when the map is made, 5 MB and
 * 40 ms of every start for 300,000 entries that may never come.
 */
export function boundedMap<K extends {}, V extends {}>(entriesMax: number): LRUCache<K, V> {
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
