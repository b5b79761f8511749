/** Cached rows are found by their keys: two keys never collide, whatever their parts are. */
import t from "tap";
import { RowCache } from "../../src/runtime/row-cache.ts";

/** The largest id that fits into a numeric cache key, and the next one. */
const last = 2 ** 26 - 1;

const keys: readonly (readonly [number, number])[] = [
  [0, 1],
  [1, 0],
  [0, last],
  [0, (last + 1) / 2],
  [0, last + 1],
  [1, last],
  [last, 0],
  [last, last],
  [last + 1, 0],
  [last + 1, last + 1],
  [1, -1],
];

t.test("[M9] a pair of ids identifies one cached row, on both sides of the numeric key limit", (t) => {
  const cache = new RowCache();
  for (const key of keys) cache.apply({ table: "mutedUsers", key: [...key], row: { mutedAt: keys.indexOf(key) } });
  for (const key of keys) {
    const row = cache.get("mutedUsers", [...key], () => undefined);
    t.strictSame(row, { mutedAt: keys.indexOf(key) }, key.join(", "));
  }
  t.end();
});
