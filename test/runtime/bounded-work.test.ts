/** Bounds of work on the thread pool (S3): how many at a time, how many waiting, in which order. */
import t from "tap";
import { BoundedWork } from "../../src/http/bounded-work.ts";

/** Work that is done when it is told to be. */
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

t.test("[S3] never more at a time than the bound, not even when one ends just as another comes", async (t) => {
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

t.test("[S3] at the bound of waiting one waits, one over is refused; a failure makes room, too", async (t) => {
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
  t.equal(next.isRunning, true, "the place is free again");
  next.finish();
  t.equal(await last, "done");
});
