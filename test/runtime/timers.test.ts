/**
 * Durable timers fire once, late if necessary, whatever happens in between (M8); volatile ones fire once, and can be
 * reset and cancelled. A realm that is not open is opened when one of its timers is due.
 */
import { cpSync, renameSync, rmSync, writeFileSync } from "node:fs";
import t from "tap";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { realmFolder } from "../../src/runtime/realm-host.ts";
import { VolatileTimers } from "../../src/runtime/volatile-timers.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { hostOfTwo, openFolders, startHost } from "../support/realm-host.ts";
import {
  codeOf,
  commands,
  crashImage,
  OpenRealm,
  openNewRealm,
  rowsOf,
  SlowClock,
  startedAt,
  turn,
} from "../support/runtime.ts";
import { scheduledCommands } from "../support/scheduled-commands.ts";
import type { Teardown } from "../support/server.ts";
import { crashesUntil } from "../support/turns.ts";

interface Alarm {
  readonly dueAt: number;
  readonly content: string;
}

/** The folder of a realm in which these messages wait for their time. */
async function withTimers(t: Teardown, alarms: readonly Alarm[], what = messageTimer): Promise<string> {
  const created = await openNewRealm(t);
  const folder = crashImage(t, created.folder);
  const lmdb = openLmdb(folder);
  lmdb.transaction(() => {
    alarms.forEach(({ dueAt, content }, index) => {
      const sequence = 1000 + index;
      lmdb.put("timers", [dueAt, sequence], { dueAt, sequence, command: what(content) });
    });
  });
  await lmdb.close();
  return folder;
}

function messageTimer(content: string): Command {
  return commands.post("timers", content, 1);
}

function contents(opened: OpenRealm): string[] {
  return rowsOf(opened.lmdb, "messages").map(({ content }) => content);
}

t.test(
  "[M8] timers due while no process ran fire late but once, in order, also after a crash at any turn",
  async (t) => {
    const folder = await withTimers(t, [
      { dueAt: startedAt - 10, content: "second" },
      { dueAt: startedAt - 1000, content: "first" },
      { dueAt: startedAt - 10, content: "third" },
    ]);
    const opened = new OpenRealm(t, { folder, clock: new SlowClock(startedAt) });
    const images = await crashesUntil(t, folder, () => opened.lmdb.count("timers") === 0, 20);
    t.ok(images.length >= 3, "they took several turns");
    for (const image of images) {
      const again = new OpenRealm(t, { folder: image });
      await again.idle();
      t.strictSame(contents(again), ["first", "second", "third"]);
      t.equal(again.lmdb.count("timers"), 0);
    }
  },
);

t.test("[M8] a timer fires at its time without a request, also beyond the longest sleep", async (t) => {
  const later = 3 * limits.timer_sleep_ms_max + 5000;
  const folder = await withTimers(t, [
    { dueAt: startedAt + later, content: "later" },
    { dueAt: startedAt + 5500, content: "next" },
    { dueAt: startedAt + 5000, content: "soon" },
  ]);
  const opened = new OpenRealm(t, { folder });
  const seenAfter = async (milliseconds: number) => {
    opened.clock.advance(milliseconds);
    await opened.idle();
    return contents(opened);
  };
  t.equal(opened.realm.dispatcher.nextDueAt, startedAt + 5000);
  t.strictSame(await seenAfter(4999), []);
  t.strictSame(await seenAfter(1), ["soon"]);
  t.equal(opened.realm.dispatcher.nextDueAt, startedAt + 5500);
  t.strictSame(await seenAfter(499), ["soon"]);
  t.strictSame(await seenAfter(1), ["soon", "next"]);
  t.strictSame(await seenAfter(later - 5501), ["soon", "next"]);
  t.strictSame(await seenAfter(1), ["soon", "next", "later"]);
  t.equal(opened.realm.dispatcher.nextDueAt, null);
});

t.test("[M8, S3] more timers than are read at once all fire", async (t) => {
  const alarms = Array.from({ length: 350 }, (_, index) => ({ dueAt: startedAt - 400 + index, content: `m${index}` }));
  const opened = new OpenRealm(t, { folder: await withTimers(t, alarms) });
  for (let rounds = 0; rounds < 10; rounds++) {
    await opened.idle();
    opened.clock.advance(1);
  }
  t.strictSame(
    contents(opened),
    alarms.map(({ content }) => content),
  );
});

t.test(
  "[M8] if more timers are due than are read at once, all fire without delay, and those that they set",
  async (t) => {
    const alarms = Array.from({ length: 150 }, (_, index) => ({
      dueAt: startedAt - 400 + index,
      content: `m${index}`,
    }));
    const later = scheduledCommands.schedule("later", startedAt + limits.timer_sleep_ms_max / 2);
    const folder = await withTimers(t, alarms, (content) => (content === "m0" ? later : messageTimer(content)));
    const opened = new OpenRealm(t, { folder });
    for (let rounds = 0; rounds < 10; rounds++) {
      await opened.idle();
      opened.clock.advance(1);
    }
    t.equal(contents(opened).length, alarms.length - 1);
  },
);

