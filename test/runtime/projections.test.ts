/**
 * Memory and disk agree after any sequence of commands (M9), the same commands give the same state (M4), whichever
 * actors are passivated in between, and no id is ever used twice (E1).
 */
import fc from "fast-check";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import type { Reply } from "../../src/runtime/results.ts";
import { auditRealm } from "../support/audit.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { randomSteps, type Step } from "../support/random-commands.ts";
import {
  commands,
  crashImage,
  createUsers,
  dump,
  type OpenOptions,
  OpenRealm,
  openNewRealm,
  ownerId,
  startedAt,
} from "../support/runtime.ts";
import { seedOf } from "../support/seed.ts";
import type { Teardown } from "../support/server.ts";

/** Cleans up after each run of a property instead of at the end of the test. */
class Scope implements Teardown {
  readonly #callbacks: (() => unknown)[] = [];

  teardown(callback: () => unknown): void {
    this.#callbacks.push(callback);
  }

  async end(): Promise<void> {
    for (const callback of this.#callbacks.reverse()) await callback();
  }
}

async function inScope(work: (scope: Scope) => Promise<void>): Promise<void> {
  const scope = new Scope();
  try {
    await work(scope);
  } finally {
    await scope.end();
  }
}

/** A realm with the owner and users 3 to 5: created once and copied for every run. */
async function openWithUsers(t: Teardown): Promise<OpenRealm> {
  const created = await openNewRealm(t);
  await createUsers(created, 3);
  return created;
}

function anew(scope: Scope, template: OpenRealm, options: OpenOptions = {}): OpenRealm {
  return template.crash(scope, { clock: new ManualClock(startedAt), ...options });
}

interface Run {
  readonly opened: OpenRealm;
  readonly results: Reply[];
}

/** Executes the steps; `check` sees the realm after each. */
async function execute(
  scope: Scope,
  first: OpenRealm,
  steps: readonly Step[],
  check: (opened: OpenRealm) => void,
): Promise<Run> {
  let opened = first;
  const results: Reply[] = [];
  for (const step of steps) {
    if (step.kind === "pass") opened.clock.advance(step.ms);
    if (step.kind === "crash") opened = opened.crash(scope);
    if (step.kind === "batch")
      results.push(...(await Promise.all(step.requests.map((command) => opened.ask(command)))));
    await opened.idle();
    check(opened);
  }
  return { opened, results };
}

const rounds_max = 10;

t.test("[M9] after random commands, failures and crashes, every projection equals its rebuild from rows", async (t) => {
  const seed = seedOf(t);
  let refused = 0;
  let thrown = 0;
  let done = 0;
  const property = fc.asyncProperty(randomSteps({ crashes: true }), (steps) =>
    inScope(async (scope) => {
      const created = await openNewRealm(scope);
      const { opened, results } = await execute(scope, created, steps, (now) => {
        // Presence is ahead of its rows by design (E4), so it is compared below.
        sameJson(withoutPresence(now.snapshot()), withoutPresence(now.rebuilt()));
        sameJson(auditRealm(now.lmdb), []);
        sameRows(now);
      });
      opened.clock.advance(limits.batch_persist_ms + 1000);
      await opened.idle();
      sameJson(opened.snapshot(), opened.rebuilt());
      for (const result of results) {
        if (result.kind === "ok") done++;
        else if (result.code === "INTERNAL_SERVER_ERROR") thrown++;
        else refused++;
      }
    }),
  );
  const hasWorked = () => done > 60 && refused > 20 && thrown > 10;
  // If the runs of this seed do little, those of the next seeds do more.
  for (let round = 0; round === 0 || (round < rounds_max && !hasWorked()); round++) {
    await fc.assert(property, { seed: seed + round, numRuns: 30 });
  }
  t.comment({ done, refused, thrown });
  t.ok(hasWorked(), "the runs did some work");
});

t.test("[M4] the same commands in the same order give the same responses and rows, bit for bit", async (t) => {
  const template = await openWithUsers(t);
  const property = fc.asyncProperty(randomSteps({ crashes: false }), (steps) =>
    inScope(async (scope) => {
      const runs = [];
      for (let copy = 0; copy < 2; copy++) {
        runs.push(await execute(scope, anew(scope, template), steps, () => undefined));
      }
      const [one, other] = runs as [Run, Run];
      sameJson(one.results, other.results);
      sameJson(dump(one.opened.lmdb), dump(other.opened.lmdb));
      sameJson(one.opened.snapshot(), other.opened.snapshot());
    }),
  );
  await fc.assert(property, { seed: seedOf(t), numRuns: 10 });
  t.pass("twice the same");
});

t.test("results do not change when there are more actors than activations_max", async (t) => {
  const template = await openWithUsers(t);
  const steps = fc.tuple(randomSteps({ crashes: false }), randomSteps({ crashes: false }));
  const property = fc.asyncProperty(steps, ([before, after]) =>
    inScope(async (scope) => {
      const runs: Run[] = [];
      for (const isFlooded of [false, true]) {
        const { opened } = await execute(scope, anew(scope, template), before, () => undefined);
        if (isFlooded) await passivateAll(opened);
        runs.push(await execute(scope, opened, after.filter(isDurable), () => undefined));
      }
      const [one, other] = runs as [Run, Run];
      sameJson(one.results, other.results);
      sameJson(dump(one.opened.lmdb), dump(other.opened.lmdb));
    }),
  );
  await fc.assert(property, { seed: seedOf(t), numRuns: 3 });
  t.pass("the same with and without passivation");
});

/** Volatile actors lose their state when they are passivated, by design (E4). */
function isDurable(step: Step): boolean {
  return step.kind === "batch" && step.requests.every(({ to }) => to.actor !== "typing" && to.actor !== "presence");
}

/**
 * Loads so many other actors that all earlier ones are passivated. They take no ids and no positions, so the runs can
 * be compared.
 */
async function passivateAll(opened: OpenRealm): Promise<void> {
  for (let actor = 0; actor < limits.activations_max; actor += 5000) {
    const pending = Array.from({ length: 5000 }, (_, index) =>
      opened.ask(commands.deleteTopic(`flood ${actor + index}`, startedAt)),
    );
    await Promise.all(pending);
  }
}

const taking = fc.oneof(
  fc.record({ kind: fc.constant("durable" as const), count: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ kind: fc.constant("volatile" as const), count: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ kind: fc.constant("position" as const), count: fc.constantFrom(1, 500, 60_000) }),
  fc.record({ kind: fc.constant("crash" as const), count: fc.constant(1) }),
  fc.record({ kind: fc.constant("close" as const), count: fc.constant(1) }),
);

t.test("[E1] positions and ids never repeat, across crashes and restarts and on a full disk", async (t) => {
  const template = await openWithUsers(t);
  const property = fc.asyncProperty(
    fc.array(taking, { minLength: 3, maxLength: 12 }),
    fc.boolean(),
    (takings, isFull) =>
      inScope(async (scope) => {
        let mayWrite = true;
        const acceptsWrites = () => mayWrite;
        let opened = anew(scope, template, { acceptsWrites });
        const positions: number[] = [];
        const ids: number[] = [];
        const collect = () => {
          positions.push(...opened.recorder.published.map(({ record }) => record.position));
          opened.recorder.published.length = 0;
        };
        mayWrite = !isFull;
        for (const { kind, count } of takings) {
          for (let index = 0; index < count; index++) {
            if (kind === "position") positions.push(opened.realm.dispatcher.takePosition());
            if (kind === "durable") {
              const posted = await opened.ask(commands.post("a", "hi"));
              if (posted.kind === "ok") ids.push(posted.answer["id"] as number);
            }
            if (kind === "volatile") await opened.ask(commands.typing("start", `t${index}`));
          }
          collect();
          if (kind === "crash") opened = opened.crash(scope, { acceptsWrites });
          if (kind === "close") {
            const image = opened.folder;
            await opened.realm.close();
            opened = new OpenRealm(scope, { clock: opened.clock, acceptsWrites, folder: crashImage(scope, image) });
          }
        }
        for (const list of [positions, ids]) {
          for (let index = 1; index < list.length; index++) {
            const [before, after] = [list[index - 1] as number, list[index] as number];
            if (after <= before) throw new Error(`${after} after ${before}`);
          }
        }
      }),
  );
  // More positions than a lease holds, without a turn in between.
  const beyond = [
    { kind: "position" as const, count: 60_000 as const },
    { kind: "position" as const, count: 60_000 as const },
    { kind: "crash" as const, count: 1 as const },
    { kind: "position" as const, count: 1 as const },
  ];
  const examples: [typeof beyond, boolean][] = [
    [beyond, false],
    [beyond, true],
  ];
  await fc.assert(property, { seed: seedOf(t), numRuns: 12, examples });
  t.pass("always upwards");
});

t.test("[M4] a realm's time never decreases, even if the clock was set back while the server was down", async (t) => {
  const opened = await openNewRealm(t);
  opened.clock.advance(60_000);
  await opened.ask(commands.register(ownerId, "q1"));
  const late = opened.lmdb.get("queues", "q1")?.createdAt;
  t.equal(late, startedAt + 60_000);
  const reopened = opened.crash(t, { clock: new ManualClock(startedAt) });
  await reopened.ask(commands.register(ownerId, "q2"));
  t.ok((reopened.lmdb.get("queues", "q2")?.createdAt ?? 0) >= startedAt + 60_000);
});

/** Every row that the view may cache equals the one on disk, and missing rows are not cached. */
function sameRows({ realm: { view }, lmdb }: OpenRealm): void {
  lmdb.each("conversations", (row, id) => sameJson(view.row("conversations", id), row));
  lmdb.each("topicNames", (row, key) => sameJson(view.row("topicNames", key), row));
  lmdb.each("directNames", (row, key) => sameJson(view.row("directNames", key), row));
  for (let id = 1; id <= view.counter("recipient"); id++) {
    sameJson(view.row("conversations", id) ?? null, lmdb.get("conversations", id) ?? null);
  }
  for (const channelId of [1, 2, 3]) {
    for (const name of ["lunch", "müsli", "🍎", ""]) {
      const key = [channelId, name] as const;
      sameJson(view.row("topicNames", key) ?? null, lmdb.get("topicNames", key) ?? null);
    }
  }
}

/** Strict equality of plain data; a difference prints both as JSON. */
function sameJson(one: unknown, other: unknown): void {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
  if (first === second) return;
  let at = 0;
  while (first[at] === second[at]) at++;
  throw new Error(
    `differs at ${at}: ...${first.slice(at - 200, at + 200)}\n   from   ...${second.slice(at - 200, at + 200)}`,
  );
}

function withoutPresence(picture: unknown): unknown {
  return (picture as [string[], unknown][]).filter(([tables]) => !tables.includes("presence"));
}
