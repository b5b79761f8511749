/** The simulation finds deliberate bugs: each of these servers, broken in one way, is detected within a few runs. */
import t from "tap";
import { breakages } from "./breakages.ts";
import { Campaign } from "./campaign.ts";
import { Template } from "./template.ts";

const runs_max = 12;
const steps = 200;

const template = await Template.make(t);

for (const [name, { breakage, breaks, mustReport }] of Object.entries(breakages)) {
  t.test(`positive control: the simulation detects ${name}`, async (t) => {
    const campaign = new Campaign(template);
    for (let seed = 1; seed <= runs_max; seed++) {
      const { problem, step } = await campaign.run(seed, steps, breakage);
      if (problem === null) continue;
      t.comment(`SEED=${seed}, step ${step}: ${problem}`);
      const promise = /^\[(\w+)\]/.exec(problem)?.[1] ?? "";
      t.ok(breaks.includes(promise), "as a broken promise that this bug can break");
      if ((mustReport ?? breaks).includes(promise)) return;
    }
    t.fail(`not detected in ${runs_max} runs`);
  });
}
