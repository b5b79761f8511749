/** The clock of background work: which failures it survives (M5, S3). */
import t from "tap";
import { guardedClock } from "../../src/runtime/clock.ts";
import { DamagedData } from "../../src/store/damage.ts";
import { ManualClock } from "../support/manual-clock.ts";

const outOfDescriptors = Object.assign(new Error("EMFILE: too many open files, open '/x'"), { code: "EMFILE" });

for (const [name, error] of [
  ["no descriptor for a file", outOfDescriptors],
  ["no descriptor for a store", new Error("Too many open files")],
  ["a bug", new TypeError("x is not a function")],
  ["a damaged row", new DamagedData("/data/data.mdb", "a row")],
] as const) {
  t.test(`[S3] background work that meets ${name} is reported, and the next timers run`, async (t) => {
    const clock = new ManualClock(0);
    const reported: unknown[] = [];
    const guarded = guardedClock(clock, (met) => reported.push(met));
    let ran = 0;
    guarded.after(1, () => {
      throw error;
    });
    guarded.after(2, () => {
      ran++;
    });
    clock.advance(2);
    t.strictSame(reported, [error]);
    t.equal(ran, 1);
  });
}

t.test("[M5] background work that fails otherwise ends the process: a write may have failed", async (t) => {
  const clock = new ManualClock(0);
  const fault = new Error("Input/output error");
  guardedClock(clock, () => t.fail("it is not reported as survived")).after(1, () => {
    throw fault;
  });
  t.throws(() => clock.advance(1), fault);
});
