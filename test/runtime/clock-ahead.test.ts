/**
 * A clock that jumps ahead (D26, M4, M8) is believed only when it has lasted; until then the realm's time goes on from where it
 * was. A machine that slept, or a server that was restarted, has not jumped. The other direction is in clock-back.test.ts.
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
  openFounded,
  ownerId,
  rowsOf,
  startedAt,
} from "../support/runtime.ts";
import { scheduledCommands } from "../support/scheduled-commands.ts";
import type { Teardown } from "../support/server.ts";

const farMs = 400 * dayMs;

async function opened(t: Teardown): Promise<{ realm: OpenRealm; clock: JumpingClock }> {
  const clock = new JumpingClock(startedAt);
  return { realm: await openFounded(t, { clock }), clock };
}

/** @returns how many milliseconds after the start the message is dated */
async function post(realm: OpenRealm): Promise<number> {
  const id = answerOf(await realm.ask(commands.post("t", "hi")))["id"];
  const message = rowsOf(realm.environment, "messages").find((row) => row.id === id);
  return (message?.sentAt ?? 0) - startedAt;
}

function contents(realm: OpenRealm): string[] {
  return rowsOf(realm.environment, "messages").map(({ content }) => content);
}

t.test(
  "[D26] messages have the right time while the clock is 400 days ahead for three seconds, and afterwards",
  async (t) => {
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
    t.match(realm.warnings, [/jumped ahead by 34560000 seconds\. Not believed/]);
  },
);

t.test(
  "[D26] a clock that is ahead by the bound is believed at once; one that is ahead by more must last",
  async (t) => {
    const { realm, clock } = await opened(t);
    clock.aheadMs = limits.clock_leap_ms_max;
    t.equal(await post(realm), limits.clock_leap_ms_max);
    const base = limits.clock_leap_ms_max;
    clock.aheadMs = 2 * base + 1;
    t.equal(await post(realm), base);
    clock.advance(limits.clock_leap_lasting_ms - 1);
    t.equal(await post(realm), base + limits.clock_leap_lasting_ms - 1, "one millisecond is missing");
    clock.advance(1);
    t.equal(await post(realm), 2 * base + 1 + limits.clock_leap_lasting_ms);
    t.match(realm.warnings, [/Not believed/, /believed now/]);
  },
);

t.test("[D26] a second jump while the first is doubted begins the doubt anew", async (t) => {
  const { realm, clock } = await opened(t);
  clock.aheadMs = farMs;
  await post(realm);
  clock.advance(limits.clock_leap_lasting_ms - 1);
  clock.aheadMs = 2 * farMs;
  await post(realm);
  clock.advance(limits.clock_leap_lasting_ms - 1);
  t.equal(await post(realm), 2 * (limits.clock_leap_lasting_ms - 1));
});

t.test("[D26] a machine that slept has the time of the clock when it wakes up", async (t) => {
  const { realm, clock } = await opened(t);
  clock.sleep(8 * 60 * 60 * 1000);
  t.equal(await post(realm), 8 * 60 * 60 * 1000);
  clock.aheadMs = farMs;
  clock.sleep(1000);
  t.equal(await post(realm), 8 * 60 * 60 * 1000 + 1000, "its sleep is not a jump's excuse");
  t.equal(realm.warnings.length, 1);
});

t.test("[M8] what is scheduled for next year is not sent because the clock was there for three seconds", async (t) => {
  const { realm, clock } = await opened(t);
  answerOf(await realm.ask(scheduledCommands.schedule("next year", startedAt + 365 * dayMs)));
  clock.aheadMs = farMs;
  clock.advance(3000);
  await realm.idle();
  clock.aheadMs = 0;
  clock.advance(60 * 60 * 1000);
  await realm.idle();
  t.strictSame(contents(realm), []);
  t.equal(realm.environment.count("scheduledMessages"), 1);
});

t.test("[D26] a jump across a restart of the server is doubted as any other; a long pause is not", async (t) => {
  const { realm, clock } = await opened(t);
  await post(realm);
  clock.advance(3 * dayMs);
  const second = realm.crash(t);
  t.equal(await post(second), 3 * dayMs);
  clock.aheadMs = farMs;
  t.equal(await post(second.crash(t)), 3 * dayMs);
});

t.test(
  "[M8] after a machine was off for a month, messages have the clock's time and timers ring when it has lasted",
  async (t) => {
    const { realm } = await opened(t);
    answerOf(await realm.ask(scheduledCommands.schedule("overdue", startedAt + dayMs)));
    const clock = new JumpingClock(startedAt + 30 * dayMs, "second");
    const again = new OpenRealm(t, { folder: crashImage(t, realm.folder), clock });
    await again.idle();
    t.equal(await post(again), 30 * dayMs);
    clock.advance(limits.clock_leap_lasting_ms - 1);
    const restarted = again.crash(t);
    await restarted.idle();
    t.strictSame(contents(restarted), ["hi"], "a restart amid the doubt does not end it");
    clock.advance(limits.clock_leap_lasting_ms);
    await restarted.idle();
    t.strictSame(contents(restarted), ["hi", "overdue"], "late, but once");
  },
);

t.test("[M8] a clock that was wrong when the machine was started and is corrected rings no timer early", async (t) => {
  const { realm } = await opened(t);
  answerOf(await realm.ask(scheduledCommands.schedule("next year", startedAt + 365 * dayMs)));
  const clock = new JumpingClock(startedAt + dayMs, "second");
  clock.aheadMs = farMs;
  const again = new OpenRealm(t, { folder: crashImage(t, realm.folder), clock });
  clock.advance(limits.clock_leap_lasting_ms - 1);
  await again.idle();
  clock.aheadMs = 0;
  clock.advance(2 * limits.clock_leap_lasting_ms + limits.timer_sleep_ms_max);
  await again.idle();
  t.strictSame(contents(again), []);
  t.equal(rowsOf(again.environment, "scheduledMessages")[0]?.userId, ownerId);
});
