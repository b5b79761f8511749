/**
 * A process that plays some rounds of a long run and prints a line for each. Under tap, tracking of promises takes more
 * time than the requests; and a server that kills its process kills only this one.
 *
 * node --import=tsx test/fuzz/rounds.ts SEED COUNT FROM STEP
 */
import { playCampaign } from "./campaign.ts";
import { printed, type Tally } from "./tally.ts";

const [seed = 0, count = 0, from = 0, step = 0] = process.argv.slice(2).map(Number);
const undone: (() => unknown)[] = [];
const t = { teardown: (callback: () => unknown) => void undone.push(callback) };
const onRound = (tally: Tally) => void process.stdout.write(`${printed(tally)}\n`);
await playCampaign(t, { seed, count, from, step, onRound });
for (const undo of undone.reverse()) await undo();
