/**
 * Our driver takes machines by their tables (src/runtime/machine-tables.ts). Machines that use what a table does not know, one
 * feature each, must come out as XState says all the same: a table that claims to know such a state shows here.
 */
import t from "tap";
import { and, createMachine, type MachineConfig, not } from "xstate";
import type { Command } from "../../actors/commands.ts";
import { type CommandEvent, done, hosting } from "../../actors/decide.ts";
import { tableOf } from "../../src/runtime/machine-tables.ts";
import { ours, theirs } from "../support/machine-oracle.ts";
import { commands, openFounded } from "../support/runtime.ts";

interface Counted {
  readonly count: number;
  readonly mark: string;
}

const { decide, notUnderstood } = hosting<Counted>();

const go = "message.post";
/** Counts, and says so. */
const count = decide(({ count }) => done({ count }, [], { count: count + 1 }));
/** Decides otherwise. */
const mark = decide(({ mark }) => done({ mark }, [], { mark: `${mark}!` }));

const isOdd = ({ context }: { readonly context: Counted }) => context.count % 2 === 1;
const isEven = ({ context }: { readonly context: Counted }) => context.count % 2 === 0;

// biome-ignore lint/suspicious/noExplicitAny: configurations of every shape that XState takes, written down without its types.
type Anything = MachineConfig<any, any, any, any, any, any, any, any, any, any, any>;

const counting = { on: { [go]: { actions: count } } };
const other = { on: { [go]: { actions: mark } } };
const unknown = { "*": { actions: notUnderstood } };

/** What a table knows: with these it must say the same, too. */
const known: Readonly<Record<string, object>> = {
  "a decision in the state": { states: { a: counting } },
  "a decision at the root": { states: { a: {} }, on: { [go]: { actions: count }, ...unknown } },
  "the state's own before the root's": { states: { a: counting }, on: { [go]: { actions: mark } } },
  "states that follow from the context": {
    states: {
      a: { ...counting, always: { guard: isOdd, target: "b" } },
      b: { ...counting, always: { guard: isEven, target: "a" } },
    },
  },
  "the first of several that follow": {
    states: {
      a: {
        ...counting,
        always: [
          { guard: isEven, target: "c" },
          { guard: isOdd, target: "b" },
          { guard: isOdd, target: "c" },
        ],
      },
      b: other,
      c: {},
    },
  },
  "two states in one command": {
    states: {
      a: { ...counting, always: { guard: isOdd, target: "b" } },
      b: { always: { guard: isOdd, target: "c" } },
      c: other,
    },
  },
};

const foreign: Readonly<Record<string, object>> = {
  "a guard on an event": { states: { a: { on: { [go]: [{ guard: isOdd, actions: mark }, { actions: count }] } } } },
  "a guard in the state, a decision at the root": {
    states: { a: { on: { [go]: { guard: isOdd, actions: mark } } } },
    on: { [go]: { actions: count } },
  },
  "a target": { states: { a: { on: { [go]: { actions: count, target: "b" } } }, b: other } },
  "two decisions": { states: { a: { on: { [go]: { actions: [count, mark] } } } } },
  "no decision": { states: { a: { on: { [go]: {} } } }, on: { [go]: { actions: count } } },
  "an action of another kind": { states: { a: { on: { [go]: { actions: () => undefined } } } } },
  "an entry action": {
    states: {
      a: { ...counting, always: { guard: isOdd, target: "b" } },
      b: { ...other, entry: mark },
    },
  },
  "an exit action": {
    states: { a: { ...counting, exit: mark, always: { guard: isOdd, target: "b" } }, b: other },
  },
  "an action on what follows": {
    states: { a: { ...counting, always: { guard: isOdd, target: "b", actions: mark } }, b: other },
  },
  "a follower without a guard": { states: { a: { ...counting, always: { target: "b" } }, b: other } },
  "a guard made of guards": {
    states: {
      a: { ...counting, always: { guard: and([isOdd as never, not(isEven as never)]), target: "b" } },
      b: other,
    },
  },
  "a follower of the root": { states: { a: counting, b: other }, always: { guard: isOdd, target: ".b" } },
  "nested states": {
    states: { a: { ...counting, always: { guard: isOdd, target: "b" } }, b: { initial: "c", states: { c: other } } },
  },
  "parallel states": { type: "parallel", initial: undefined, states: { a: counting, b: {} } },
  "a final state": {
    states: { a: { ...counting, always: { guard: isOdd, target: "b" } }, b: { type: "final" } },
  },
  "a wildcard in the state": { states: { a: { on: { "*": { actions: mark } } } }, on: { [go]: { actions: count } } },
  "half a wildcard in the state": {
    states: { a: { on: { "message.*": { actions: mark } } } },
    on: { [go]: { actions: count } },
  },
  "an event that nobody names": { states: { a: {} }, on: unknown },
};

t.test("[M4] what a table knows, and what it does not, comes out as XState says", async (t) => {
  const { view } = (await openFounded(t)).realm;
  const asked = { ...commands.post("a", "x"), callerId: null } as Command;
  const event: CommandEvent = { type: asked.type, command: asked, view };
  for (const [name, config] of Object.entries({ ...known, ...foreign })) {
    const machine = createMachine({
      id: "m",
      initial: "a",
      context: { count: 0, mark: "" },
      ...config,
    } as Anything);
    const isParallel = machine.root.type === "parallel";
    let snapshot = { state: (isParallel ? { a: {}, b: {} } : "a") as string, context: { count: 0, mark: "" } };
    for (const step of [1, 2, 3]) {
      const expected = theirs(machine, snapshot, event);
      t.strictSame(ours(machine, snapshot, event), expected, `${name}, step ${step}`);
      snapshot = (expected?.snapshot as typeof snapshot | undefined) ?? snapshot;
    }
    if (name in known) t.ok(tableOf(machine).decisionFor("a", go), `the table knows ${name}`);
  }
});

t.test("[M4] what goes in circles is not followed for ever by a table", (t) => {
  const machine = createMachine({
    initial: "a",
    context: { count: 0, mark: "" },
    states: {
      a: { ...counting, always: { guard: isOdd, target: "b" } },
      b: { always: { guard: isOdd, target: "a" } },
    },
  } as Anything);
  const asked = { ...commands.post("a", "x"), callerId: null } as Command;
  const event = { type: asked.type, command: asked } as CommandEvent;
  t.equal(tableOf(machine).settled("a", { count: 1, mark: "" }, event), undefined);
  t.equal(tableOf(machine).settled("a", { count: 2, mark: "" }, event), "a");
  t.end();
});
