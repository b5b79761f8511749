/**
 * The reducer of the page (packages/client/src/state) over as many events as a busy organization has in a day: what it
 * makes of them equals a fresh state, whatever crashed meanwhile.
 */
import t from "tap";
import { seedOf } from "../support/seed.ts";
import { Campaign } from "./campaign.ts";
import { Template } from "./template.ts";

const events = Number(process.env["EVENTS"] ?? 5_000);
const steps = 300;
/** A day has some thousands of events. */
const runsMax = Math.ceil(events / 200);

const template = await Template.make(t);

t.test("[E2] events equal a fresh state over very many simulated events", async (t) => {
  const campaign = new Campaign(template);
  const firstSeed = seedOf(t);
  for (let run = 0; run < runsMax && campaign.totals.eventsCompared < events; run++) {
    const seed = firstSeed + run;
    const { problem, step } = await campaign.run(seed, steps);
    t.equal(problem, null, `SEED=${seed} RUNS=1 STEPS=${steps} npm run test:sim (step ${step})`);
    if (problem !== null) break;
  }
  t.comment(campaign.summary());
  t.ok(campaign.totals.eventsCompared >= events, `${campaign.totals.eventsCompared} events`);
});
