/**
 * Runs the real runtime, store and hub through days of random requests and faults: no acknowledged change is lost,
 * nothing is duplicated, no gap is silent, nothing leaks, timers fire once. `npm run test:sim` runs much longer.
 */
import t from "tap";
import { Campaign } from "./campaign.ts";
import { Simulation } from "./simulation.ts";
import { Template } from "./template.ts";

/** With so many runs, every command and every fault occurs. */
const runsForAll = 24;
const runsMax = Number(process.env["RUNS"] ?? runsForAll);
/** In this order. Seeds beyond the minimum run only while a command or a fault has not occurred. */
const seeds = Array.from({ length: runsMax }, (_, index) => index + 1);
const runs_min = 5;
const steps = 300;

const template = await Template.make(t);

t.test("[M1, M2, M3, M5, M6, M7, M8, M9, E1, E2, S1, D25] random days with crashes break no promise", async (t) => {
  const campaign = new Campaign(template);
  for (const [index, seed] of seeds.entries()) {
    if (index >= runs_min && campaign.missing.length === 0) break;
    const { problem, step } = await campaign.run(seed, steps);
    t.equal(problem, null, `SEED=${seed} RUNS=1 STEPS=${steps} npm run test:sim (step ${step})`);
  }
  t.comment(campaign.summary());
  if (runsMax >= runsForAll) {
    t.strictSame(campaign.missing, [], "every type of command and every kind of fault occurred");
  }
  const { commands, events, eventsCompared, facts, crashes } = campaign.totals;
  const runs = Math.min(runsMax, runs_min);
  t.ok(Math.min(commands, events, facts) > 600 * runs && crashes > 4 * runs, "the days were not empty");
  t.ok(eventsCompared > 600 * runs, `states were compared after ${eventsCompared} events`);
  t.ok((campaign.answers.get("ok") ?? 0) > commands / 4, "many requests succeeded");
});

t.test("[M4] one seed gives the same responses, events and rows, bit for bit", async (t) => {
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
