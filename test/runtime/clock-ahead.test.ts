/**
 * A clock that jumps ahead (D26, M4, M8) is trusted only after the jump has lasted; until then the realm's time
 * continues from where it was. A machine that slept and a server that was restarted have not jumped. clock-back.test.ts
 * covers the other direction.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { JumpingClock } from "../support/jumping-clock.ts";
import { dayMs } from "../support/retention.ts";
import {
  answerOf,
  commands,
  crashImage,
  OpenRealm,
  openNewRealm,
  ownerId,
  rowsOf,
  startedAt,
} from "../support/runtime.ts";
import { scheduledCommands } from "../support/scheduled-commands.ts";
import type { Teardown } from "../support/server.ts";

const farMs = 400 * dayMs;

async function opened(t: Teardown): Promise<{ realm: OpenRealm; clock: JumpingClock }> {
  const clock = new JumpingClock(startedAt);
  return { realm: await openNewRealm(t, { clock }), clock };
}

/** @returns the message's timestamp, in milliseconds after the start */
async function post(realm: OpenRealm): Promise<number> {
  const id = answerOf(await realm.ask(commands.post("t", "hi")))["id"];
  const message = rowsOf(realm.lmdb, "messages").find((row) => row.id === id);
  return (message?.sentAt ?? 0) - startedAt;
}

function contents(realm: OpenRealm): string[] {
  return rowsOf(realm.lmdb, "messages").map(({ content }) => content);
}

t.test("[D26] messages have the right time while and after the clock is 400 days ahead", async (t) => {
  const { realm, clock } = await opened(t);
  clock.advance(1000);
  clock.aheadMs = farMs;
  t.equal(await post(realm), 1000);
  clock.advance(3000);
  t.equal(await post(realm), 4000);
  clock.aheadMs = 0;
  clock.advance(1000);
  t.equal(await post(realm), 5000);
  const again = realm.crash(t);
  t.equal(await post(again), 5000, "after a crash, too");
  t.match(realm.warnings, [/jumped ahead by 34560000 seconds\. The jump is ignored/]);
});

t.test("[D26] a clock ahead by the bound is trusted at once; a larger jump must last first", async (t) => {
  const { realm, clock } = await opened(t);
  clock.aheadMs = limits.clock_jump_ms_max;
  t.equal(await post(realm), limits.clock_jump_ms_max);
  const base = limits.clock_jump_ms_max;
  clock.aheadMs = 2 * base + 1;
  t.equal(await post(realm), base);
  clock.advance(limits.clock_jump_lasting_ms - 1);
  t.equal(await post(realm), base + limits.clock_jump_lasting_ms - 1, "one millisecond is still missing");
  clock.advance(1);
  t.equal(await post(realm), 2 * base + 1 + limits.clock_jump_lasting_ms);
  t.match(realm.warnings, [/The jump is ignored/, /accepted now/]);
});

t.test("[D26] a second jump during the first one's trial period restarts the period", async (t) => {
  const { realm, clock } = await opened(t);
  clock.aheadMs = farMs;
  await post(realm);
  clock.advance(limits.clock_jump_lasting_ms - 1);
  clock.aheadMs = 2 * farMs;
  await post(realm);
  clock.advance(limits.clock_jump_lasting_ms - 1);
  t.equal(await post(realm), 2 * (limits.clock_jump_lasting_ms - 1));
});

t.test("[D26] a machine that wakes from sleep uses the clock's time at once", async (t) => {
  const { realm, clock } = await opened(t);
  clock.sleep(8 * 60 * 60 * 1000);
  t.equal(await post(realm), 8 * 60 * 60 * 1000);
  clock.aheadMs = farMs;
  clock.sleep(1000);
  t.equal(await post(realm), 8 * 60 * 60 * 1000 + 1000, "a sleep does not make a jump trusted");
  t.equal(realm.warnings.length, 1);
});

t.test(
  "[M8] a message scheduled for next year is not sent although the clock was there for three seconds",
  async (t) => {
    const { realm, clock } = await opened(t);
    answerOf(await realm.ask(scheduledCommands.schedule("next year", startedAt + 365 * dayMs)));
    clock.aheadMs = farMs;
    clock.advance(3000);
    await realm.idle();
    clock.aheadMs = 0;
    clock.advance(60 * 60 * 1000);
    await realm.idle();
    t.strictSame(contents(realm), []);
    t.equal(realm.lmdb.count("scheduledMessages"), 1);
  },
);

t.test("[D26] a jump across a server restart has a trial period like any other; a long stop does not", async (t) => {
  const { realm, clock } = await opened(t);
  await post(realm);
  clock.advance(3 * dayMs);
  const second = realm.crash(t);
  t.equal(await post(second), 3 * dayMs);
  clock.aheadMs = farMs;
  t.equal(await post(second.crash(t)), 3 * dayMs);
});

t.test("[M8] after a month off, messages have the clock's time, and timers fire when it has lasted", async (t) => {
  const { realm } = await opened(t);
  answerOf(await realm.ask(scheduledCommands.schedule("overdue", startedAt + dayMs)));
  const clock = new JumpingClock(startedAt + 30 * dayMs, "second");
  const again = new OpenRealm(t, { folder: crashImage(t, realm.folder), clock });
  await again.idle();
  t.equal(await post(again), 30 * dayMs);
  clock.advance(limits.clock_jump_lasting_ms - 1);
  const restarted = again.crash(t);
  await restarted.idle();
  t.strictSame(contents(restarted), ["hi"], "a restart does not end the trial period");
  clock.advance(limits.clock_jump_lasting_ms);
  await restarted.idle();
  t.strictSame(contents(restarted), ["hi", "overdue"], "late, but once");
});

t.test("[M8] a clock that was wrong at boot and is then corrected fires no timer early", async (t) => {
  const { realm } = await opened(t);
  answerOf(await realm.ask(scheduledCommands.schedule("next year", startedAt + 365 * dayMs)));
  const clock = new JumpingClock(startedAt + dayMs, "second");
  clock.aheadMs = farMs;
  const again = new OpenRealm(t, { folder: crashImage(t, realm.folder), clock });
  clock.advance(limits.clock_jump_lasting_ms - 1);
  await again.idle();
  clock.aheadMs = 0;
  clock.advance(2 * limits.clock_jump_lasting_ms + limits.timer_sleep_ms_max);
  await again.idle();
  t.strictSame(contents(again), []);
  t.equal(rowsOf(again.lmdb, "scheduledMessages")[0]?.userId, ownerId);
});
