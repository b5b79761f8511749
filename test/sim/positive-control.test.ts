/** The simulation finds what it is there to find: servers that are broken in one way each are found out, within a few runs. */
import t from "tap";
import { breakages } from "./breakages.ts";
import { Campaign } from "./campaign.ts";
import { Template } from "./template.ts";

const runs_max = 12;
const steps = 200;

const template = await Template.make(t);

for (const [name, { breakage, breaks }] of Object.entries(breakages)) {
  t.test(`[issue 7, Positive control] ${name} is found`, async (t) => {
    const campaign = new Campaign(template);
    for (let seed = 1; seed <= runs_max; seed++) {
      const { problem, step } = await campaign.run(seed, steps, breakage);
      if (problem === null) continue;
      t.comment(`SEED=${seed}, step ${step}: ${problem}`);
      t.ok(breaks.includes(/^\[(\w+)\]/.exec(problem)?.[1] ?? ""), "as the promise that it breaks");
      return;
    }
    t.fail(`not in ${runs_max} runs`);
  });
}
