/**
 * How message retention is executed (M3, M6, M7, M8): in slices between other commands, exactly once at any crash.
 * test/api/retention.test.ts covers what expires and when.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { initialRetention, type RetentionContext } from "../../actors/retention/context.ts";
import { limits } from "../../schemas/limits.ts";
import type { SnapshotRecord } from "../../schemas/runtime.ts";
import { bodiesOf } from "../support/logged-events.ts";
import { dayMs } from "../support/retention.ts";
import {
  answerOf,
  commands,
  crashImage,
  createUsers,
  generalId,
  OpenRealm,
  openNewRealm,
  ownerId,
  rowsOf,
  SlowClock,
  startedAt,
  turn,
} from "../support/runtime.ts";
import type { Teardown } from "../support/server.ts";
import { crashesUntil } from "../support/turns.ts";

const days = 2;
const perCommand = limits.retention_messages_per_command;

interface Prepared {
  readonly folder: string;
  /** Contents of the messages that must stay, ascending by id. */
  readonly young: readonly string[];
}

/**
 * A realm that keeps messages for two days, as a crash leaves it when many of them have expired and none has been
 * removed.
 */
async function prepared(t: Teardown, old: number): Promise<Prepared> {
  const bench = await openNewRealm(t);
  await createUsers(bench, 2);
  const post = (index: number) => bench.ask(commands.post(`t${index % 3}`, `old ${index}`));
  const whisper = (index: number) => bench.ask(commands.direct([ownerId, 3], `old ${index}`));
  await Promise.all(Array.from({ length: old }, (_, index) => (index % 4 === 0 ? whisper(index) : post(index))));
  bench.clock.jump(1);
  answerOf(await bench.ask(commands.post("t1", "young post")));
  answerOf(await bench.ask(commands.direct([ownerId, 4], "young whisper")));
  const { realm } = bench.realm.view;
  bench.lmdb.transaction(() => {
    bench.lmdb.put("realm", "realm", { ...realm, settings: { message_retention_days: days } });
  });
  return { folder: crashImage(t, bench.folder), young: ["young post", "young whisper"] };
}

/** When all messages except the young ones have expired. */
const dueAt = startedAt + days * dayMs + 1;

function contents(opened: OpenRealm): string[] {
  return rowsOf(opened.lmdb, "messages").map(({ content }) => content);
}

function retention(opened: OpenRealm): SnapshotRecord | undefined {
  return opened.lmdb.get("snapshots", "retention");
}

function contextOf(opened: OpenRealm): RetentionContext {
  // actors/kinds.ts defines the form of this machine's snapshot.
  return (retention(opened)?.context ?? initialRetention) as RetentionContext;
}

t.test("[M3, M8] a sweep that crashes at any turn loses nothing and does nothing twice", async (t) => {
  const { folder, young } = await prepared(t, 2 * perCommand + 10);
  const opened = new OpenRealm(t, { folder, clock: new SlowClock(dueAt) });
  const images = await crashesUntil(t, folder, () => retention(opened)?.state === "waiting", 200);
  t.ok(images.length > 10, `it took ${images.length} turns`);
  for (const image of images.filter((_, index) => index % 3 === 0)) {
    const again = new OpenRealm(t, { folder: image, clock: new SlowClock(dueAt) });
    await again.idle();
    t.strictSame(contents(again), young);
    t.equal(again.lmdb.count("conversationMessages"), young.length);
    t.equal(again.lmdb.count("channelMessages"), 1);
    t.equal(again.lmdb.count("conversations"), 2);
    t.equal(again.realm.view.channels.get(generalId)?.firstMessageId, rowsOf(again.lmdb, "messages")[0]?.id);
    t.match(retention(again), { state: "waiting", context: { round: null, dueAt: Number } });
    const deleted = bodiesOf(rowsOf(again.lmdb, "events"), "delete_message");
    const ids = deleted.flatMap(({ message_ids: removed }) => removed);
    t.equal(ids.length, 2 * perCommand + 10, "each receives its event");
    t.equal(new Set(ids).size, ids.length, "once");
    t.strictSame(again.bugs, []);
    t.strictSame(again.snapshot(), again.rebuilt());
  }
});

