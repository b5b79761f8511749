/**
 * Runs every machine by `drive` (tables) and by XState's own `transition`: both must agree in state, context and result. Snapshots pass through JSON and MessagePack in between (pitfalls 3.2,
 * 3.3). Every state of every machine is reached, and no event is ignored silently.
 */
import fc from "fast-check";
import { pack, unpack } from "msgpackr";
import t from "tap";
import { actorKinds } from "../../actors/kinds.ts";
import type { Command } from "../../actors/protocol/decision.ts";
import type { CommandEvent } from "../../actors/protocol/machine-setup.ts";
import { drive, driveByXState, type PlainSnapshot, tableOf } from "../../actors/protocol/record-machines.ts";
import type { View } from "../../domain/view.ts";
import { ours, theirs } from "../support/machine-oracle.ts";
import { populated, subjects } from "../support/machine-subjects.ts";
import { recordSubjects } from "../support/record-subjects.ts";
import { commands, generalId } from "../support/runtime.ts";
import { seedOf } from "../support/seed.ts";
import { allMachines, edgesOf } from "../support/state-machines.ts";

const travels: readonly ((snapshot: PlainSnapshot) => PlainSnapshot)[] = [
  (snapshot) => snapshot,
  (snapshot) => JSON.parse(JSON.stringify(snapshot)) as PlainSnapshot,
  (snapshot) => unpack(pack(snapshot)) as PlainSnapshot,
];

const rounds_max = 20;

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function eventOf(request: Command, view: View): CommandEvent {
  return { type: request.type, command: request, view };
}

t.test("[M4] every machine gives the same result with our driver and with XState's, in every state", async (t) => {
  const seed = seedOf(t);
  const bench = await populated(t);
  const { view } = bench.realm;
  for (const { name, machine, initial, others = [], sent, pauses } of [...subjects, ...(await recordSubjects(bench))]) {
    const begins = [initial, ...others];
    const reached = new Set<string>(begins.map(({ state }) => state));
    const states = Object.keys(machine.states).sort();
    const tally = { done: 0, refused: 0, threw: 0 };
    const steps = fc.array(
      fc.record({ request: sent, travel: fc.constantFrom(...travels), pause: fc.constantFrom(...pauses) }),
      { minLength: 1, maxLength: 15 },
    );
    const property = fc.property(fc.constantFrom(...begins), steps, (begin, sequence) => {
      let snapshot = begin;
      for (const { request, travel, pause } of sequence) {
        bench.clock.jump(pause);
        const event = eventOf(request, view);
        const one = ours(machine, travel(snapshot), event);
        const other = theirs(machine, snapshot, event);
        if (JSON.stringify(one) !== JSON.stringify(other)) {
          throw new Error(`${request.type}: ${JSON.stringify(one)} is not equal to ${JSON.stringify(other)}`);
        }
        if (one === null) tally.threw++;
        else tally[one.outcome.kind]++;
        const before = snapshot.state;
        snapshot = one?.snapshot ?? snapshot;
        reached.add(snapshot.state);
        const isNamed = edgesOf(machine).some(
          ({ from, to, command }) => from === before && to === snapshot.state && command === request.type,
        );
        if (snapshot.state !== before && !isNamed) {
          throw new Error(`no arrow names ${request.type} from ${before} to ${snapshot.state}`);
        }
      }
    });
    // If this seed does not reach a state, one of the next seeds does.
    for (let round = 0; round === 0 || (round < rounds_max && reached.size < states.length); round++) {
      fc.assert(property, { seed: seed + round, numRuns: 60 });
    }
    t.strictSame([...reached].sort(), states, `${name}: ${JSON.stringify(tally)}`);
    t.ok(tally.done > 20, `${name} did something`);
  }
});

t.test("[M4] a command that is rejected or throws leaves state and context unchanged", async (t) => {
  const bench = await populated(t);
  const { view } = bench.realm;
  for (const { machine, initial, sent } of [...subjects, ...(await recordSubjects(bench))]) {
    const property = fc.property(fc.array(sent, { maxLength: 10 }), (sequence) => {
      let snapshot = initial;
      for (const request of sequence) {
        const before = JSON.stringify(snapshot);
        const shown = ours(machine, snapshot, eventOf(request, view));
        const isChange = shown !== null && shown.outcome.kind === "done";
        if (shown?.outcome.kind === "refused" && JSON.stringify(shown.snapshot) !== before) {
          throw new Error(`rejected ${request.type}, but ${before} became ${JSON.stringify(shown.snapshot)}`);
        }
        if (JSON.stringify(snapshot) !== before)
          throw new Error(`${request.type} modified the snapshot that it was given`);
        if (isChange) snapshot = shown.snapshot;
      }
    });
    fc.assert(property, { seed: seedOf(t), numRuns: 30 });
  }
  t.pass("none did");
});

