/**
 * Power cuts (M1, M2, E1): a real server's writes and flushes are recorded while people work with it; then its files are rebuilt as
 * a disk may hold them after a cut, and opened. `CUTS` says how many cuts (20), `SEED` where they are.
 */
import t from "tap";
import { type Breakage, brokenCheckout } from "../support/broken-checkout.ts";
import { seedOf } from "../support/seed.ts";
import { tracingObstacle } from "../support/strace.ts";
import { type CutResult, PowerCuts, recordDay } from "./power-cuts.ts";

const cuts = Number(process.env["CUTS"] ?? 20);
/** So many cuts in one recording, then another one. */
const cutsPerDay = 50;

t.test("[M1, M2, E1] after a power cut everything is there that anybody was told of, and nothing half", async (t) => {
  const reason = tracingObstacle();
  if (reason !== null) {
    t.pass(`not recorded: ${reason}`, { skip: reason });
    return;
  }
  const seed = seedOf(t);
  const power = new PowerCuts(t, seed);
  const results: CutResult[] = [];
  for (let day = 0; results.length < cuts; day++) {
    const recorded = await recordDay(t, seed + day);
    const { deeds } = recorded.day;
    const placed = deeds.filter(({ key }) => recorded.timeline.answered.has(key));
    t.equal(placed.length, deeds.length, `day ${day}: ${deeds.length} answers, each seen in the trace`);
    for (const last = results.length + cutsPerDay; results.length < Math.min(cuts, last); ) {
      const result = await power.cut(recorded);
      results.push(result);
      const { lost, damaged, cut, image } = result;
      if (lost.length + damaged.length > 0) {
        t.fail(`day ${day}, cut after line ${cut.line}, ${cut.fate}: see ${image}`, { lost, damaged });
      }
    }
  }
  const sum = (of: (result: CutResult) => number) => results.reduce((total, result) => total + of(result), 0);
  t.comment(`${results.length} cuts, ${sum(({ pending }) => pending)} writes unflushed`);
  t.ok(sum(({ pending }) => Math.min(1, pending)) > cuts / 4, "cuts met writes that were under way");
  t.ok(sum(({ acknowledged }) => acknowledged) > cuts * 10, "and much that was acknowledged");
});

/** What the cuts must find when it is broken on purpose. */
const controls: Readonly<Record<string, { breakage: Breakage; finds: RegExp }>> = {
  "a store that does not flush": {
    breakage: {
      file: "src/store/environment.ts",
      from: "overlappingSync: false,",
      to: "overlappingSync: false, noSync: true,",
    },
    finds: / is gone$/,
  },
  "uploads that are not flushed": {
    breakage: { file: "src/store/file-draft.ts", from: "await this.#file.sync();", to: "" },
    finds: /^the file /,
  },
};

/** `npm test` has no time for all of them. */
const controlsPlayed = cuts < 100 ? 1 : Object.keys(controls).length;

for (const [what, { breakage, finds }] of Object.entries(controls).slice(0, controlsPlayed)) {
  t.test(`[positive control] power cuts find ${what}`, async (t) => {
    const reason = tracingObstacle();
    if (reason !== null) {
      t.pass(`not recorded: ${reason}`, { skip: reason });
      return;
    }
    const seed = seedOf(t);
    const power = new PowerCuts(t, seed);
    const recorded = await recordDay(t, seed, brokenCheckout(t, [breakage]));
    let found = false;
    let tries = 0;
    for (; tries < 20 && !found; tries++) {
      const { lost } = await power.cut(recorded, "lost");
      found = lost.some((line) => finds.test(line));
    }
    t.ok(found, `after ${tries} cuts`);
  });
}
