/**
 * Our driver runs machines by tables (actors/protocol/machine-tables.ts). Machines that use features unknown to a table,
 * one each, must still give the same result as XState: a table that wrongly accepts such a state fails here.
 */
import t from "tap";
import { type AnyStateMachine, and, not } from "xstate";
import type { Command } from "../../actors/protocol/commands.ts";
import { done, type Outcome } from "../../actors/protocol/decide.ts";
import { type CommandEvent, rejectUnhandled, setupMachine } from "../../actors/protocol/machine-setup.ts";
import { tableOf } from "../../actors/protocol/machine-tables.ts";
import { ours, theirs } from "../support/machine-oracle.ts";
import { commands, openNewRealm } from "../support/runtime.ts";

interface Counted {
  readonly count: number;
  readonly mark: string;
}

const go = "message.post";
/** Counts, and returns the count. */
const count = action(({ count }) => done({ count }, [], { count: count + 1 }));
/** A different decision. */
const mark = action(({ mark }) => done({ mark }, [], { mark: `${mark}!` }));

function action(decision: (context: Counted) => Outcome<Counted>) {
  return { type: "decide", params: { decision } };
}

const isOdd = ({ context }: { readonly context: Counted }) => context.count % 2 === 1;
const isEven = ({ context }: { readonly context: Counted }) => context.count % 2 === 0;

/** Configurations of every shape, written without XState's types. */
function machineOf(config: object): AnyStateMachine {
  const all = { id: "m", initial: "a", context: { count: 0, mark: "" }, ...config };
  return setupMachine<Counted>().createMachine(all as never) as unknown as AnyStateMachine;
}

const counting = { on: { [go]: { actions: count } } };
const other = { on: { [go]: { actions: mark } } };

/** Features that a table supports: these must give the same result, too. */
const known: Readonly<Record<string, object>> = {
  "a decision in a state": { states: { a: counting } },
  "a decision at the root": { states: { a: {} }, on: { [go]: { actions: count }, ...rejectUnhandled } },
  "a state's own decision takes precedence over the root's": {
    states: { a: counting },
    on: { [go]: { actions: mark } },
  },
  "transitions that follow from the context": {
    states: {
      a: { ...counting, always: { guard: isOdd, target: "b" } },
      b: { ...counting, always: { guard: isEven, target: "a" } },
    },
  },
  "the first of several eventless transitions": {
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
  "an action on an eventless transition": {
    states: { a: { ...counting, always: { guard: isOdd, target: "b", actions: mark } }, b: other },
  },
  "an eventless transition without a guard": { states: { a: { ...counting, always: { target: "b" } }, b: other } },
  "a guard made of guards": {
    states: {
      a: { ...counting, always: { guard: and([isOdd as never, not(isEven as never)]), target: "b" } },
      b: other,
    },
  },
  "an eventless transition of the root": { states: { a: counting, b: other }, always: { guard: isOdd, target: ".b" } },
  "nested states": {
    states: { a: { ...counting, always: { guard: isOdd, target: "b" } }, b: { initial: "c", states: { c: other } } },
  },
  "parallel states": { type: "parallel", initial: undefined, states: { a: counting, b: {} } },
  "a final state": {
    states: { a: { ...counting, always: { guard: isOdd, target: "b" } }, b: { type: "final" } },
  },
  "a wildcard in the state": { states: { a: { on: { "*": { actions: mark } } } }, on: { [go]: { actions: count } } },
  "a partial wildcard in the state": {
    states: { a: { on: { "message.*": { actions: mark } } } },
    on: { [go]: { actions: count } },
  },
  "an event that no state names": { states: { a: {} }, on: rejectUnhandled },
};

t.test("[M4] supported and unsupported machines give the same result as XState", async (t) => {
  const { view } = (await openNewRealm(t)).realm;
  const asked = { ...commands.post("a", "x"), callerId: null } as Command;
  const event: CommandEvent = { type: asked.type, command: asked, view };
  for (const [name, config] of Object.entries({ ...known, ...foreign })) {
    const machine = machineOf(config);
    const isParallel = machine.root.type === "parallel";
    let snapshot = { state: (isParallel ? { a: {}, b: {} } : "a") as string, context: { count: 0, mark: "" } };
    for (const step of [1, 2, 3]) {
      const expected = theirs(machine, snapshot, event);
      t.strictSame(ours(machine, snapshot, event), expected, `${name}, step ${step}`);
      snapshot = (expected?.snapshot as typeof snapshot | undefined) ?? snapshot;
    }
    if (name in known) t.ok(tableOf(machine).decisionFor("a", go), `the table supports ${name}`);
  }
});

t.test("[M4] a table stops following a cycle of eventless transitions", (t) => {
  const machine = machineOf({
    states: {
      a: { ...counting, always: { guard: isOdd, target: "b" } },
      b: { always: { guard: isOdd, target: "a" } },
    },
  });
  const asked = { ...commands.post("a", "x"), callerId: null } as Command;
  const event = { type: asked.type, command: asked } as CommandEvent;
  t.equal(tableOf(machine).settled("a", { count: 1, mark: "" }, event), undefined);
  t.equal(tableOf(machine).settled("a", { count: 2, mark: "" }, event), "a");
  t.end();
});
