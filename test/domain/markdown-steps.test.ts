/**
 * The cost of rendering, counted instead of timed: how often the engine runs each function and each block of the
 * parser. The counts are the same on every machine, so an expensive input is detected reliably. markdown-safety.test.ts
 * measures the cost of single calls of string functions.
 */
import { Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";
import t from "tap";
import { fill, hostileTexts, ordinary, render, repeatedUnits } from "./markdown-support.ts";

// The counts of optimized code are inexact.
for (const flag of ["--no-opt", "--no-maglev"]) setFlagsFromString(flag);
const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

function stepsOf(content: string): number {
  let steps = 0;
  // Restarts the count.
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

// Runs the one-time initialization of the first message.
stepsOf(ordinary);
const yardstick = stepsOf(ordinary);

t.test("[S3] the step count is the same for the same message, and large for a long one", async (t) => {
  t.equal(stepsOf(ordinary), yardstick);
  t.ok(yardstick > 10 * ordinary.length, `${yardstick} steps`);
});

t.test(
  "[S3] 10,000 brackets, stars or quote marks, and deep nesting, take few more steps than a long one",
  async (t) => {
    for (const content of hostileTexts) {
      const times = stepsOf(content) / yardstick;
      t.ok(times < 3, `${JSON.stringify(content.slice(0, 12))}: ${times.toFixed(2)} times as many`);
    }
  },
);

t.test("[S3] twice as much of any piece of syntax takes twice as many steps, not four times", async (t) => {
  for (const unit of repeatedUnits) {
    const whole = stepsOf(fill(unit));
    const half = stepsOf(fill(unit, 5000));
    t.ok(whole < 2.5 * half, `${JSON.stringify(unit)}: ${half}, then ${whole}`);
    t.ok(whole < 4 * yardstick, `${JSON.stringify(unit)}: ${(whole / yardstick).toFixed(2)} times an ordinary message`);
  }
});
