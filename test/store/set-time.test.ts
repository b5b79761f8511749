/**
 * `cli set-time` on a store: corrects dates in the future after the clock was ahead, and changes nothing else (M4, M8,
 * E1).
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { datedFields, rowFields, type TableName } from "../../schemas/records.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { lastTurnAt, setTime } from "../../src/store/set-time.ts";
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

const farMs = 400 * dayMs;

t.test("[M4] set-time corrects the times, timers and limits of a realm with a clock ahead; ids continue", async (t) => {
  const clock = new JumpingClock(startedAt);
  const realm = await openNewRealm(t, { clock });
  answerOf(await realm.ask(commands.post("t", "before")));
  answerOf(await realm.ask(scheduledCommands.schedule("chosen", startedAt + farMs + dayMs)));
  // Wrong for long enough to be trusted.
  clock.aheadMs = farMs;
  answerOf(await realm.ask(commands.post("t", "doubted")));
  clock.advance(limits.clock_jump_lasting_ms);
  const wrong = answerOf(await realm.ask(commands.post("t", "wrong")));
  answerOf(await realm.ask(commands.register(ownerId, "q1")));
  const wish = { newEmail: "new@example.com", keyHash: "hash", link: "http://localhost/x" };
  answerOf(await realm.ask(command({ actor: "user", id: ownerId }, "user.email-change.request", wish, ownerId)));
  clock.aheadMs = 0;
  clock.advance(1000);
  t.ok(realm.realm.view.now > startedAt + farMs, "the realm's time does not go back by itself");

  const folder = crashImage(t, realm.folder);
  const lmdb = openLmdb(folder);
  const positions = rowsOf(lmdb, "events").map(({ position }) => position);
  t.equal(lastTurnAt(lmdb), startedAt + farMs + limits.clock_jump_lasting_ms);
  const stored = () => lmdb.get("meta", "counters")?.value as { readonly counters: Record<string, number> };
  const times = { waitingPeriodsEnded: startedAt + farMs, inactivityTold: startedAt + farMs };
  const counters = { ...stored().counters, ...times };
  lmdb.transaction(() => lmdb.put("meta", "counters", { value: { ...stored(), counters } }));
  t.ok((setTime(lmdb, clock.now()) ?? 0) > 3);
  t.equal(lastTurnAt(lmdb), clock.now());
  for (const name of Object.keys(times)) t.equal(stored().counters[name], clock.now(), name);
  t.equal(setTime(lmdb, clock.now()), null, "a second run finds nothing to do");
  for (const [table, fields] of Object.entries(datedFields) as [TableName, readonly string[]][]) {
    for (const row of rowsOf(lmdb, table) as unknown as Record<string, number | null>[]) {
      for (const field of fields) t.ok((row[field] ?? 0) <= clock.now(), `${table}.${field}`);
    }
  }
  await lmdb.close();

  const again = new OpenRealm(t, { folder, clock });
  const after = answerOf(await again.ask(commands.post("t", "after")));
  t.ok((after["id"] as number) > (wrong["id"] as number));
  const messages = rowsOf(again.lmdb, "messages").map(({ content, sentAt }) => [content, sentAt - startedAt]);
  const nowMs = clock.now() - startedAt;
  t.strictSame(messages, [
    ["before", 0],
    ["doubted", 0],
    ["wrong", nowMs],
    ["after", nowMs],
  ]);
  const newest = rowsOf(again.lmdb, "events").at(-1)?.position ?? 0;
  t.ok(newest > Math.max(...positions), "positions continue (E1)");
  t.equal(rowsOf(again.lmdb, "scheduledMessages")[0]?.dueAt, startedAt + farMs + dayMs, "people chose it");
  clock.advance(limits.email_change_link_ms + limits.timer_sleep_ms_max);
  await again.idle();
  t.equal(again.lmdb.count("emailChanges"), 0, "the link expires after a day, not after 400");
  t.strictSame(again.bugs, []);
  t.strictSame(again.snapshot(), again.rebuilt());
});

t.test("[M4] set-time knows every field of every table that records when something happened", async (t) => {
  // Future times that users or limits determine, and counters whose names only look like times.
  const others = new Set([
    "timers.dueAt",
    "scheduledMessages.dueAt",
    "reminders.dueAt",
    "invitations.createdAt",
    "invitations.expiresAt",
    "readStates.at",
    "readWatermarks.at",
    "readExceptions.at",
  ]);
  for (const [table, fields] of Object.entries(rowFields) as [TableName, readonly string[]][]) {
    const known: readonly string[] = datedFields[table] ?? [];
    for (const field of fields.filter((name) => /^at$|(?:At|Since)$/.test(name))) {
      t.ok(known.includes(field) || others.has(`${table}.${field}`), `${table}.${field}`);
    }
  }
});
