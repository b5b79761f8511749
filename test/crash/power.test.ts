/**
 * Power cuts (M1, M2, E1): records the writes and flushes of a real server under load, which is killed and recovers,
 * rebuilds its files as a disk may contain them after a cut, and opens them. `CUTS` sets the number of cuts (20), `SEED`
 * their positions.
 */
import t from "tap";
import { type Breakage, brokenCheckout } from "../support/broken-checkout.ts";
import { seedOf } from "../support/seed.ts";
import { tracingObstacle } from "../support/strace.ts";
import { countSegments } from "./disk-trace.ts";
import { type CutResult, type Part, PowerCuts, recordDay, smallSegments } from "./power-cuts.ts";
import { Rejected } from "./power-workload.ts";

const cuts = Number(process.env["CUTS"] ?? 20);
/** Number of cuts per recording. */
const cutsPerDay = 50;
const further_cuts_max = 50;
/** A control is found by every fourth cut or so, if its day can show it. */
const control_cuts_max = 100;
const control_days_max = 4;

t.test("[M1, M2, E1] everything acknowledged or announced exists after a power cut, nothing in part", async (t) => {
  const reason = tracingObstacle();
  if (reason !== null) {
    t.pass(`not recorded: ${reason}`, { skip: reason });
    return;
  }
  const seed = seedOf(t);
  const power = new PowerCuts(t, seed);
  const program = brokenCheckout(t, [smallSegments]);
  const results: CutResult[] = [];
  const sum = (of: (result: CutResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const duringWrites = () => sum(({ pending }) => Math.min(1, pending));
  const acknowledged = () => sum((result) => result.acknowledged);
  const provesMuch = () => duringWrites() > cuts / 4 && acknowledged() > cuts * 10;
  // Chance may place a few cuts where nothing is at stake: then more are made.
  const isOver = () => results.length >= cuts && (provesMuch() || results.length >= cuts + further_cuts_max);
  for (let day = 0; !isOver(); day++) {
    const recorded = await recordDay(t, seed + day, program);
    const { operations } = recorded.day;
    const placed = operations.filter(({ key }) => recorded.timeline.answered.has(key));
    t.equal(placed.length, operations.length, `day ${day}: ${operations.length} responses, each found in the trace`);
    const { filled, reused } = countSegments(recorded.recording);
    t.ok(filled > 4, `${filled} segments were filled, ${reused} of them in a file that was used before`);
    for (const last = results.length + cutsPerDay; results.length < last && !isOver(); ) {
      const result = await power.cut(recorded);
      results.push(result);
      const { lost, damaged, cut, part, image } = result;
      if (lost.length + damaged.length > 0) {
        t.fail(`day ${day}, cut after line ${cut.line} (${part}), ${cut.outcome}: see ${image}`, { lost, damaged });
      }
    }
  }
  const inRecovery = results.filter(({ part }) => part === "recovery").length;
  t.comment(
    `${results.length} cuts, ${inRecovery} of them in a recovery, ${sum(({ pending }) => pending)} writes unflushed`,
  );
  t.ok(duringWrites() > cuts / 4, "some cuts fell during writes");
  t.ok(acknowledged() > cuts * 10, "and much was acknowledged before");
});

/** The faults that power cuts must find in a deliberately broken server. */
const controls: Readonly<Record<string, { breakage: Breakage; finds: RegExp; part?: Part }>> = {
  "a journal that does not flush": {
    breakage: {
      file: "src/durability/journal/segments.ts",
      from: "  flush(): void {\n    fdatasyncSync(this.#file);",
      to: "  flush(): void {",
    },
    finds: / is gone$/,
  },
  "a gate that is left out": {
    breakage: {
      file: "src/durability/journal/durability-gate.ts",
      from: "return position <= this.#leftUpTo && this.#mayLeave;",
      to: "return true;",
    },
    finds: / is gone$/,
  },
  "uploads that are not flushed": {
    breakage: { file: "src/store/staged-upload.ts", from: "await this.#file.sync();", to: "" },
    finds: /^the file /,
  },
  "segments that are removed before the stores have their records": {
    breakage: {
      file: "src/durability/journal/file-journal.ts",
      from: "    await options.applyRecords(recovered.records());\n    if (!keeps) forget(writer, recovered);",
      to: "    const read = [...recovered.records()];\n    if (!keeps) forget(writer, recovered);\n    await options.applyRecords(read);",
    },
    finds: / is gone$/,
    part: "recovery",
  },
};

/** `npm test` has no time for all controls. */
const controlsPlayed = cuts < 100 ? 1 : Object.keys(controls).length;

for (const [what, { breakage, finds, part }] of Object.entries(controls).slice(0, controlsPlayed)) {
  t.test(`positive control: power cuts find ${what}`, async (t) => {
    const reason = tracingObstacle();
    if (reason !== null) {
      t.pass(`not recorded: ${reason}`, { skip: reason });
      return;
    }
    const seed = seedOf(t);
    const power = new PowerCuts(t, seed);
    const program = brokenCheckout(t, [smallSegments, breakage]);
    let found = false;
    let tries = 0;
    // If this process stood still before it stopped the server, the stores may have everything, and nothing is lost.
    for (let day = 0; day < control_days_max && !found; day++) {
      const recorded = await recordDay(t, seed + day, program).catch((error: unknown) => {
        if (error instanceof Rejected) return error;
        throw error;
      });
      if (recorded instanceof Rejected) {
        t.pass(`the kill in the day shows it: ${recorded.message}`);
        return;
      }
      for (const last = tries + control_cuts_max; tries < last && !found; tries++) {
        const { lost } = await power.cut(recorded, "lost", part);
        found = lost.some((line) => finds.test(line));
      }
    }
    t.ok(found, `after ${tries} cuts`);
  });
}
