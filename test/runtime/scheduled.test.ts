/**
 * Scheduled messages and reminders are delivered exactly once at any crash (M3, M8), in one order with edits and
 * deletions (M7), and are not lost if a delivery throws (M6). test/api/scheduled-delivery.test.ts and reminders.test.ts
 * cover what is delivered.
 */
import t from "tap";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { opOf } from "../support/logged-events.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { hostOfTwo, openFolders } from "../support/realm-host.ts";
import {
  answerOf,
  codeOf,
  commands,
  crashImage,
  createUsers,
  OpenRealm,
  openNewRealm,
  ownerId,
  rowsOf,
  SlowClock,
  startedAt,
} from "../support/runtime.ts";
import { timersIn } from "../support/scheduled.ts";
import { scheduledCommands } from "../support/scheduled-commands.ts";
import type { Teardown } from "../support/server.ts";
import { crashesUntil } from "../support/turns.ts";

const dueAt = startedAt + 60_000;
const { edit, remind, schedule, unschedule } = scheduledCommands;

function contents(opened: OpenRealm): string[] {
  return rowsOf(opened.lmdb, "messages").map(({ content }) => content);
}

function left({ lmdb }: OpenRealm): number[] {
  const [messages, reminders, waiting] = (["scheduledMessages", "reminders", "mailbox"] as const).map((table) =>
    lmdb.count(table),
  );
  return [messages ?? 0, reminders ?? 0, timersIn(lmdb), waiting ?? 0];
}

/** A realm with many messages waiting for their time, as a crash leaves it. */
async function prepared(t: Teardown): Promise<string> {
  const bench = await openNewRealm(t);
  const [person = 0] = await createUsers(bench, 1);
  answerOf(await bench.ask(commands.post("lunch", "the message")));
  for (let index = 0; index < 3; index++) {
    answerOf(await bench.ask(schedule(`to all ${index}`, dueAt + index)));
    answerOf(await bench.ask(schedule(`to one ${index}`, dueAt + index, [person])));
    answerOf(await bench.ask(remind(1, `note ${index}`, dueAt + index)));
  }
  answerOf(await bench.ask(commands.createChannel("gone", [ownerId])));
  answerOf(await bench.ask(schedule("will fail", dueAt, bench.realm.view.channels.byName("gone")?.id ?? 0)));
  answerOf(
    await bench.ask(
      command(
        { actor: "realm" },
        "channel.archive",
        { channelId: bench.realm.view.channels.byName("gone")?.id ?? 0 },
        2,
      ),
    ),
  );
  return crashImage(t, bench.folder);
}

t.test("[M3, M8] a crash at any turn of the deliveries loses none and repeats none", async (t) => {
  const folder = await prepared(t);
  const opened = new OpenRealm(t, { folder, clock: new SlowClock(dueAt + 1000) });
  const images = await crashesUntil(t, folder, () => opened.realm.dispatcher.queueLength === 0, 100);
  t.ok(images.length > 10, `it took ${images.length} turns`);
  for (const image of images) {
    const again = new OpenRealm(t, { folder: image, clock: new SlowClock(dueAt + 1000) });
    await again.idle();
    const posted = contents(again);
    for (const what of ["all 0", "all 1", "all 2", "one 0", "one 1", "one 2"]) {
      t.equal(posted.filter((content) => content === `to ${what}`).length, 1, what);
    }
    for (const note of ["note 0", "note 1", "note 2"]) {
      t.equal(posted.filter((content) => content.includes(note)).length, 1, note);
    }
    t.equal(posted.filter((content) => content.includes("has not been sent")).length, 1, "announced once");
    t.notOk(posted.includes("will fail"));
    t.strictSame(left(again), [1, 0, 0, 0], "the failed one stays, nothing else");
    t.match(rowsOf(again.lmdb, "scheduledMessages"), [{ content: "will fail", timer: null }]);
    const received = rowsOf(again.lmdb, "events").filter((event) => opOf(event) === "remove");
    t.equal(received.length, 9, "each delivery is announced once");
    t.strictSame(again.bugs, []);
    t.strictSame(again.snapshot(), again.rebuilt());
  }
});

