/** The simulation's journal keeps what every journal promises, and loses exactly what a crash may lose. */
import t from "tap";
import { seededRandom } from "../../bench/lib/statistics.ts";
import type { Recorded } from "../../src/durability/journal/journal.ts";
import { appendAll, describeRecord, type JournalPlace, journalContract } from "../journal/contract.ts";
import type { FaultPlan, JournalFault } from "./faults.ts";
import { JournalDisk, SimJournal } from "./sim-journal.ts";

function planOf(seed: number, faults: JournalFault[] = []): FaultPlan {
  const random = seededRandom(seed);
  return {
    draw: (moment) => (moment === "flush" ? ((faults.shift() ?? null) as never) : null),
    met: () => undefined,
    below: (count) => Math.floor(random() * count),
  };
}

interface Trial {
  readonly disk: JournalDisk;
  readonly journal: SimJournal;
  readonly failures: Error[];
  isDown: boolean;
  /** The next thing that the disk does. @returns false if it has nothing to do */
  step(): boolean;
}

/** Time passes when the test says so. */
function opened(seed: number, faults: JournalFault[] = []): Trial {
  const due: (() => void)[] = [];
  const disk = new JournalDisk();
  const failures: Error[] = [];
  const trial = {
    disk,
    failures,
    isDown: false,
    journal: new SimJournal({
      disk,
      plan: planOf(seed, faults),
      after: (_milliseconds, callback) => due.push(callback),
      flushed: () => undefined,
      crash: () => {
        trial.isDown = true;
      },
      fatal: (error) => failures.push(error),
    }),
    step() {
      try {
        due.shift()?.();
      } catch (error) {
        if (!trial.isDown) throw error;
      }
      return due.length > 0;
    },
  };
  return trial;
}

t.test("the contract of journals", async (t) => {
  journalContract(t, (): JournalPlace => {
    const disk = new JournalDisk();
    return {
      open: () =>
        Promise.resolve(
          new SimJournal({
            disk,
            plan: planOf(1),
            after: (_milliseconds, callback) => setImmediate(callback),
            flushed: () => undefined,
            crash: () => undefined,
            fatal: () => undefined,
          }),
        ),
      readBack: () => Promise.resolve([...disk.records]),
    };
  });
});

const crashes: Readonly<Record<string, (survivors: number, appended: number) => boolean>> = {
  "crash before flush": (survivors) => survivors === 0,
  "torn flush": (survivors, appended) => survivors < appended,
  "crash after flush": (survivors) => survivors > 0,
};

for (const [kind, isRight] of Object.entries(crashes)) {
  t.test(`[M1] the simulation's disk has the first records, whole and in order, after a ${kind}`, async (t) => {
    const counts = new Set<number>();
    for (let seed = 1; seed <= 40; seed++) {
      const trial = opened(seed, [{ kind } as JournalFault]);
      const expected: Recorded[] = appendAll(trial.journal, [10, 20, 30, 40]);
      while (trial.step());
      const found = trial.disk.records;
      t.ok(trial.isDown && trial.journal.durable === 0, "the machine is down, and nothing was acknowledged");
      t.ok(isRight(found.length, expected.length), `${found.length} records`);
      t.strictSame(found.map(describeRecord), expected.slice(0, found.length).map(describeRecord));
      t.throws(() => trial.journal.append(1, Buffer.of(1)), { name: "MachineDown" });
      counts.add(found.length);
    }
    if (kind === "torn flush") t.ok(counts.size > 2, "several lengths occur");
  });
}

t.test("[M5] the simulation's journal acknowledges nothing after a flush that failed", async (t) => {
  const trial = opened(1, [{ kind: "failed flush" }]);
  appendAll(trial.journal, [10, 20]);
  while (trial.step());
  appendAll(trial.journal, [30]);
  while (trial.step());
  t.strictSame([trial.journal.durable, trial.disk.end, trial.failures.length], [0, 0, 1]);
  t.equal(trial.failures[0]?.name, "JournalLost");
});