t.test("[M7] a post during a sweep waits for the commands before it, not for the end of the sweep", async (t) => {
  const { folder, young } = await prepared(t, 10 * perCommand);
  const opened = new OpenRealm(t, { folder, clock: new SlowClock(dueAt) });
  const turnsOf = async (pending: Promise<unknown>) => {
    let isAnswered = false;
    void pending.then(() => {
      isAnswered = true;
    });
    let turns = 0;
    for (; !isAnswered; turns++) await turn();
    return turns;
  };
  for (let turns = 0; turns < 5; turns++) await turn();
  const waited = await turnsOf(opened.ask(commands.post("t1", "meanwhile")));
  const leftThen = contents(opened).length;
  t.ok(leftThen > 5 * perCommand, `${leftThen} were left when it was answered`);
  t.ok(waited < 12, `${waited} turns of one command each`);
  await opened.idle();
  t.strictSame(contents(opened), [...young, "meanwhile"]);
});

t.test("[M8] a new round does not walk all messages again: it continues where the last one ended", async (t) => {
  const { folder, young } = await prepared(t, 40);
  const opened = new OpenRealm(t, { folder, clock: new SlowClock(dueAt) });
  await opened.idle();
  t.strictSame(contents(opened), young);
  const before = contextOf(opened).directFloorId;
  t.ok(before >= 40 - 3, `${before}`);
  await opened.realm.close();
  const again = new OpenRealm(t, { folder, clock: new SlowClock(dueAt + dayMs) });
  await again.idle();
  t.strictSame(contents(again), []);
  const after = contextOf(again).directFloorId;
  t.equal(after, 42);
});

t.test("[M8] the next round has a timer within an hour to a day; an earlier timer is ignored", async (t) => {
  const { folder } = await prepared(t, 4);
  const opened = new OpenRealm(t, { folder, clock: new SlowClock(startedAt) });
  await opened.idle();
  const due = () => contextOf(opened).dueAt;
  // The turn before was one millisecond later, and time never decreases.
  t.equal(due(), startedAt + 1 + limits.retention_pause_ms_max, "nothing is due earlier: once a day");
  opened.clock.jump(days * dayMs - limits.retention_pause_ms_min / 2);
  await opened.idle();
  t.equal(due(), dueAt - 1 + limits.retention_pause_ms_min / 2, "due in half an hour: runs after an hour");
  // Opened twice, checked twice, with two timers: only the last one counts.
  await opened.ask(command({ actor: "retention" }, "retention.check", {}, null));
  await opened.idle();
  const counting = due();
  opened.clock.jump(limits.retention_pause_ms_min);
  await opened.idle();
  t.not(due(), counting);
  t.equal(opened.lmdb.count("timers"), 1);
});

t.test("[M6] a slice that fails is abandoned, reported and retried in an hour; nothing else is affected", async (t) => {
  const { folder } = await prepared(t, 4);
  const opened = new OpenRealm(t, { folder, clock: new SlowClock(startedAt) });
  await opened.idle();
  const [first] = rowsOf(opened.lmdb, "messages").filter(({ conversationId }) => {
    return opened.lmdb.get("conversations", conversationId)?.channelId !== null;
  });
  if (first === undefined) throw new Error("no message");
  opened.lmdb.transaction(() => opened.lmdb.remove("messages", first.id));
  opened.realm.dispatcher.view.cache.apply({ table: "messages", key: first.id, row: null });
  opened.clock.jump(dueAt - startedAt);
  await opened.idle();
  t.equal(opened.bugs.length, limits.mailbox_attempts_max);
  t.match(rowsOf(opened.lmdb, "deadLetters"), [{ command: { type: "retention.sweep" } }]);
  t.match(retention(opened), { state: "waiting", context: { dueAt: dueAt + limits.retention_pause_ms_min } });
  opened.lmdb.transaction(() => opened.lmdb.put("messages", first.id, first));
  opened.realm.dispatcher.view.cache.apply({ table: "messages", key: first.id, row: first });
  opened.clock.jump(limits.retention_pause_ms_min);
  await opened.idle();
  t.strictSame(contents(opened), []);
});