t.test("the machine of a record is in the state that its row says, and writes that row", async (t) => {
  const bench = await populated(t);
  for (const { name, machine, initial, sent, stateOf } of await recordSubjects(bench)) {
    let changes = 0;
    const property = fc.property(fc.array(sent, { maxLength: 10 }), (sequence) => {
      let snapshot = initial;
      for (const request of sequence) {
        const next = drive(machine, snapshot, eventOf(request, bench.realm.view));
        const [before, after] = [snapshot, next.snapshot].map(({ context }) => (context as { row: object }).row);
        snapshot = next.snapshot;
        if (stateOf?.(after) !== snapshot.state)
          throw new Error(`${request.type}: ${snapshot.state} is not the row's state`);
        if (after === before || next.outcome.kind !== "done") continue;
        changes++;
        const isWritten = next.outcome.effects.some((effect) => effect.kind === "put" && isSame(effect.row, after));
        if (!isWritten) throw new Error(`${request.type} does not write the row`);
      }
    });
    fc.assert(property, { seed: seedOf(t), numRuns: 60 });
    t.ok(changes > 20, `${name} was changed`);
  }
});

t.test("an event that no state handles throws, in every state of every machine", async (t) => {
  const bench = await populated(t);
  for (const { name, machine, initial } of [...subjects, ...(await recordSubjects(bench))]) {
    for (const state of Object.keys(machine.states)) {
      const snapshot = { ...initial, state };
      const request = { ...commands.post("a", "x"), type: "no.such.command" } as unknown as Command;
      const event = eventOf(request, bench.realm.view);
      t.throws(
        () => drive(machine, snapshot, event),
        /no state handles the event no\.such\.command/,
        `${name} ${state}`,
      );
      t.throws(() => driveByXState(machine, snapshot, event), /no state handles/, `${name} ${state}`);
    }
  }
});

t.test("no machine uses after, invoke, spawn or delays", async (t) => {
  for (const machine of allMachines) {
    const text = JSON.stringify(machine.config, (_key, value: unknown) =>
      typeof value === "function" ? String(value) : value,
    );
    t.notMatch(text, /"(?:after|invoke|delays|spawn)"|spawnChild|sendTo\(|raise\(/, machine.id);
  }
});

t.test("every command of every machine runs by its table alone", async (t) => {
  for (const machine of allMachines) {
    for (const state of Object.values(machine.states)) {
      const types = [...machine.root.transitions.keys(), ...state.transitions.keys()].filter((type) => type !== "*");
      for (const type of types) t.ok(tableOf(machine).row(state.key, type), `${machine.id} ${state.key} ${type}`);
    }
  }
});

t.test("a snapshot of a newer version is rejected", async (t) => {
  const bench = await populated(t);
  const addresses: Command["to"][] = [
    { actor: "realm" },
    { actor: "topic-deletion", channelId: generalId, topic: "x" },
    { actor: "topic", channelId: generalId, topic: "short" },
  ];
  const id = bench.lmdb.get("topicNames", [generalId, "short"])?.id ?? 0;
  const row = bench.lmdb.get("conversations", id);
  bench.lmdb.transaction(() => {
    bench.lmdb.put("snapshots", "realm", { version: 99, state: "active", context: {} });
    bench.lmdb.put("snapshots", "topic-deletion:1:x", { version: 99, state: "parked", context: {} });
    if (row !== undefined) bench.lmdb.put("conversations", id, { ...row, version: 99 });
  });
  // Rows change with the deltas of commands; this one was written directly.
  if (row !== undefined) {
    const newer = { table: "conversations", key: id, row: { ...row, version: 99 } } as const;
    bench.realm.dispatcher.view.cache.apply(newer);
  }
  for (const address of addresses) {
    t.throws(() => actorKinds[address.actor].load(address, bench.realm.view), /newer than this program/, address.actor);
  }
});
