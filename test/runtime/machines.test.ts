/**
 * Every machine, driven by `drive` (tables, and one reused scope, internal to XState) and by XState's own `transition`, agrees in state,
 * context and outcome; snapshots travel through JSON and MessagePack in between (pitfalls 3.2, 3.3). Every state of every
 * machine is reached, and no event vanishes silently.
 */
import fc from "fast-check";
import { pack, unpack } from "msgpackr";
import t from "tap";
import { transition } from "xstate";
import type { Command } from "../../actors/commands.ts";
import type { CommandEvent } from "../../actors/decide.ts";
import { actorKinds, type PlainSnapshot } from "../../actors/kinds.ts";
import type { View } from "../../src/domain/view.ts";
import { tableOf } from "../../src/runtime/machine-tables.ts";
import { drive, restore } from "../../src/runtime/machines.ts";
import { ours, theirs } from "../support/machine-oracle.ts";
import { populated, subjects } from "../support/machine-subjects.ts";
import { commands, generalId } from "../support/runtime.ts";
import { seedOf } from "../support/seed.ts";

const travels: readonly ((snapshot: PlainSnapshot) => PlainSnapshot)[] = [
  (snapshot) => snapshot,
  (snapshot) => JSON.parse(JSON.stringify(snapshot)) as PlainSnapshot,
  (snapshot) => unpack(pack(snapshot)) as PlainSnapshot,
];

const rounds_max = 20;

function eventOf(asked: Command, view: View): CommandEvent {
  return { type: asked.type, command: asked, view };
}

t.test(
  "[M4] every machine gives the same by our driver and by XState's, and every one of its states is reached",
  async (t) => {
    const seed = seedOf(t);
    const bench = await populated(t);
    const { view } = bench.realm;
    for (const { name, machine, initial, sent, pauses } of subjects) {
      const reached = new Set<string>([initial.state]);
      const states = Object.keys(machine.states).sort();
      const tally = { done: 0, refused: 0, threw: 0 };
      const steps = fc.array(
        fc.record({ asked: sent, travel: fc.constantFrom(...travels), pause: fc.constantFrom(...pauses) }),
        { minLength: 1, maxLength: 15 },
      );
      const property = fc.property(steps, (sequence) => {
        let snapshot = initial;
        for (const { asked, travel, pause } of sequence) {
          bench.clock.jump(pause);
          const event = eventOf(asked, view);
          const one = ours(machine, travel(snapshot), event);
          const other = theirs(machine, snapshot, event);
          if (JSON.stringify(one) !== JSON.stringify(other)) {
            throw new Error(`${asked.type}: ${JSON.stringify(one)} is not ${JSON.stringify(other)}`);
          }
          if (one === null) tally.threw++;
          else tally[one.outcome.kind]++;
          snapshot = one?.snapshot ?? snapshot;
          reached.add(snapshot.state);
        }
      });
      // A state that this seed does not come to, one of the next ones does.
      for (let round = 0; round === 0 || (round < rounds_max && reached.size < states.length); round++) {
        fc.assert(property, { seed: seed + round, numRuns: 60 });
      }
      t.strictSame([...reached].sort(), states, `${name}: ${JSON.stringify(tally)}`);
      t.ok(tally.done > 20, `${name} did something`);
    }
  },
);

t.test("[M4] a refused or throwing command leaves state and context alone", async (t) => {
  const bench = await populated(t);
  const { view } = bench.realm;
  for (const { machine, initial, sent } of subjects) {
    const property = fc.property(fc.array(sent, { maxLength: 10 }), (sequence) => {
      let snapshot = initial;
      for (const asked of sequence) {
        const before = JSON.stringify(snapshot);
        const shown = ours(machine, snapshot, eventOf(asked, view));
        const isChange = shown !== null && shown.outcome.kind === "done";
        if (shown?.outcome.kind === "refused" && JSON.stringify(shown.snapshot) !== before) {
          throw new Error(`refused ${asked.type}, and yet ${before} became ${JSON.stringify(shown.snapshot)}`);
        }
        if (JSON.stringify(snapshot) !== before)
          throw new Error(`${asked.type} changed the snapshot that it was given`);
        if (isChange) snapshot = shown.snapshot;
      }
    });
    fc.assert(property, { seed: seedOf(t), numRuns: 30 });
  }
  t.pass("none did");
});

t.test("[style, XState] an event that no state names throws, in every state of every machine", async (t) => {
  const bench = await populated(t);
  for (const { name, machine, initial } of subjects) {
    for (const state of Object.keys(machine.states)) {
      const snapshot = { ...initial, state };
      const asked = { ...commands.post("a", "x"), type: "no.such.command" } as unknown as Command;
      const event = eventOf(asked, bench.realm.view);
      t.throws(() => drive(machine, snapshot, event), /does not understand no\.such\.command/, `${name} ${state}`);
      t.throws(() => transition(machine, restore(machine, snapshot), event), /does not understand/, `${name} ${state}`);
    }
  }
});

t.test("[architecture, The actors] no machine uses after, invoke, spawn or delays", (t) => {
  for (const { name, machine } of subjects) {
    const text = JSON.stringify(machine.config, (_key, value: unknown) =>
      typeof value === "function" ? String(value) : value,
    );
    t.notMatch(text, /"(?:after|invoke|delays|spawn)"|spawnChild|sendTo\(|raise\(/, name);
  }
  t.end();
});

t.test("[architecture, The actors] no command of any machine needs more than its table", (t) => {
  for (const { name, machine } of subjects) {
    for (const state of Object.values(machine.states)) {
      const types = [...machine.root.transitions.keys(), ...state.transitions.keys()].filter((type) => type !== "*");
      for (const type of types) t.ok(tableOf(machine).decisionFor(state.key, type), `${name} ${state.key} ${type}`);
    }
  }
  t.end();
});

t.test("[architecture, The actors] a snapshot of a newer program is refused, not guessed at", async (t) => {
  const bench = await populated(t);
  const addresses: Command["to"][] = [
    { actor: "realm" },
    { actor: "topic-deletion", channelId: generalId, topic: "x" },
    { actor: "topic", channelId: generalId, topic: "short" },
  ];
  const id = bench.environment.get("topicNames", [generalId, "short"])?.id ?? 0;
  const row = bench.environment.get("conversations", id);
  bench.environment.transaction(() => {
    bench.environment.put("snapshots", "realm", { version: 99, state: "active", context: {} });
    bench.environment.put("snapshots", "topic-deletion:1:x", { version: 99, state: "parked", context: {} });
    if (row !== undefined) bench.environment.put("conversations", id, { ...row, version: 99 });
  });
  // Rows change with the deltas of commands; this one came from elsewhere.
  if (row !== undefined) {
    const newer = { table: "conversations", key: id, row: { ...row, version: 99 } } as const;
    bench.realm.dispatcher.view.cache.apply(newer);
  }
  for (const address of addresses) {
    t.throws(() => actorKinds[address.actor].load(address, bench.realm.view), /newer than this program/, address.actor);
  }
});
