/** Bounds of work on the thread pool (S3): how many jobs run at once, how many wait, and in which order. */
import t from "tap";
import { BoundedWork } from "../../src/runtime/bounded-work.ts";

/** A job that finishes when the test says so. */
function job(): { readonly work: () => Promise<string>; finish(): void; isRunning: boolean } {
  let finish: () => void = () => undefined;
  const made = {
    isRunning: false,
    finish: () => finish(),
    work: () =>
      new Promise<string>((resolve) => {
        made.isRunning = true;
        finish = () => {
          made.isRunning = false;
          resolve("done");
        };
      }),
  };
  return made;
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

t.test("[S3] at most the bounded number of jobs run at once, even if one ends just as another arrives", async (t) => {
  const bounded = new BoundedWork(1, 2);
  const [first, second, third] = [job(), job(), job()];
  const results = [bounded.run(first.work), bounded.run(second.work)];
  t.strictSame([first.isRunning, second.isRunning], [true, false]);
  first.finish();
  await Promise.resolve();
  results.push(bounded.run(third.work));
  await settled();
  t.strictSame([first.isRunning, second.isRunning, third.isRunning], [false, true, false]);
  second.finish();
  await settled();
  t.equal(third.isRunning, true);
  third.finish();
  t.strictSame(await Promise.all(results), ["done", "done", "done"]);
});

t.test("[S3] the last waiting slot is accepted, one more job is rejected, a failed job frees its slot", async (t) => {
  const bounded = new BoundedWork(1, 1);
  const first = job();
  const running = bounded.run(first.work);
  const failing = bounded.run(() => Promise.reject(new Error("no")));
  t.equal(await bounded.run(job().work), null, "one over");
  first.finish();
  await running;
  await t.rejects(failing, { message: "no" });
  const next = job();
  const last = bounded.run(next.work);
  t.equal(next.isRunning, true, "the slot is free again");
  next.finish();
  t.equal(await last, "done");
});
