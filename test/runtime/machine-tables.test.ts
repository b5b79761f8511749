/**
 * Our driver runs machines by tables (actors/protocol/record-machines.ts). Machines that use features unknown to a table,
 * one each, must still give the same result as XState: a table that wrongly accepts such a state fails here.
 */
import t from "tap";
import { type AnyStateMachine, and, not } from "xstate";
import { type Command, done, type Outcome } from "../../actors/protocol/decision.ts";
import { type CommandEvent, rejectUnhandled, setupMachine } from "../../actors/protocol/machine-setup.ts";
import { drive, tableOf } from "../../actors/protocol/record-machines.ts";
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

/** Counts, and leads to `b` after an odd number, to `c` after an even one. */
const step = action(({ count }) => done({ count }, [], { count: count + 1 }, count % 2 === 0 ? "b" : "c"));

function to(target: string, from = step) {
  const { decision } = from.params;
  return { guard: { type: "leadsTo", params: { decision, to: target, when: "always" } }, target, actions: from };
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
  "a decision that leads to another state": { states: { a: { on: { [go]: [to("b"), { actions: step }] } }, b: other } },
  "a decision that leads to one of several states, or stays": {
    states: {
      a: { on: { [go]: [to("c"), to("b"), { actions: step }] } },
      b: { on: { [go]: [to("c"), { actions: step }] } },
      c: { on: { [go]: [to("b"), { actions: step }] } },
    },
  },
  "a decision at the root that leads to a state": {
    states: { a: {}, b: other },
    on: { [go]: [{ ...to("b"), target: ".b" }, { actions: step }], ...rejectUnhandled },
  },
};

const foreign: Readonly<Record<string, object>> = {
  "a guard on an event": { states: { a: { on: { [go]: [{ guard: isOdd, actions: mark }, { actions: count }] } } } },
  "a guard in the state, a decision at the root": {
    states: { a: { on: { [go]: { guard: isOdd, actions: mark } } } },
    on: { [go]: { actions: count } },
  },
  "an eventless transition": { states: { a: { ...counting, always: { guard: isOdd, target: "b" } }, b: other } },
  "two eventless transitions in one command": {
    states: {
      a: { ...counting, always: { guard: isOdd, target: "b" } },
      b: { always: { guard: isOdd, target: "c" } },
      c: other,
    },
  },
  "a guard that asks another decision": {
    states: { a: { on: { [go]: [to("b"), { actions: count }] } }, b: other, c: other },
  },
  "a target that is not the guard's": {
    states: { a: { on: { [go]: [{ ...to("b"), target: "c" }, { actions: step }] } }, b: other, c: other },
  },
  "a transition that leads elsewhere with another action": {
    states: { a: { on: { [go]: [{ ...to("b"), actions: mark }, { actions: step }] } }, b: other, c: other },
  },
  "no transition that stays": { states: { a: { on: { [go]: [to("b")] } }, b: other } },
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
  const command = { ...commands.post("a", "x"), callerId: null } as Command;
  const event: CommandEvent = { type: command.type, command, view };
  for (const [name, config] of Object.entries({ ...known, ...foreign })) {
    const machine = machineOf(config);
    const isParallel = machine.root.type === "parallel";
    let snapshot = { state: (isParallel ? { a: {}, b: {} } : "a") as string, context: { count: 0, mark: "" } };
    for (const step of [1, 2, 3]) {
      const expected = theirs(machine, snapshot, event);
      t.strictSame(ours(machine, snapshot, event), expected, `${name}, step ${step}`);
      snapshot = (expected?.snapshot as typeof snapshot | undefined) ?? snapshot;
    }
    if (name in known) t.ok(tableOf(machine).row("a", go), `the table supports ${name}`);
  }
});

t.test("[M4] a decision that leads to a state which the machine does not list throws", async (t) => {
  const { view } = (await openNewRealm(t)).realm;
  const command = { ...commands.post("a", "x"), callerId: null } as Command;
  const event: CommandEvent = { type: command.type, command, view };
  const machine = machineOf({ states: { a: { on: { [go]: [to("c"), { actions: step }] } }, b: other, c: other } });
  const at = (count: number) => ({ state: "a", context: { count, mark: "" } });
  t.throws(() => drive(machine, at(0), event), /m a: message\.post does not lead to b/);
  t.equal(drive(machine, at(1), event).snapshot.state, "c");
});
