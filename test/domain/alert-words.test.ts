/** Finds the users whose alert words a text contains (public API: alert words), after any additions and removals. */
import fc from "fast-check";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { AlertWordsProjection } from "../../src/store/projections/alert-words.ts";

import { seedOf } from "../support/seed.ts";

const seed = seedOf(t);
const before = " \n\t(\".,';[*`>";
const after = " \n\t)\",?:.;']!*`";

/** The definition of a match, checked position by position. */
function occursAsWord(word: string, text: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const [first, last] = [text.charAt(at - 1), text.charAt(at + word.length)];
    if ((at === 0 || before.includes(first)) && (last === "" || after.includes(last))) return true;
  }
  return false;
}

const delta = (userId: number, word: string, isThere: boolean) =>
  ({ table: "alertWords", key: [userId, word], row: isThere ? { word } : null }) as const;

const word = fc.string({ unit: fc.constantFrom(..."ab é日"), minLength: 1, maxLength: 4 });
const change = fc.record({ userId: fc.integer({ min: 1, max: 3 }), word, isThere: fc.boolean() });
const text = fc.string({ unit: fc.constantFrom(..."aabb é日.x("), maxLength: 25 });

t.test("a user is alerted by a word wherever it is delimited (property)", async (t) => {
  const property = fc.property(fc.array(change, { maxLength: 12 }), text, (changes, content) => {
    const projection = new AlertWordsProjection();
    const words = new Map<string, { readonly userId: number; readonly word: string }>();
    for (const { userId, word, isThere } of changes) {
      projection.apply(delta(userId, word, isThere));
      if (isThere) words.set(`${userId}:${word}`, { userId, word });
      else words.delete(`${userId}:${word}`);
    }
    const expected = new Set(
      [...words.values()].filter((own) => occursAsWord(own.word, content)).map(({ userId }) => userId),
    );
    const rebuilt = new AlertWordsProjection();
    for (const own of words.values()) rebuilt.apply(delta(own.userId, own.word, true));
    t.strictSame([...projection.alertedBy(content)].sort(), [...expected].sort());
    t.strictSame(projection.snapshot(), rebuilt.snapshot());
  });
  fc.assert(property, { seed, numRuns: 500 });
});

t.test("[S3] alert_words_per_user_max: memory grows with the number of words, not with their characters", async (t) => {
  const projection = new AlertWordsProjection();
  const longest = limits.alert_word_code_points_max;
  const count = limits.alert_words_per_user_max;
  // Pairs of words differ in their last character only: a tree of characters shares as little as possible.
  const words = Array.from({ length: count }, (_, index) => {
    const own = String(Math.floor(index / 2)).padStart(4, "0");
    return own + "\u{1f600}".repeat(longest - own.length - 1) + (index % 2);
  });
  for (const word of words) projection.apply(delta(1, word, true));
  const nodes = projection.snapshot() as unknown[];
  t.ok(nodes.length <= 2 * count, `${nodes.length} nodes`);
  t.strictSame([...projection.alertedBy(`so (${words[7]}) it is`)], [1]);
  t.strictSame([...projection.alertedBy(`so ${words[7]}x it is`)], []);
  for (const word of words) projection.apply(delta(1, word, false));
  t.strictSame(projection.snapshot(), []);
});
