/**
 * `npm run test:sim`: simulations of whole days, one after the other. SEED: of the first run, the next ones follow; RUNS: how
 * many; MINUTES: for how long instead; STEPS: of each run. A contradiction prints what repeats it, and ends with 1.
 */
import { randomInt } from "node:crypto";
import { Campaign } from "./campaign.ts";
import { Template } from "./template.ts";

const given = (name: string) => (process.env[name] === undefined ? null : Number(process.env[name]));
const seed = given("SEED") ?? randomInt(2 ** 31);
const minutes = given("MINUTES");
const runs = given("RUNS") ?? (minutes === null ? 20 : Number.POSITIVE_INFINITY);
const steps = given("STEPS") ?? 400;

const callbacks: (() => unknown)[] = [];
const template = await Template.make({ teardown: (callback) => callbacks.push(callback) });
const campaign = new Campaign(template);
const until = minutes === null ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000;
process.stdout.write(`SEED=${seed} STEPS=${steps}\n`);
for (let run = 0; run < runs && Date.now() < until; run++) {
  const result = await campaign.run(seed + run, steps);
  if (runs === 1) process.stdout.write(`${result.hash}\n`);
  if (result.problem === null) continue;
  process.stdout.write(
    `SEED=${seed + run} RUNS=1 STEPS=${steps} npm run test:sim\n  step ${result.step}: ${result.problem}\n`,
  );
  process.exitCode = 1;
}
process.stdout.write(`${campaign.summary()}\n`);
for (const callback of callbacks.reverse()) await callback();
