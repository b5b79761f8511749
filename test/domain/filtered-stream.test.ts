/**
 * Walks an index of which only a few entries are wanted (queries/id-streams.ts): no wanted entry is skipped, and no
 * seek is long.
 */
import fc from "fast-check";
import t from "tap";
import { SiftedStream, type Step } from "../../src/queries/id-streams.ts";
import { seedOf } from "../support/seed.ts";

interface Index {
  readonly ids: readonly number[];
  readonly wanted: ReadonlySet<number>;
}

function streamOf({ ids, wanted }: Index, step: Step, spend: (entries: number) => void) {
  const ordered = step === 1 ? ids : ids.toReversed();
  const read = (from: number, limit: number) =>
    ordered
      .filter((id) => (id - from) * step >= 0)
      .slice(0, limit)
      .map((id) => ({ id, isWanted: wanted.has(id) }));
  return new SiftedStream(step, read, spend);
}

/** Like a message walk: each id that a seek returns is examined, and the next seek starts after it. */
function walk(index: Index, step: Step) {
  let longest = 0;
  let spent = 0;
  const stream = streamOf(index, step, (entries) => {
    spent += entries;
  });
  const found: number[] = [];
  let from = step === 1 ? 0 : 100_000;
  for (;;) {
    spent = 0;
    const id = stream.seek(from);
    longest = Math.max(longest, spent);
    if (id === null) return { found, longest };
    if (index.wanted.has(id)) found.push(id);
    from = id + step;
  }
}

t.test("every wanted id is found, in order, in both directions, however long the gaps", async (t) => {
  const stretch = fc.tuple(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 3 }));
  fc.assert(
    fc.property(fc.array(stretch, { maxLength: 5 }), fc.integer({ min: 1, max: 3 }), (stretches, gap) => {
      const ids: number[] = [];
      const wanted = new Set<number>();
      const add = (isWanted: boolean) => {
        const id = (ids.at(-1) ?? 0) + gap;
        ids.push(id);
        if (isWanted) wanted.add(id);
      };
      for (const [unwanted, after] of stretches) {
        for (let count = 0; count < unwanted; count++) add(false);
        for (let count = 0; count < after; count++) add(true);
      }
      t.strictSame(walk({ ids, wanted }, 1).found, [...wanted]);
      t.strictSame(walk({ ids, wanted }, -1).found, [...wanted].reverse());
    }),
    { numRuns: 50, seed: seedOf(t) },
  );
});

t.test("[S3] a seek examines at most 1,024 entries, and reports each of them", async (t) => {
  const ids = Array.from({ length: 10_000 }, (_, index) => index + 1);
  const { found, longest } = walk({ ids, wanted: new Set([9_999]) }, 1);
  t.strictSame(found, [9_999]);
  t.equal(longest, 1024);
});

t.test("a walk that skips ahead finds the entries there", async (t) => {
  const ids = Array.from({ length: 5_000 }, (_, index) => index + 1);
  const stream = streamOf({ ids, wanted: new Set([10, 4_000, 4_500]) }, 1, () => undefined);
  t.equal(stream.seek(1), 10);
  t.equal(stream.seek(3_990), 4_000);
  t.equal(stream.seek(4_400), 4_500);
});
