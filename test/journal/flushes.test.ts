/** Flushes that overlap, ended by the test in any order. */
import t from "tap";
import { commonLimits as limits } from "../../schemas/limits/common.ts";
import { Flushes } from "../../src/durability/journal/flushes.ts";

interface Begun {
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}

class Trial {
  /** Milliseconds. */
  time = 0;
  flushedAll = 0;
  readonly announced: number[] = [];
  readonly flushes = new Flushes(
    () => {
      this.flushedAll++;
    },
    () => this.time,
  );
  readonly #begun: Begun[] = [];

  begin(): Begun {
    const number = this.#begun.length + 1;
    let begun: Begun | null = null;
    const flushed = new Promise<void>((end, fail) => {
      begun = { end, fail };
    });
    this.flushes.begin(flushed, () => this.announced.push(number));
    if (begun === null) throw new Error("a promise starts at once");
    this.#begun.push(begun);
    return begun;
  }
}

t.test("[M1] a flush covers what was written before it began, and nothing that was written later", async (t) => {
  const trial = new Trial();
  const [first, second, third] = [trial.begin(), trial.begin(), trial.begin()];
  second.end();
  await trial.flushes.next(null);
  t.strictSame(trial.announced, [2]);
  t.ok(trial.flushes.isWaiting, "the third is not durable");
  first.end();
  await trial.flushes.next(null);
  t.strictSame(trial.announced, [2], "an earlier flush that ends later takes nothing back");
  third.end();
  await trial.flushes.next(null);
  t.strictSame(trial.announced, [2, 3]);
  t.notOk(trial.flushes.isWaiting);
});

t.test("[M5] after a flush has failed, those that succeed announce nothing", async (t) => {
  const trial = new Trial();
  const [first, second] = [trial.begin(), trial.begin()];
  first.fail(new Error("no disk"));
  const next = trial.flushes.next(null);
  await t.rejects(next, { message: "no disk" });
  second.end();
  await t.rejects(trial.flushes.next(null), { message: "no disk" });
  t.strictSame(trial.announced, []);
});

t.test("[M5] after the journal thread itself has failed, flushes that still end announce nothing", async (t) => {
  const trial = new Trial();
  const begun = trial.begin();
  trial.flushes.fail(new Error("taken over"));
  begun.end();
  await t.rejects(trial.flushes.next(null), { message: "taken over" });
  t.strictSame(trial.announced, []);
});

t.test("[M1] while the pool is busy with something else, the journal thread flushes itself", async (t) => {
  const trial = new Trial();
  const [, second] = [trial.begin(), trial.begin()];
  trial.time += limits.journal_overdue_ms_min - 1;
  await trial.flushes.next(null);
  t.equal(trial.flushedAll, 0);
  trial.time += 1;
  await trial.flushes.next(null);
  t.equal(trial.flushedAll, 1);
  t.strictSame(trial.announced, [2]);
  second.end();
  trial.begin().end();
  await trial.flushes.next(null);
  t.strictSame(trial.announced, [2, 3], "and what the pool ends later is not announced again");
});

t.test("[S3] journal_flushes_max: so many flushes overlap, and only on a disk with slow flushes", async (t) => {
  const trial = new Trial();
  const flushOf = (milliseconds: number) =>
    trial.flushes.measure(() => {
      trial.time += milliseconds;
    });
  flushOf(limits.journal_slow_flush_ms - 1);
  t.notOk(trial.flushes.mayBegin, "the last flush was fast");
  flushOf(limits.journal_slow_flush_ms);
  for (let begun = 0; begun < limits.journal_flushes_max; begun++) {
    t.ok(trial.flushes.mayBegin, `${begun} run`);
    trial.begin();
  }
  t.notOk(trial.flushes.mayBegin, "as many run as may");
});
