/**
 * What rendering costs, counted and not timed: how often the engine runs each function and each block of the parser. The counts are
 * the same on every machine, so that a way to make the parser work hard is seen at once; what a single call of a string function
 * costs is measured in markdown-safety.test.ts.
 */
import { Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";
import t from "tap";
import { fill, hostileTexts, ordinary, render, repeatedUnits } from "./markdown-support.ts";

// Code that was made faster counts no longer exactly.
for (const flag of ["--no-opt", "--no-maglev"]) setFlagsFromString(flag);
const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

function stepsOf(content: string): number {
  let steps = 0;
  // The count begins anew.
  session.post("Profiler.takePreciseCoverage", () => undefined);
  render(content, { linkifiers: [], translateEmoticons: true });
  session.post("Profiler.takePreciseCoverage", (error, answer) => {
    if (error !== null) throw error;
    const ours = answer.result.filter(({ url }) => url.startsWith("file:"));
    const ranges = ours.flatMap(({ functions }) => functions.flatMap((one) => one.ranges));
    steps = ranges.reduce((sum, { count }) => sum + count, 0);
  });
  return steps;
}

// What is made once, at the first message.
stepsOf(ordinary);
const yardstick = stepsOf(ordinary);

t.test("[issue 5] the count is a count: the same for the same message, and large for a long one", async (t) => {
  t.equal(stepsOf(ordinary), yardstick);
  t.ok(yardstick > 10 * ordinary.length, `${yardstick} steps`);
});

t.test(
  "[issue 5] 10,000 brackets, stars or quote marks, and deep nesting, take few steps more than any long message",
  (t) => {
    for (const content of hostileTexts) {
      const times = stepsOf(content) / yardstick;
      t.ok(times < 3, `${JSON.stringify(content.slice(0, 12))}: ${times.toFixed(2)} times as many`);
    }
    t.end();
  },
);

t.test("[S3] twice as much of any piece of syntax takes twice as many steps, not four times", (t) => {
  for (const unit of repeatedUnits) {
    const whole = stepsOf(fill(unit));
    const half = stepsOf(fill(unit, 5000));
    t.ok(whole < 2.5 * half, `${JSON.stringify(unit)}: ${half}, then ${whole}`);
    t.ok(whole < 4 * yardstick, `${JSON.stringify(unit)}: ${(whole / yardstick).toFixed(2)} times an ordinary message`);
  }
  t.end();
});
