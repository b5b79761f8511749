/** Several test files in one process, one after the other: each is a subtest with the name of its path (scripts/build-tests.mjs). */
import tap, { type Test } from "tap";

let current: Test | null = null;

/** @returns the test that replaces tap's root in a file of a group */
export function currentFile(): Test {
  if (current === null) throw new Error("the file is not loaded by runFiles");
  return current;
}

/** The servers and folders of a file are removed by its teardown before the next file is loaded. */
export function runFiles(files: readonly (readonly [path: string, load: () => Promise<unknown>])[]): void {
  for (const [path, load] of files) {
    // Failures are reported by the tests inside; the position of this line would be misleading.
    void tap.test(path, { at: null, stack: "" }, async (t) => {
      current = t;
      await load();
    });
  }
}
