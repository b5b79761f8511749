/** Rows that are kept decoded are found by their keys, whatever these are made of: no two keys have one name. */
import t from "tap";
import { RowCache } from "../../src/runtime/row-cache.ts";

/** The largest id that is named by a number, and one more. */
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

t.test("[M9] a pair of ids names one row, below and above the bound of what fits into a number", (t) => {
  const cache = new RowCache();
  for (const key of keys) cache.apply({ table: "mutedUsers", key: [...key], row: { mutedAt: keys.indexOf(key) } });
  for (const key of keys) {
    const row = cache.get("mutedUsers", [...key], () => undefined);
    t.strictSame(row, { mutedAt: keys.indexOf(key) }, key.join(", "));
  }
  t.end();
});
