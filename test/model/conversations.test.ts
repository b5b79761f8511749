/**
 * Conversations compared with a naive model (architecture, Quality bars): random days on which users send, edit, move,
 * resolve, mark, subscribe, react, mute and delete. Every reader sees what the model says, and a client that follows
 * events has the state of a new client. A failing day is shrunk and printed; STEPS='[...]' repeats it.
 */
import fc from "fast-check";
import t from "tap";
import { seedOf } from "../support/seed.ts";
import { type StepName, steps } from "./steps.ts";
import { names, World } from "./world.ts";

const runs = Number(process.env["RUNS"] ?? 5);
const stepsPerRun = 90;
const further_max = 40;

const stepNames = Object.keys(steps) as StepName[];

type Played = readonly [StepName, unknown];

/** How often each kind of step had an effect. */
const played = new Map<StepName, number>();

async function play(days: readonly Played[], where: number): Promise<void> {
  const endings: (() => unknown)[] = [];
  try {
    const world = await World.make({ teardown: (callback) => endings.unshift(callback) });
    for (const [name, params] of days) {
      await world.pass();
      const run = steps[name].run as (world: World, params: unknown) => Promise<boolean>;
      if (await run(world, params)) played.set(name, (played.get(name) ?? 0) + 1);
      for (const follower of world.followers) follower.noticed();
    }
    await world.pass();
    for (const person of names.keys()) await world.compare(person);
    for (const follower of world.followers) await follower.compareAgain(where);
  } finally {
    for (const end of endings) await end();
  }
}

const kinds = Object.entries(steps).map(([name, { weight, params }]) => ({
  weight,
  arbitrary: (params as fc.Arbitrary<unknown>).map((values): Played => [name as StepName, values]),
}));
const half = fc.array(fc.oneof(...kinds), { minLength: stepsPerRun / 2, maxLength: stepsPerRun / 2 });
/** The middle of each day has one step of every kind. */
const day = fc.tuple(half, fc.tuple(...kinds.map(({ arbitrary }) => arbitrary)), half).map((parts) => parts.flat());

async function failureOf(days: readonly Played[], where: number): Promise<string | null> {
  try {
    await play(days, where);
    return null;
  } catch (error) {
    return String(error);
  }
}

/**
 * Removes steps that the failure does not need: halves, quarters, ..., single steps, as long as the failure remains.
 */
async function shrunk(days: readonly Played[], where: number): Promise<readonly Played[]> {
  let left = days;
  let tries = Number(process.env["SHRINKS"] ?? 60);
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = left.length - size; start > -size && tries > 0; start -= size, tries--) {
      const without = [...left.slice(0, Math.max(0, start)), ...left.slice(start + size)];
      if ((await failureOf(without, where)) !== null) left = without;
    }
  }
  return left;
}

const given = process.env["STEPS"];
if (given !== undefined) {
  t.test("the given steps agree with the model", () => play(JSON.parse(given), 0));
} else {
  t.test("readers see what the model says, and events lead to the state of a fresh fetch, for any steps", async (t) => {
    const sample = fc.sample(fc.tuple(day, fc.nat()), { numRuns: runs + further_max, seed: seedOf(t) });
    const isMissing = (name: StepName) => (played.get(name) ?? 0) === 0;
    for (const [index, [days, where]] of sample.entries()) {
      // A few days may have no step of some kind that had an effect: then more are played.
      if (index >= runs && !stepNames.some(isMissing)) break;
      const failure = await failureOf(days, where);
      if (failure === null) continue;
      t.comment(failure);
      const least = await shrunk(days, where);
      t.comment(`STEPS='${JSON.stringify(least)}'`);
      t.fail((await failureOf(least, where)) ?? "it failed, but not when repeated");
      return;
    }
    for (const name of stepNames) {
      t.ok((played.get(name) ?? 0) > 0, `${name}: ${played.get(name) ?? 0} times`);
    }
  });
}
