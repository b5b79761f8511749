/** The order of the overlay's rows (docs/adr/0009-journal.md), with more rows than a chunk has. */
import t from "tap";
import { seededRandom } from "../../bench/lib/statistics.ts";
import { type OverlayRow, SortedRows, unorderedRows_max } from "../../src/durability/journal/overlay.ts";
import { compareOrdered, orderedKey } from "../../src/store/codec.ts";
import { seedOf } from "../support/seed.ts";

function rowOf(key: unknown): OverlayRow {
  return { key, ordered: orderedKey(key), bytes: null, turn: 1 };
}

function keysOf(rows: Iterable<OverlayRow>): unknown[] {
  return [...rows].map(({ key }) => key);
}

/** Ways in which the keys of a table come. */
const arrivals: Readonly<Record<string, (index: number, random: () => number) => unknown>> = {
  ascending: (index) => index,
  descending: (index) => -index,
  "at random": (index, random) => [Math.floor(random() * 5), random(), index],
  "in two ascending sequences": (index) => [index % 2, index],
};

for (const [how, keyOf] of Object.entries(arrivals)) {
  t.test(`[M2] a range is in the order of the keys, which arrive ${how}`, async (t) => {
    const random = seededRandom(seedOf(t));
    const sorted = new SortedRows();
    let present: OverlayRow[] = [];
    for (let index = 0; index < 3000; index++) {
      const row = rowOf(keyOf(index, random));
      present.push(row);
      sorted.add(row);
      if (random() < 0.3) {
        const [gone] = present.splice(Math.floor(random() * present.length), 1) as [OverlayRow];
        gone.turn = 0;
        sorted.lost();
        sorted.tidy(present.length);
      }
      if (random() > 0.004) continue;
      present = present.sort((one, other) => compareOrdered(one.ordered, other.ordered));
      const from = present[Math.floor(random() * present.length)]?.ordered;
      const atStart = from === undefined ? 0 : present.findIndex(({ ordered }) => ordered === from);
      t.strictSame(keysOf(sorted.ascending(from)), keysOf(present.slice(atStart)));
      t.strictSame(keysOf(sorted.descending(from)), keysOf(present.slice(0, atStart + 1).reverse()));
    }
  });
}

for (const [how, keyOf] of Object.entries(arrivals)) {
  t.test(
    `[S3] no more than unorderedRows_max rows wait for a range to put them in order; they arrive ${how}`,
    async (t) => {
      const random = seededRandom(seedOf(t));
      const sorted = new SortedRows();
      const rows = Array.from({ length: 2 * unorderedRows_max + 100 }, (_, index) => rowOf(keyOf(index, random)));
      let most = 0;
      for (const row of rows) {
        sorted.add(row);
        most = Math.max(most, sorted.unorderedLength);
      }
      t.equal(most, unorderedRows_max - 1);
      t.equal(sorted.unorderedLength, 100);
      const expected = rows.sort((one, other) => compareOrdered(one.ordered, other.ordered));
      t.equal(JSON.stringify(keysOf(sorted.ascending(undefined))), JSON.stringify(keysOf(expected)));
      t.equal(sorted.unorderedLength, 0);
    },
  );
}
