/** The watch over the data folder (S3): how often it checks, and how many stores per pass. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { watchData } from "../../src/runtime/data-watch.ts";
import { ManualClock } from "../support/manual-clock.ts";

const lost = (error: unknown): never => {
  throw error;
};

/** Stores to check, with a counter for each. */
function watched(count: number) {
  const looks = Array.from({ length: count }, () => 0);
  const look = (index: number) => {
    looks[index] = (looks[index] ?? 0) + 1;
  };
  const owned = looks.map((_, index) => ({ assertOwned: () => look(index) }));
  return { looks, owned };
}

const perPass = limits.data_folder_checks_per_pass;

for (const count of [1, perPass, perPass + 1, 2 * perPass + 1]) {
  t.test(`[S3] of ${count} stores, ${perPass} are checked per pass, and all of them once per round`, async (t) => {
    const clock = new ManualClock(0);
    const { looks, owned } = watched(count);
    const end = watchData(clock, () => owned, lost);
    clock.advance(limits.data_folder_check_ms - 1);
    t.equal(
      looks.reduce((sum, times) => sum + times),
      0,
      "not before its interval",
    );
    clock.advance(1);
    for (let passed = perPass; passed < count; passed += perPass) {
      t.equal(looks.filter((times) => times === 1).length, passed);
      await new Promise(setImmediate);
    }
    t.ok(looks.every((times) => times === 1));
    clock.advance(limits.data_folder_check_ms);
    t.equal(looks[0], 2, "and again");
    end();
    await new Promise(setImmediate);
    clock.advance(10 * limits.data_folder_check_ms);
    t.equal(looks[0], 2, "not after it has stopped");
  });
}

t.test("[M5] a failed check is reported at once", async (t) => {
  const clock = new ManualClock(0);
  const found: unknown[] = [];
  const gone = new Error("gone");
  const owned = {
    assertOwned() {
      throw gone;
    },
  };
  const report = (error: unknown): never => {
    found.push(error);
    throw error;
  };
  watchData(clock, () => [owned], report);
  t.throws(() => clock.advance(limits.data_folder_check_ms), gone);
  t.strictSame(found, [gone]);
});
