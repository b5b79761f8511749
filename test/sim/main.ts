/**
 * `npm run test:sim`: simulated days, one after the other. SEED: seed of the first run, which increases with each run;
 * RUNS: number of runs; MINUTES: duration, instead of a number; STEPS: steps per run. A contradiction exits with 1 and
 * prints the command that repeats it.
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