const races: readonly { readonly what: string; readonly change: Command; readonly before: string[] }[] = [
  { what: "a new text", change: edit(1, "after"), before: ["after"] },
  { what: "a new time", change: edit(1, null, dueAt + 5000), before: ["before"] },
  { what: "a deletion", change: unschedule(1), before: [] },
];

for (const { what, change, before } of races) {
  t.test(`[M7] ${what} queued before the timer takes effect; queued after it, it finds no message`, async (t) => {
    const bench = await openNewRealm(t, { clock: new SlowClock(startedAt) });
    answerOf(await bench.ask(schedule("before", dueAt)));
    const image = crashImage(t, bench.folder);

    const first = new OpenRealm(t, { folder: image, clock: new SlowClock(dueAt - 1) });
    const pending = first.ask(change);
    first.clock.advance(1);
    t.equal(first.realm.dispatcher.queueLength, 2, "both are queued");
    t.equal(codeOf(await pending), "ok");
    await first.idle();
    t.strictSame(contents(first), [], "the earlier timer does nothing");
    for (let step = 0; step < 10; step++) {
      await first.idle();
      first.clock.advance(1000);
    }
    t.strictSame(contents(first), before);
    t.strictSame(left(first), [0, 0, 0, 0]);

    const second = new OpenRealm(t, { folder: crashImage(t, bench.folder), clock: new SlowClock(dueAt) });
    t.equal(second.realm.dispatcher.queueLength, 1, "the timer is queued");
    t.equal(codeOf(await second.ask(change)), "NOT_FOUND");
    second.clock.advance(10_000);
    await second.idle();
    t.strictSame(contents(second), ["before"]);
    t.strictSame(left(second), [0, 0, 0, 0]);
    t.strictSame([...first.bugs, ...second.bugs], []);
  });
}

t.test("[M6] a delivery that always throws is abandoned: it stays as failed, and its author is told", async (t) => {
  const bench = await openNewRealm(t);
  answerOf(await bench.ask(commands.post("lunch", "the message")));
  answerOf(await bench.ask(schedule("cannot be read", dueAt)));
  answerOf(await bench.ask(remind(1, "nor can this", dueAt)));
  const row = bench.lmdb.get("scheduledMessages", [ownerId, 1]);
  const reminder = bench.lmdb.get("reminders", [ownerId, 1]);
  if (row === undefined || reminder === undefined) throw new Error("no rows");
  const broken = { content: null as unknown as string };
  const put = (content: object, note: object) =>
    bench.lmdb.transaction(() => {
      bench.lmdb.put("scheduledMessages", [ownerId, 1], { ...row, ...content });
      bench.lmdb.put("reminders", [ownerId, 1], { ...reminder, ...note });
    });
  put(broken, { note: null });
  bench.clock.jump(60_000);
  await bench.idle();
  t.equal(bench.bugs.length, 2 * limits.mailbox_attempts_max);
  t.equal(bench.lmdb.count("deadLetters"), 2);
  t.match(contents(bench), ["the message", /has not been sent[\s\S]*Internal server error/]);
  t.match(rowsOf(bench.lmdb, "scheduledMessages"), [{ timer: null }]);
  t.match(rowsOf(bench.lmdb, "reminders"), [{ timer: null }]);
});

t.test("[M8] a realm that was closed while idle is opened when a message is due, without any request", async (t) => {
  const bench = await openNewRealm(t);
  answerOf(await bench.ask(schedule("ring", dueAt)));
  const folders = [crashImage(t, (await openNewRealm(t)).folder), crashImage(t, bench.folder)] as const;
  const closed = hostOfTwo(t, { folders, dueHint: 0, clock: new ManualClock(startedAt) });
  await closed.close();
  const hints = closed.root.realms().map(({ dueHint }) => dueHint);
  t.strictSame(hints, [null, dueAt], "the state after a clean close");

  const clock = new ManualClock(startedAt);
  const { host } = hostOfTwo(t, { folders, dueHint: dueAt, clock });
  t.equal(openFolders(host), 1, "without any request");
  clock.advance(60_000 + limits.timer_sleep_ms_max);
  t.equal(openFolders(host), 2);
  const woken = host.realmOf("two.example.com");
  await woken.dispatcher.idle();
  t.match(rowsOf(woken.lmdb, "messages"), [{ content: "ring" }]);
});
