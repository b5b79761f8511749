/** docs/state-machines.md shows the machines as they are, and every arrow says what causes it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { allMachines, commandsOf, edgesOf, lifeCycles, renderStates, statesPage } from "../support/state-machines.ts";
import { projectRoot, readSources } from "./sources.ts";

t.test("docs/state-machines.md is what `npm run docs:machines` writes", async (t) => {
  t.equal(readFileSync(statesPage, "utf8"), renderStates());
});

t.test("every transition says when it is taken, and follows a command that its state accepts", async (t) => {
  for (const machine of allMachines) {
    for (const { from, to, when, command } of edgesOf(machine)) {
      const name = `${machine.id}: ${from} to ${to}`;
      t.match(when, /^[a-z]/, `${name} says when`);
      const state = machine.states[from];
      const accepted = state === undefined ? [] : commandsOf(machine, state).accepted;
      t.ok(accepted.includes(command), `${name}: ${command}`);
    }
  }
});

t.test("every event of a life cycle occurs in its class, and every state can be reached", async (t) => {
  for (const { id, life, user } of lifeCycles) {
    const source = readFileSync(join(projectRoot, user), "utf8");
    const taken = new Set([...source.matchAll(/step\(\s*\w+,\s*\w+,\s*"(\w+)"/g)].map(([, event]) => event));
    const events = new Set(Object.values(life).flatMap((next) => Object.keys(next)));
    t.strictSame([...taken].sort(), [...events].sort(), id);
    const [initial = "", ...states] = Object.keys(life);
    const reached = new Set([initial]);
    for (const state of reached) for (const to of Object.values(life[state] ?? {})) reached.add(to);
    t.strictSame([...reached].sort(), [initial, ...states].sort(), `${id}: states`);
    t.ok(states.filter((state) => Object.keys(life[state] ?? {}).length === 0).length <= 1, `${id}: final states`);
  }
  const inUse = readSources().filter(({ imports }) =>
    imports.some(({ target }) => target === "src/runtime/life-cycle.ts"),
  );
  const known = new Set(lifeCycles.flatMap(({ table, user }) => [table, user, "test/support/state-machines.ts"]));
  const found = inUse.map(({ path }) => path).filter((path) => !known.has(path));
  t.strictSame(found, [], "every life cycle is on the page");
});
