/**
 * The real runtime, store and hub through days of random requests and faults (issue 7): nothing that was acknowledged is lost,
 * nothing is doubled, no gap goes unreported, nothing leaks, timers fire once. `npm run test:sim` goes deep.
 */
import t from "tap";
import { Campaign } from "./campaign.ts";
import { Simulation } from "./simulation.ts";
import { Template } from "./template.ts";

/** In this order; more of them only while a command or a fault has not occurred. */
const seeds = Array.from({ length: 24 }, (_, index) => index + 1);
const runs_min = 5;
const steps = 300;

const template = await Template.make(t);

t.test("[M1, M2, M3, M5, M6, M7, M8, M9, E1, E2, S1, D25] random days with crashes contradict nothing", async (t) => {
  const campaign = new Campaign(template);
  for (const [index, seed] of seeds.entries()) {
    if (index >= runs_min && campaign.missing.length === 0) break;
    const { problem, step } = await campaign.run(seed, steps);
    t.equal(problem, null, `SEED=${seed} RUNS=1 STEPS=${steps} npm run test:sim (step ${step})`);
  }
  t.comment(campaign.summary());
  t.strictSame(campaign.missing, [], "every type of command and every kind of fault occurred");
  const { commands, events, facts, crashes } = campaign.totals;
  t.ok(commands > 3000 && events > 3000 && facts > 3000 && crashes > 20, "the days were not empty");
  t.ok((campaign.answers.get("ok") ?? 0) > commands / 4, "much of it was legal");
});

t.test("[M4] one seed gives the same answers, events and rows, bit for bit", async (t) => {
  const hashes = new Set<string>();
  for (let copy = 0; copy < 2; copy++) {
    const result = await new Simulation({ folder: template.copy(), seed: 7, steps: 150 }).run();
    t.equal(result.problem, null);
    hashes.add(result.hash);
  }
  t.equal(hashes.size, 1);
  const other = await new Simulation({ folder: template.copy(), seed: 8, steps: 150 }).run();
  t.notOk(hashes.has(other.hash), "another seed gives another run");
});
