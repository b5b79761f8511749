/** Bounded LRU maps that may grow large but are usually almost empty (S3). */
import { LRUCache } from "lru-cache";

/**
 * Every entry counts as size one instead of using `max`: with `max` the library allocates all slots when the map is
 * created (5.6 MB and 41 ms for 300,000), which every start would pay for.
 */
export function boundedMap<K extends {}, V extends {}>(entriesMax: number): LRUCache<K, V> {
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
