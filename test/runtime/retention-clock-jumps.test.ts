/**
 * Message retention with a wrong clock (M8, D210): after a jump it removes at most a share of the messages, unless an
 * operator confirms the clock.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { JumpingClock } from "../support/jumping-clock.ts";
import { dayMs } from "../support/retention.ts";
import { answerOf, commands, crashImage, OpenRealm, openNewRealm, ownerId, startedAt } from "../support/runtime.ts";
import type { Teardown } from "../support/server.ts";

const days = 7;

async function setLimit(realm: OpenRealm): Promise<void> {
  const before = realm.realm.view.realm;
  const row = { ...before, settings: { ...before.settings, message_retention_days: days } };
  realm.lmdb.transaction(() => {
    realm.lmdb.put("realm", "realm", row);
  });
  realm.realm.projections.apply({ table: "realm", key: "realm", row });
  const { dispatcher } = realm.realm;
  dispatcher.observers.apply({ table: "realm", key: "realm", row });
  dispatcher.observers.take()?.();
  await realm.idle();
}

/** A realm that keeps messages for ever: some messages are a day older than the others. */
async function unlimited(t: Teardown, older: number, younger: number) {
  const clock = new JumpingClock(startedAt);
  const realm = await openNewRealm(t, { clock });
  const post = async (count: number) => {
    const posts = Array.from({ length: count }, (_, index) =>
      realm.ask(index % 3 === 0 ? commands.direct([ownerId], `m${index}`) : commands.post("t", `m${index}`)),
    );
    for (const result of await Promise.all(posts)) answerOf(result);
  };
  await post(older);
  clock.advance(dayMs);
  await post(younger);
  return { realm, clock };
}

/** The same, with a retention of a week. */
async function opened(t: Teardown, older: number, younger: number): Promise<{ realm: OpenRealm; clock: JumpingClock }> {
  const { realm, clock } = await unlimited(t, older, younger);
  await setLimit(realm);
  return { realm, clock };
}

function state(realm: OpenRealm): string | undefined {
  return realm.lmdb.get("snapshots", "retention")?.state;
}

/** The clock jumps and the jump lasts until it is trusted; then a retention round is due. */
async function jump(realm: OpenRealm, clock: JumpingClock, aheadMs: number): Promise<void> {
  clock.aheadMs = aheadMs;
  for (let minutes = 0; minutes < 10; minutes++) {
    clock.advance(limits.timer_sleep_ms_max);
    await realm.idle();
  }
}

t.test("[M8] retention after a jump that would remove all messages removes none and logs what to do", async (t) => {
  const { realm, clock } = await opened(t, 300, 100);
  t.equal(state(realm), "waiting");
  await jump(realm, clock, 400 * dayMs);
  t.equal(realm.lmdb.count("messages"), 400);
  t.equal(state(realm), "held");
  t.match(realm.warnings.at(-1), /Message retention is held.*25%.*cli confirm-retention.*cli set-time/);
  const again = realm.crash(t);
  await again.idle();
  t.equal(state(again), "held", "a restart is no confirmation by an operator");
  t.equal(again.lmdb.count("messages"), 400);
  t.match(again.warnings.at(-1), /Message retention is held/, "it is logged again");
  answerOf(await again.ask(command({ actor: "retention" }, "retention.confirm", {}, null)));
  await again.idle();
  t.equal(again.lmdb.count("messages"), 0);
  t.equal(state(again), "waiting");
  t.strictSame(again.snapshot(), again.rebuilt());
});

t.test("[M8] retention after a jump removes the allowed share of all messages, and not one more", async (t) => {
  const share = limits.retention_jump_percent_max;
  for (const [older, younger, after] of [
    [share, 100 - share, 100 - share],
    [share + 1, 99 - share, 100],
  ] as const) {
    const { realm, clock } = await opened(t, older, younger);
    // The older ones have expired, the younger ones have not.
    await jump(realm, clock, (days - 0.5) * dayMs);
    t.equal(realm.lmdb.count("messages"), after, `${older} of 100 have expired`);
  }
});

t.test("[M8] retention needs no operator when time passes normally", async (t) => {
  const { realm, clock } = await opened(t, 30, 10);
  for (let day = 0; day < days + 2; day++) {
    clock.jump(dayMs);
    await realm.idle();
  }
  t.equal(realm.lmdb.count("messages"), 0);
});

t.test("[M8] after a month off, retention waits for an operator when it would remove too much", async (t) => {
  const { realm } = await opened(t, 30, 10);
  const clock = new JumpingClock(startedAt + 31 * dayMs, "second");
  const again = new OpenRealm(t, { folder: crashImage(t, realm.folder), clock });
  await again.idle();
  t.equal(again.lmdb.count("messages"), 40, "it does not start before the clock is trusted");
  await jump(again, clock, 0);
  t.equal(again.lmdb.count("messages"), 40);
  t.equal(state(again), "held");
});

t.test("[M8] a clock corrected while the server was off leaves retention working", async (t) => {
  const { realm, clock } = await opened(t, 30, 10);
  await jump(realm, clock, 400 * dayMs);
  clock.aheadMs = 0;
  const again = realm.crash(t);
  await again.idle();
  t.equal(state(again), "waiting", "at the right time nothing has expired");
  t.equal(again.lmdb.count("messages"), 40);
});

t.test(
  "[M8] the first retention limit set after a jump removes its share, and needs an operator for more",
  async (t) => {
    const share = limits.retention_jump_percent_max;
    for (const [older, after, end] of [
      [share, 100 - share, "waiting"],
      [share + 1, 100, "held"],
    ] as const) {
      const { realm, clock } = await unlimited(t, older, 100 - older);
      // A request reads the time now, and when the clock has lasted.
      clock.aheadMs = (days - 0.5) * dayMs;
      for (const queue of ["q1", "q2"]) {
        answerOf(await realm.ask(commands.register(ownerId, queue)));
        clock.advance(limits.clock_jump_lasting_ms);
      }
      t.equal(realm.realm.view.clockJumps, 1, "the jump is trusted");
      t.equal(state(realm), undefined, "there was never a retention limit");
      await setLimit(realm);
      t.equal(state(realm), end, `${older} of 100 have expired`);
      t.equal(realm.lmdb.count("messages"), after);
    }
  },
);

t.test("[M8] the first retention limit of a realm whose clock never jumped needs no operator", async (t) => {
  const { realm, clock } = await unlimited(t, 30, 10);
  for (let day = 0; day < days + 2; day++) {
    clock.jump(dayMs);
    await realm.idle();
  }
  await setLimit(realm);
  t.equal(realm.lmdb.count("messages"), 0);
});
