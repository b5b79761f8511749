/**
 * Every machine, driven by `drive` (one reused scope, internal to XState) and by XState's own `transition`, agrees in state,
 * context and outcome; snapshots travel through JSON and MessagePack in between (pitfalls 3.2, 3.3). Every state of every
 * machine is reached, and no event vanishes silently.
 */
import fc from "fast-check";
import { pack, unpack } from "msgpackr";
import t from "tap";
import { type AnyMachineSnapshot, type AnyStateMachine, transition } from "xstate";
import { type Command, command } from "../../actors/commands.ts";
import type { CommandEvent, Emitted, Outcome } from "../../actors/decide.ts";
import { actorKinds, type PlainSnapshot } from "../../actors/kinds.ts";
import { limits } from "../../schemas/limits.ts";
import type { View } from "../../src/domain/view.ts";
import { drive, plain, restore } from "../../src/runtime/machines.ts";
import {
  answerOf,
  commands,
  generalId,
  makePeople,
  type OpenRealm,
  openFounded,
  ownerId,
  startedAt,
} from "../support/runtime.ts";
import { seedOf } from "../support/seed.ts";
import type { Teardown } from "../support/server.ts";

/** One machine's test: what it is sent, on which realm. */
interface Subject {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly initial: PlainSnapshot;
  readonly sent: fc.Arbitrary<Command>;
  /** Milliseconds that may pass between two commands. */
  readonly pauses: readonly number[];
}

interface Shown {
  readonly outcome: Outcome;
  readonly snapshot: PlainSnapshot;
}

/** A realm with people, two channels, a short and a long topic: something for every decision. */
async function populated(t: Teardown): Promise<OpenRealm> {
  const bench = await openFounded(t);
  await makePeople(bench, 3);
  answerOf(await bench.ask(commands.createChannel("sales", [ownerId, 3])));
  await bench.ask(commands.register(ownerId, "q1"));
  const long = limits.topic_deletion_batch_messages + 1;
  await Promise.all([
    ...Array.from({ length: long }, (_, index) => bench.ask(commands.post("long", `m${index}`))),
    bench.ask(commands.post("short", "hi")),
    bench.ask(commands.direct([2, 3], "hi")),
  ]);
  await bench.idle();
  bench.environment.transaction(() => {
    const mail = { template: "new-login", to: "o@x.y", data: {}, createdAt: 0, attempts: 0, dueAt: 0 };
    bench.environment.put("mails", 1, { ...mail, id: 1 });
    bench.environment.put("emailChanges", "k", { userId: 3, newEmail: "other@example.com", createdAt: startedAt });
  });
  return bench;
}

const userId = fc.constantFrom(2, 3, 4, 99);

function kindOf(actor: Command["to"]["actor"], address: Command["to"]) {
  const kind = actorKinds[actor];
  return { machine: kind.machine, initial: kind.initial(address), pauses: [0] };
}

const realmCommands: fc.Arbitrary<Command> = fc.oneof(
  userId.map((id) => commands.createUser(`new${id}@example.com`, id)),
  userId.map((id) => command({ actor: "realm" }, "user.deactivate", { userId: id, comment: null }, 2)),
  fc.tuple(fc.constantFrom("general", "new"), fc.array(userId)).map(([name, ids]) => commands.createChannel(name, ids)),
  fc.constant(commands.subscribe(["general", "sales"], [3, 4])),
  fc.constant(commands.unsubscribe(["sales"], null)),
  fc.constant(
    command(
      { actor: "realm" },
      "members.change",
      { targets: [{ kind: "join", channelId: generalId, userIds: [3, 4], color: null }], waiting: null, after: [] },
      null,
    ),
  ),
  fc.constant(command({ actor: "realm" }, "channel.find-first-message", { channelId: generalId }, null)),
  fc.constant(command({ actor: "realm" }, "presence.persist", { rows: [] }, null)),
  fc
    .constantFrom("k", "none")
    .map((hash) => command({ actor: "realm" }, "user.email-change.confirm", { keyHash: hash }, null)),
);

const found = command(
  { actor: "realm" },
  "realm.found",
  { label: "", name: "n", ownerEmail: "o@x.y", ownerFullName: "O", passwordHash: "", apiKeyHash: "k" },
  null,
);

const userCommands: fc.Arbitrary<Command> = fc.oneof(
  userId.map((id) => command({ actor: "user", id }, "user.api-key.add", { hash: "h" }, id)),
  userId.map((id) => commands.register(id, "q2")),
  userId.map((id) => {
    const login = { fingerprint: "f", client: "c", address: "a" };
    return command({ actor: "user", id }, "user.api-key.add", { hash: "h", login }, id);
  }),
  userId.map((id) => {
    const params = { newEmail: "new@example.com", keyHash: "k", link: "l" };
    return command({ actor: "user", id }, "user.email-change.request", params, id);
  }),
  userId.map((id) =>
    command({ actor: "user", id }, "user.email-change.expire", { keyHash: "k", requestedAt: startedAt }, null),
  ),
  fc
    .tuple(userId, fc.constantFrom("q1", "q2"))
    .map(([id, queueId]) => command({ actor: "user", id }, "queue.delete", { queueId }, id)),
);

const topicCommands: fc.Arbitrary<Command> = fc.oneof(
  fc.tuple(fc.constantFrom("hi", "**b**", "@**all**"), userId).map(([text, id]) => commands.post("fresh", text, id)),
  fc.constant(command({ actor: "conversation", id: 0 }, "topic.recount", {}, null)),
);