t.test("[M6, M8] a timer whose command throws is a dead letter after three attempts; the others fire", async (t) => {
  const folder = await withTimers(
    t,
    [
      { dueAt: startedAt - 2, content: "throws" },
      { dueAt: startedAt - 1, content: "fine" },
    ],
    (content) => (content === "throws" ? commands.throwing() : messageTimer(content)),
  );
  const opened = new OpenRealm(t, { folder });
  await opened.idle();
  t.equal(opened.bugs.length, limits.mailbox_attempts_max);
  t.equal(opened.lmdb.count("deadLetters"), 1);
  t.equal(opened.lmdb.count("timers"), 0);
  t.strictSame(contents(opened), ["fine"]);
});

t.test("[M5, M8] timers wait while the disk is full, and the realm's hint is still due", async (t) => {
  let mayWrite = false;
  const folder = await withTimers(t, [{ dueAt: startedAt - 1, content: "waits" }]);
  const opened = new OpenRealm(t, { folder, acceptsWrites: () => mayWrite });
  await turn();
  await turn();
  t.strictSame(contents(opened), []);
  t.ok((opened.realm.dispatcher.nextDueAt ?? Number.POSITIVE_INFINITY) <= startedAt, "the hint in the root database");
  mayWrite = true;
  opened.clock.advance(2000);
  await opened.idle();
  t.strictSame(contents(opened), ["waits"]);
});

/** Two realms, the second with these timers. */
async function hostWith(
  t: Teardown,
  alarms: readonly Alarm[],
  dueHint: number | null,
  clock: ManualClock,
  takesHints?: () => boolean,
) {
  const folders = [await withTimers(t, []), await withTimers(t, alarms)] as const;
  return hostOfTwo(t, { folders, dueHint, clock, ...(takesHints === undefined ? {} : { takesHints }) });
}

t.test("[M8] a realm that is not open is opened when its hint falls due, without any request", async (t) => {
  const clock = new ManualClock(startedAt);
  const alarms = [{ dueAt: startedAt + 90_000, content: "ring" }];
  const { host } = await hostWith(t, alarms, startedAt + 90_000, clock);
  t.equal(openFolders(host), 1, "only the default realm at first");
  clock.advance(89_000);
  t.equal(openFolders(host), 1);
  clock.advance(1000 + limits.timer_sleep_ms_max);
  t.equal(openFolders(host), 2);
});

t.test("[M3, M8] after a crash, open realms are opened again: their hints are early, never late", async (t) => {
  const clock = new ManualClock(startedAt);
  const { host, root } = await hostWith(t, [{ dueAt: startedAt + 90_000, content: "ring" }], null, clock);
  const second = host.realmOf("two.example.com");
  t.equal(codeOf(await second.dispatcher.ask(commands.post("a", "hi"))), "ok");
  const hint = root.realms().find(({ id }) => id === 2)?.dueHint ?? Number.POSITIVE_INFINITY;
  t.ok(hint <= startedAt + 90_000, "what the root database contains if the process dies now");
});

t.test("[M8] after a crash many realms are opened in slices, and requests are served in between", async (t) => {
  /** Opening takes time. */
  class BusyClock extends ManualClock {
    override now(): number {
      this.slip(limits.realms_opened_ms / 5);
      return super.now();
    }
  }
  const clock = new BusyClock(startedAt);
  const folder = await withTimers(t, []);
  const { root, close, dataDir } = hostOfTwo(t, { folders: [folder, folder], dueHint: null, clock });
  await close();
  for (let id = 2; id <= 12; id++) {
    cpSync(realmFolder(dataDir, 1), realmFolder(dataDir, id), { recursive: true });
    root.putRealm({ id, label: `r${id}`, hosts: [], createdAt: 0, dueHint: 0 });
  }
  const started = startHost({ dataDir, root, clock });
  t.teardown(() => started.close());
  const atOnce = openFolders(started);
  t.ok(atOnce < 6, `${atOnce} are open`);
  t.equal(started.realmOf("r12.example.com").isClosed, false, "one that a request needs is opened at once");
  for (let pause = 0; pause < 12 && openFolders(started) < 12; pause++) clock.advance(limits.realms_opened_pause_ms);
  t.equal(openFolders(started), 12);
});

t.test("[M8] a clean close stores the time of the next timer, or none when there is none", async (t) => {
  const clock = new ManualClock(startedAt);
  const { host, root, close } = await hostWith(t, [{ dueAt: startedAt + 90_000, content: "ring" }], 0, clock);
  t.equal(openFolders(host), 2);
  await close();
  const dueHints = root.realms().map(({ dueHint }) => dueHint);
  t.strictSame(dueHints, [null, startedAt + 90_000]);
});

