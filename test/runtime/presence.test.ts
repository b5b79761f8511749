/**
 * The internals of presence (architecture, Actors; E1, E4): its machine's states and time-outs, what a poll returns,
 * batches that are written to disk, and what a crash loses.
 */
import t from "tap";
import { actorKinds } from "../../actors/kinds.ts";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { drive, type PlainSnapshot } from "../../actors/protocol/record-machines.ts";
import { limits } from "../../schemas/limits.ts";
import { commands, createUsers, type OpenRealm, openNewRealm, ownerId, rowsOf } from "../support/runtime.ts";

const offlineMs = limits.presence_offline_threshold_s * 1000;
/** The persistence interval plus the resolution of the volatile timers. */
const persistedMs = limits.batch_persist_ms + 500;
const tickMs = 100;

async function reportAll(bench: OpenRealm, userIds: readonly number[], status: "active" | "idle" = "active") {
  await Promise.all(userIds.map((id) => bench.ask(commands.report(id, status))));
}

/** Advances the clock and runs turns as they fall due. */
async function pass(bench: OpenRealm, milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += tickMs) {
    bench.clock.advance(tickMs);
    await bench.idle();
  }
}

/** The largest update id that was issued. */
function newestId(bench: OpenRealm): number {
  return Math.max(0, ...[...bench.realm.projections.presence.all()].map(({ updateId }) => updateId));
}

t.test("a user is active, then idle, then offline, as time passes without a report", async (t) => {
  const bench = await openNewRealm(t);
  const { view } = bench.realm;
  const { machine, initial } = actorKinds.presence;
  const to = { actor: "presence", userId: ownerId } as const;
  let snapshot: PlainSnapshot = initial(to);
  /** @returns the state, and whether the machine wants another timer */
  const after = (pauseMs: number, request: Command = command(to, "presence.lapse", {}, null)) => {
    bench.clock.jump(pauseMs);
    const driven = drive(machine, snapshot, { type: request.type, command: request, view });
    snapshot = driven.snapshot;
    if (driven.outcome.kind !== "done") throw new Error(driven.outcome.msg);
    for (const effect of driven.outcome.effects) {
      if (effect.kind === "updatePresence") {
        bench.realm.projections.apply({ table: "presence", key: ownerId, row: effect.row });
        bench.realm.dispatcher.takePosition();
      }
    }
    return [snapshot.state, driven.outcome.effects.some(({ kind }) => kind === "setVolatileTimer")];
  };
  t.strictSame(after(0, commands.report(ownerId, "idle")), ["idle", true]);
  t.strictSame(after(offlineMs - 1), ["idle", true]);
  t.strictSame(after(1), ["offline", false], "no timer is left");
  t.strictSame(after(0, commands.report(ownerId, "active")), ["active", true]);
  t.strictSame(after(100_000, commands.report(ownerId, "idle")), ["active", true], "still active on another device");
  t.strictSame(after(offlineMs - 100_000 - 1), ["active", true]);
  t.strictSame(after(1), ["idle", true], "200 s after the last activity");
  t.strictSame(after(100_000), ["offline", false], "200 s after the last report");
});

t.test("[E4] a thousand users who come online write nothing at first, then a row each, once, in batches", async (t) => {
  const bench = await openNewRealm(t);
  const { clock, lmdb, recorder } = bench;
  const people = await createUsers(bench, 1000);
  const { commits } = countCommits(bench);
  recorder.changes.length = 0;
  await reportAll(bench, people);
  clock.advance(limits.batch_persist_ms - tickMs);
  await bench.idle();
  t.strictSame([commits(), lmdb.count("presence")], [0, 0], "no disk write per report");
  await pass(bench, 10 * tickMs);
  t.strictSame([commits(), lmdb.count("presence"), lmdb.count("mailbox")], [4, 1000, 0]);
  const found = recorder.changes.filter((rows) => rows > 0);
  t.strictSame(found, [250, 250, 250, 250]);
  // The same users twice within a batch: only the latest row of each.
  clock.jump(60_000);
  await reportAll(bench, people.slice(0, 10), "idle");
  clock.jump(1000);
  await reportAll(bench, people.slice(0, 10));
  await pass(bench, persistedMs);
  t.equal(commits(), 5);
  t.equal(rowsOf(lmdb, "presence").filter(({ activeAt }) => activeAt === clock.now() - persistedMs).length, 10);
  t.strictSame(bench.snapshot(), bench.rebuilt());
});

t.test("[S3] batch_rows_max: that many rows are written in one turn, one more takes two turns", async (t) => {
  const bench = await openNewRealm(t);
  const people = await createUsers(bench, limits.batch_rows_max + 1);
  for (const [count, portions] of [
    [limits.batch_rows_max, 1],
    [limits.batch_rows_max + 1, 2],
  ] as const) {
    bench.clock.jump(60_000);
    await reportAll(bench, people.slice(0, count));
    const { commits } = countCommits(bench);
    await pass(bench, persistedMs);
    t.equal(commits(), portions, `${count} people`);
  }
});

t.test("[M5] while the disk is nearly full, presence waits in memory, and is written with space", async (t) => {
  let mayWrite = true;
  const bench = await openNewRealm(t, { acceptsWrites: () => mayWrite });
  mayWrite = false;
  await reportAll(bench, [ownerId]);
  bench.clock.advance(2 * persistedMs);
  await bench.idle();
  t.equal(bench.lmdb.count("presence"), 0);
  mayWrite = true;
  bench.clock.advance(persistedMs);
  await bench.idle();
  t.equal(bench.lmdb.count("presence"), 1);
});

t.test("[E1] a crash loses the reports since the last batch, but no update id is ever issued twice", async (t) => {
  const first = await openNewRealm(t);
  const [anna = 0, bert = 0] = await createUsers(first, 2);
  await reportAll(first, [anna]);
  first.clock.advance(persistedMs);
  await first.idle();
  const written = first.realm.projections.presence.get(anna);
  first.clock.jump(60_000);
  await reportAll(first, [anna, bert]);
  const given = newestId(first);

  const second = first.crash(t);
  t.strictSame(rowsOf(second.lmdb, "presence"), [written]);
  t.strictSame([...second.realm.projections.presence.all()], [written], "the state of the last batch");
  t.strictSame([...second.realm.projections.presence.newerThan(given)], [], "a client resumes from the id it received");
  await reportAll(second, [bert]);
  const afterCrash = newestId(second);
  t.ok(afterCrash > given, `${afterCrash} > ${given}`);
  const userIds = [...second.realm.projections.presence.newerThan(given)].map(({ userId }) => userId);
  t.strictSame(userIds, [bert]);

  const third = second.crash(t);
  await reportAll(third, [anna]);
  t.ok(newestId(third) > afterCrash, "nor after a second crash with no write in between");
});

t.test("[E1] update ids continue beyond a whole lease of positions, without reuse after a crash", async (t) => {
  const first = await openNewRealm(t);
  // Volatile events take positions, too, and write nothing until half of the lease is used.
  for (let taken = 0; taken < limits.counter_lease_positions; taken++) first.realm.dispatcher.takePosition();
  await reportAll(first, [ownerId]);
  const given = newestId(first);
  const second = first.crash(t);
  await reportAll(second, [ownerId]);
  t.ok(newestId(second) > given);
});

/** Counts transactions from now on. */
function countCommits(bench: OpenRealm) {
  const { lmdb } = bench;
  const transaction = lmdb.transaction.bind(lmdb);
  let commits = 0;
  lmdb.transaction = (work) => {
    commits++;
    return transaction(work);
  };
  return { commits: () => commits };
}