const deletionCommands: fc.Arbitrary<Command> = fc.oneof(
  fc
    .tuple(fc.constantFrom("short", "long", "unknown"), fc.constantFrom(startedAt - 1, Number.MAX_SAFE_INTEGER), userId)
    .map(([topic, deadline, id]) => ({ ...commands.deleteTopic(topic, deadline), callerId: id, ticket: 7 })),
  fc.constant(
    command({ actor: "topic-deletion", channelId: generalId, topic: "" }, "topic-deletion.continue", {}, null),
  ),
);

const abandoned = command(
  { actor: "topic-deletion", channelId: generalId, topic: "" },
  "topic-deletion.abandon",
  {},
  null,
);

const retentionCommands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(command({ actor: "retention" }, "retention.sweep", {}, null)) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom("retention.look" as const, "retention.abandon" as const)
      .map((type) => command({ actor: "retention" }, type, {}, null)),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(startedAt, startedAt + limits.retention_pause_ms_min)
      .map((dueAt) => command({ actor: "retention" }, "retention.due", { dueAt }, null)),
  },
);

const mailCommands: fc.Arbitrary<Command> = fc
  .constantFrom(
    ["mail.due", {}] as const,
    ["mail.sent", {}] as const,
    ["mail.failed", { isPermanent: false, reason: "r" }] as const,
    ["mail.failed", { isPermanent: true, reason: "r" }] as const,
  )
  .map(([type, params]) => command({ actor: "mail", id: 1 }, type, params, null));

const presenceCommands: fc.Arbitrary<Command> = fc.oneof(
  fc.constantFrom("active" as const, "idle" as const).map((status) => commands.report(ownerId, status)),
  fc.constant(command({ actor: "presence", userId: ownerId }, "presence.lapse", {}, null)),
);

const typingCommands: fc.Arbitrary<Command> = fc.oneof(
  fc
    .tuple(fc.constantFrom("start" as const, "stop" as const), fc.constantFrom(2, 3))
    .map(([op, id]) => commands.typing(op, "a", id)),
  fc
    .constantFrom(2, 3)
    .map((id) =>
      command(
        { actor: "typing", conversation: "1:a" },
        "typing.expire",
        { userId: id, target: { kind: "channel", channelId: generalId, topic: "a" } },
        null,
      ),
    ),
);

const subjects: readonly Subject[] = [
  { name: "realm", ...kindOf("realm", { actor: "realm" }), sent: fc.oneof(realmCommands, fc.constant(found)) },
  { name: "user", ...kindOf("user", { actor: "user", id: 2 }), sent: userCommands },
  { name: "topic", ...kindOf("topic", { actor: "topic", channelId: 1, topic: "fresh" }), sent: topicCommands },
  {
    name: "topic-deletion",
    ...kindOf("topic-deletion", { actor: "topic-deletion", channelId: 1, topic: "long" }),
    sent: fc.oneof({ weight: 8, arbitrary: deletionCommands }, { weight: 1, arbitrary: fc.constant(abandoned) }),
  },
  { name: "retention", ...kindOf("retention", { actor: "retention" }), sent: retentionCommands },
  {
    name: "mail",
    ...kindOf("mail", { actor: "mail", id: 1 }),
    initial: { state: "pending", context: { fate: "pending" } },
    sent: mailCommands,
  },
  {
    name: "presence",
    ...kindOf("presence", { actor: "presence", userId: 2 }),
    sent: presenceCommands,
    pauses: [0, 60_000, limits.presence_offline_threshold_s * 1000],
  },
  { name: "typing", ...kindOf("typing", { actor: "typing", conversation: "1:a" }), sent: typingCommands },
];

/** What our runtime does; `null`: it threw. */
function ours(machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: CommandEvent): Shown | null {
  try {
    const driven = drive(machine, snapshot, event);
    return { outcome: driven.outcome, snapshot: plain(driven.snapshot) };
  } catch {
    return null;
  }
}

/** What XState says. */
function theirs(machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: CommandEvent): Shown | null {
  try {
    const [next, actions] = transition(machine, snapshot, event) as [
      AnyMachineSnapshot,
      { type: string; params?: unknown }[],
    ];
    const emitted = actions.flatMap((action) =>
      action.type === "xstate.emit" ? [(action.params as { event: Emitted }).event.outcome] : [],
    );
    const [outcome] = emitted;
    return outcome === undefined || emitted.length !== 1 ? null : { outcome, snapshot: plain(next) };
  } catch {
    return null;
  }
}

const travels: readonly ((snapshot: PlainSnapshot) => PlainSnapshot)[] = [
  (snapshot) => snapshot,
  (snapshot) => JSON.parse(JSON.stringify(snapshot)) as PlainSnapshot,
  (snapshot) => unpack(pack(snapshot)) as PlainSnapshot,
];

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
          const one = ours(machine, restore(machine, travel(snapshot)), event);
          const other = theirs(machine, restore(machine, snapshot), event);
          if (JSON.stringify(one) !== JSON.stringify(other)) {
            throw new Error(`${asked.type}: ${JSON.stringify(one)} is not ${JSON.stringify(other)}`);
          }
          if (one === null) tally.threw++;
          else tally[one.outcome.kind]++;
          snapshot = one?.snapshot ?? snapshot;
          reached.add(snapshot.state);
        }
      });
      fc.assert(property, { seed, numRuns: 60 });
      t.strictSame([...reached].sort(), Object.keys(machine.states).sort(), `${name}: ${JSON.stringify(tally)}`);
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
        const shown = ours(machine, restore(machine, snapshot), eventOf(asked, view));
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
      const snapshot = restore(machine, { ...initial, state });
      const asked = { ...commands.post("a", "x"), type: "no.such.command" } as unknown as Command;
      const event = eventOf(asked, bench.realm.view);
      t.throws(() => drive(machine, snapshot, event), /does not understand no\.such\.command/, `${name} ${state}`);
      t.throws(() => transition(machine, snapshot, event), /does not understand/, `${name} ${state}`);
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
