/** Cached rows are found by their keys: two keys never collide, whatever their parts are. */
import t from "tap";
import { RowCache } from "../../src/runtime/caches.ts";

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

t.test("[M9] a pair of ids identifies one cached row, on both sides of the numeric key limit", async (t) => {
  const cache = new RowCache();
  for (const key of keys) cache.apply({ table: "mutedUsers", key: [...key], row: { mutedAt: keys.indexOf(key) } });
  for (const key of keys) {
    const row = cache.get("mutedUsers", [...key], () => undefined);
    t.strictSame(row, { mutedAt: keys.indexOf(key) }, key.join(", "));
  }
});

t.test("[M9] the row that was read last is not shown any more once it was written or removed", async (t) => {
  const cache = new RowCache();
  const message = (content: string) => ({ content, rendered: "" });
  const read = (key: number, row?: object) => cache.get("messages", key, () => row);
  t.strictSame(read(1, message("first")), message("first"));
  t.strictSame(read(1), message("first"), "cached");
  cache.apply({ table: "messages", key: 1, row: message("second") as never }); // only texts are read
  t.strictSame(read(1, message("second")), message("second"));
  cache.apply({ table: "messages", key: 1, row: null });
  t.equal(read(1), undefined);
  const policy = (key: readonly [number, number]) => cache.get("mutedUsers", key, () => undefined);
  cache.apply({ table: "mutedUsers", key: [1, 2], row: { mutedAt: 1 } });
  t.strictSame(policy([1, 2]), { mutedAt: 1 });
  cache.apply({ table: "mutedUsers", key: [1, 2], row: { mutedAt: 2 } });
  t.strictSame(policy([1, 2]), { mutedAt: 2 });
  cache.apply({ table: "mutedUsers", key: [1, 2], row: null });
  t.equal(policy([1, 2]), undefined);
});