t.test("[M8] a realm that could not be opened when its hint fell due is retried without any request", async (t) => {
  const clock = new ManualClock(startedAt);
  const alarms = [{ dueAt: startedAt + 90_000, content: "ring" }];
  const { host, dataDir } = await hostWith(t, alarms, startedAt + 90_000, clock);
  const folder = realmFolder(dataDir, 2);
  renameSync(folder, `${folder}.away`);
  writeFileSync(folder, "");
  clock.advance(90_000 + limits.timer_sleep_ms_max);
  t.equal(openFolders(host), 1, "it cannot be opened");
  rmSync(folder);
  renameSync(`${folder}.away`, folder);
  clock.advance(limits.timer_sleep_ms_max);
  t.equal(openFolders(host), 2);
});

t.test("[M5, M8] a realm whose hint cannot be written on a full disk opens with the next request", async (t) => {
  let takesHints = true;
  const { host, wired } = await hostWith(t, [], null, new ManualClock(startedAt), () => takesHints);
  takesHints = false;
  t.throws(() => host.realmOf("two.example.com"), /Input\/output error/);
  t.equal(openFolders(host), 1);
  takesHints = true;
  const realm = host.realmOf("two.example.com");
  t.equal(codeOf(await realm.dispatcher.ask(commands.post("a", "hi"))), "ok");
  t.strictSame(wired, [1, 2], "the services of the realm were notified");
});

t.test("[M8] each volatile timer fires once, never early and at most a tick late", async (t) => {
  const clock = new ManualClock(startedAt);
  const volatileTimers = new VolatileTimers(clock);
  const fired: [string, number][] = [];
  for (const [name, ms] of Object.entries({ b: 250, a: 100, c: 251, z: 0 })) {
    volatileTimers.set(name, ms, () => fired.push([name, clock.monotonic()]));
  }
  for (let step = 0; step < 50; step++) clock.advance(10);
  t.strictSame(fired.map(([name]) => name).sort(), ["a", "b", "c", "z"]);
  for (const [name, at] of fired) {
    const due = { a: 100, b: 250, c: 251, z: 0 }[name] ?? 0;
    t.ok(at >= due && at <= due + 200, `${name} at ${at}`);
  }
  t.equal(fired.findIndex(([name]) => name === "a") < fired.findIndex(([name]) => name === "c"), true);
});

t.test("[M8] a volatile timer that is set again moves; a cancelled one does not fire, even when due", async (t) => {
  const clock = new ManualClock(startedAt);
  const volatileTimers = new VolatileTimers(clock);
  const fired: string[] = [];
  volatileTimers.set("moved", 100, () => fired.push("moved: old"));
  volatileTimers.set("moved", 500, () => fired.push("moved"));
  volatileTimers.set("first", 100, () => {
    fired.push("first");
    volatileTimers.cancel("cancelled");
    volatileTimers.set("again", 1000, () => fired.push("again"));
  });
  volatileTimers.set("cancelled", 100, () => fired.push("cancelled"));
  volatileTimers.set("again", 100, () => fired.push("again: old"));
  clock.advance(400);
  t.strictSame(fired, ["first"]);
  t.ok(volatileTimers.has("again") && volatileTimers.has("moved") && !volatileTimers.has("cancelled"));
  clock.advance(2000);
  t.strictSame(fired, ["first", "moved", "again"]);
  volatileTimers.set("never", 100, () => fired.push("never"));
  volatileTimers.stop();
  clock.advance(1000);
  t.equal(fired.length, 3);
});

t.test("[E4] volatile timers leave no rows, even when a durable turn has no time left for them", async (t) => {
  const bench = await openNewRealm(t, { clock: new SlowClock(startedAt) });
  await bench.ask(commands.typing("start", "a"));
  bench.clock.advance(limits.typing_expiry_ms + 1000);
  const posts = [bench.ask(commands.post("a", "1")), bench.ask(commands.post("a", "2"))];
  bench.realm.dispatcher.send(commands.idleTyping("x"));
  for (let turns = 0; turns < 20; turns++) {
    await turn();
    t.ok(
      rowsOf(bench.lmdb, "mailbox").every((row) => (row.command as Command).to.actor !== "typing"),
      "no volatile command in the mailbox",
    );
  }
  t.strictSame((await Promise.all(posts)).map(codeOf), ["ok", "ok"]);
  const stops = bench.recorder.published.filter(
    ({ record }) => record.type === "typing" && record.body["op"] === "stop",
  );
  t.equal(stops.length, 1, "the typist expired");
});

t.test("[E4] typing and presence write nothing to disk when they happen; presence follows in batches", async (t) => {
  const bench = await openNewRealm(t);
  const before = bench.lmdb.get("meta", "counters");
  bench.clock.advance(1000);
  await bench.ask(commands.typing("start", "a"));
  await bench.ask(commands.report(2, "active"));
  t.strictSame(bench.lmdb.get("meta", "counters"), before, "no turn was committed");
  t.equal(bench.lmdb.count("presence"), 0);
  bench.clock.advance(limits.batch_persist_ms + 200);
  await bench.idle();
  t.equal(bench.lmdb.count("presence"), 1);
  t.strictSame(bench.lmdb.get("presence", 2), bench.realm.view.presence(2));
  const received = command({ actor: "presence", userId: 2 }, "presence.lapse", {}, null);
  t.equal(codeOf(await bench.ask(received)), "ok");
});
