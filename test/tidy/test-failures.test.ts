/** The end of a test run repeats what failed, so that a log of which only the end is kept still says it. */
import t from "tap";
import { Failures } from "../../scripts/test-failures.mjs";

function shown(log: string): readonly string[] {
  const failures = new Failures();
  for (const line of log.split("\n")) failures.note(line);
  return failures.lines;
}

/** Two files in one process; in the first a subtest of two fails. */
const log = `TAP version 14
# Subtest: test/one.test.ts
    # Subtest: [M1] this one passes
        # SEED=1
        ok 1 - fine
        1..1
    ok 1 - [M1] this one passes # time=3.1ms
    # Subtest: [M2] this one fails
        # SEED=2
        # 20 rounds
        ok 1 - fine
        not ok 2 - should be equal
          ---
          at:
            fileName: test/one.test.ts
            lineNumber: 84
          source: |2
              t.equal(one, two);
            ----^
          diff: |
            --- expected
            +++ actual
            -1
            +2
          ...
        1..2
    not ok 2 - [M2] this one fails # time=5.3ms
      ---
      at:
        fileName: test/one.test.ts
        lineNumber: 70
      ...
    1..2
not ok 1 - test/one.test.ts # time=10ms
# Subtest: test/two.test.ts
    ok 1 - fine
    ok 2 - not here # SKIP no strace
    1..2
ok 2 - test/two.test.ts # time=10ms
not ok - test/three.test.ts: its process exited with 1 before its tests ended
  ---
  stderr: |
    Error: out of memory
  ...
`;

t.test(
  "a failed assertion is shown with its subtests, its seed, its diff and its place, and nothing else is",
  async (t) => {
    t.strictSame(shown(log), [
      "not ok - test/one.test.ts > [M2] this one fails > should be equal",
      "  # SEED=2",
      "  # 20 rounds",
      "  diff: |",
      "    --- expected",
      "    +++ actual",
      "    -1",
      "    +2",
      "  at test/one.test.ts:84",
      "not ok - test/three.test.ts: its process exited with 1 before its tests ended",
      "  stderr: |",
      "    Error: out of memory",
    ]);
    t.strictSame(shown("# Subtest: test/two.test.ts\n    ok 1 - fine\nok 1 - test/two.test.ts"), []);
  },
);

t.test("the title of a failed test has its file, as the line of a flaky one does", async (t) => {
  const failures = new Failures();
  for (const line of log.split("\n")) failures.note(line);
  t.strictSame(failures.titles, [
    "test/one.test.ts: [M2] this one fails",
    "test/three.test.ts: its process exited with 1 before its tests ended",
  ]);
});

t.test("a subtest that fails without a failed assertion is shown itself, with its message", async (t) => {
  const timedOut = `# Subtest: test/one.test.ts
    # Subtest: [M3] this one hangs
        # SEED=3
        ok 1 - fine
    not ok 1 - [M3] this one hangs
      ---
      message: timeout!
      ...
not ok 1 - test/one.test.ts`;
  t.strictSame(shown(timedOut), [
    "not ok - test/one.test.ts > [M3] this one hangs",
    "  # SEED=3",
    "  message: timeout!",
  ]);
});

t.test("a long log stays short: the first 25 failures, 20 lines each, and the number of the others", async (t) => {
  const long = Array.from({ length: 100 }, (_, line) => `    line ${line} ${"x".repeat(1000)}`).join("\n");
  const many = Array.from({ length: 27 }, (_, index) => `not ok ${index} - no\n  ---\n  diff: |\n${long}\n  ...`);
  const lines = shown(many.join("\n"));
  t.equal(lines.length, 25 * 21 + 1);
  t.equal(lines.at(-1), "and 2 more");
  t.ok(lines.every((line) => line.length < 320));
});
