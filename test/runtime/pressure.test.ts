/**
 * A realm under pressure: a full disk (M5), work larger than a turn (S3; architecture, The path of a write, 6), a
 * shutdown in the middle of it (start-up contract), a growing log (architecture, Event log).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { CommandRunner } from "../../src/runtime/command-runner.ts";
import { IdempotencyKeys } from "../../src/runtime/idempotency.ts";
import type { QueuedCommand } from "../../src/runtime/queued-command.ts";
import { DeferredReplies } from "../../src/runtime/replies.ts";
import type { Lmdb } from "../../src/store/lmdb.ts";
import { auditRealm } from "../support/audit.ts";
import {
  answerOf,
  codeOf,
  commands,
  crashImage,
  createUsers,
  OpenRealm,
  openNewRealm,
  ownerId,
  SlowClock,
  startedAt,
  turn,
} from "../support/runtime.ts";

t.test(
  "[M5] on a full disk writes are rejected while reads and volatile commands work; writes work again when space returns",
  async (t) => {
    let mayWrite = true;
    const bench = await openNewRealm(t, { acceptsWrites: () => mayWrite });
    const id = answerOf(await bench.ask(commands.post("a", "before")))["id"] as number;
    // Accepted before the disk is full, decided afterwards.
    const caught = bench.ask(commands.post("a", "caught"));
    mayWrite = false;
    t.equal(codeOf(await caught), "STORE_REFUSES_WRITES");
    for (const command of [
      commands.post("a", "x"),
      commands.createUser("x@example.com"),
      commands.register(ownerId, "q"),
    ]) {
      t.equal(codeOf(await bench.ask(command)), "STORE_REFUSES_WRITES", command.type);
    }
    t.equal(codeOf(await bench.ask(commands.typing("start", "a"))), "ok");
    t.equal(codeOf(await bench.ask(commands.report(ownerId, "active"))), "ok");
    t.equal(bench.realm.view.row("messages", id)?.content, "before");
    t.equal(bench.lmdb.count("messages"), 1);
    mayWrite = true;
    t.equal(codeOf(await bench.ask(commands.post("a", "after"))), "ok");
    t.strictSame(auditRealm(bench.lmdb), []);
  },
);

t.test(
  "[M5] a write error of the store ends the turn without counting as a command's failure, and nothing of the turn is kept",
  async (t) => {
    const bench = await openNewRealm(t);
    const { dispatcher, lmdb, projections } = bench.realm;
    const { view } = dispatcher;
    let writes = 0;
    const failing: Lmdb = {
      ...lmdb,
      isWriting: true,
      write(row) {
        writes++;
        if (writes > 2) throw new Error("input/output error");
        lmdb.write(row);
      },
    };
    const runner = new CommandRunner({
      lmdb: failing,
      projections,
      view,
      turn: dispatcher.realmCounters.turn,
      keys: new IdempotencyKeys(lmdb),
      deferredReplies: new DeferredReplies(dispatcher.volatileTimers),
    });
    const queued: QueuedCommand = {
      command: commands.post("a", "half"),
      source: { kind: "requested" },
      resolve: null,
      idempotencyKey: null,
    };
    t.throws(() => lmdb.transaction(() => runner.run(queued)), { message: "the store could not write" });
    t.equal(writes, 3, "some rows were written before the error");
    t.equal(lmdb.count("messages"), 0);
    t.strictSame(auditRealm(lmdb), []);
  },
);

t.test("[M5, M7] the server's own writes wait for space, and run before later commands", async (t) => {
  let mayWrite = true;
  const bench = await openNewRealm(t, { acceptsWrites: () => mayWrite });
  bench.realm.dispatcher.send(commands.createUser("early@example.com"));
  mayWrite = false;
  await turn();
  t.equal(bench.realm.view.users.size, 2);
  mayWrite = true;
  const late = answerOf(await bench.ask(commands.createUser("late@example.com")))["user_id"] as number;
  await bench.idle();
  const early = bench.realm.view.users.byEmail("early@example.com")?.id ?? Number.POSITIVE_INFINITY;
  t.ok(early < late, `${early} before ${late}`);
  mayWrite = false;
  bench.realm.dispatcher.send(commands.createUser("third@example.com"));
  await turn();
  mayWrite = true;
  bench.clock.advance(2000);
  await bench.idle();
  t.ok(bench.realm.view.users.byEmail("third@example.com"), "without any request");
});

t.test("[M5, S3] the server's own writes that waited for space on the disk wait for the stores, too", async (t) => {
  let mayWrite = true;
  const bench = await openNewRealm(t, { acceptsWrites: () => mayWrite });
  for (const isFollowed of [false, true]) {
    const name = isFollowed ? "second" : "first";
    const isThere = () => bench.realm.view.users.byEmail(`${name}@example.com`) !== undefined;
    bench.realm.dispatcher.send(commands.createUser(`${name}@example.com`));
    mayWrite = false;
    await turn();
    const makeRoom = bench.fillRoom();
    mayWrite = true;
    bench.clock.advance(2000);
    await turn();
    t.notOk(isThere(), "there is space, but no room");
    t.equal(codeOf(await bench.ask(commands.typing(isFollowed ? "stop" : "start", "a"))), "ok");
    t.notOk(isThere(), "a volatile command does not take it along");
    const following = isFollowed ? bench.ask(commands.createUser("following@example.com")) : null;
    bench.clock.advance(2000);
    await turn();
    t.notOk(isThere(), "nor does the next look at the disk");
    makeRoom();
    if (!isFollowed) bench.clock.advance(2000);
    await following;
    await bench.idle();
    t.ok(isThere(), "it runs when there is room");
  }
  const { users } = bench.realm.view;
  const ids = ["first", "second", "following"].map((name) => users.byEmail(`${name}@example.com`)?.id ?? 0);
  t.strictSame(
    ids,
    ids.toSorted((a, b) => a - b),
    "in the order in which they were accepted",
  );
});

t.test("a realm can be closed while the disk is full", async (t) => {
  let mayWrite = true;
  const bench = await openNewRealm(t, { acceptsWrites: () => mayWrite });
  await bench.ask(commands.report(ownerId, "active"));
  const caught = bench.ask(commands.post("a", "caught"));
  mayWrite = false;
  bench.realm.dispatcher.send(commands.createUser("x@example.com"));
  let isClosed = false;
  const closing = bench.realm.dispatcher.close().then(() => {
    isClosed = true;
  });
  for (let turns = 0; turns < 10; turns++) await turn();
  t.ok(isClosed);
  t.equal(codeOf(await caught), "STORE_REFUSES_WRITES");
  await closing;
});

t.test("closing a realm during a long deletion parks the deletion, and a repeat completes it", async (t) => {
  const bench = await openNewRealm(t, { clock: new SlowClock(startedAt) });
  const count = 5 * limits.topic_deletion_batch_messages;
  await Promise.all(Array.from({ length: count }, (_, index) => bench.ask(commands.post("old", `m${index}`))));
  const pending = bench.ask(commands.deleteTopic("old", Number.MAX_SAFE_INTEGER));
  const posted = bench.ask(commands.post("new", "in flight"));
  await turn();
  await turn();
  await bench.realm.dispatcher.close();
  t.equal(codeOf(await pending), "SERVER_SHUTTING_DOWN");
  t.equal(codeOf(await posted), "ok", "in-flight work is completed");
  t.equal(codeOf(await bench.ask(commands.post("new", "too late"))), "SERVER_SHUTTING_DOWN");
  const left = bench.lmdb.count("messages");
  t.ok(left > limits.topic_deletion_batch_messages, `${left} messages are left`);
  const opened = new OpenRealm(t, { folder: crashImage(t, bench.folder) });
  await opened.idle();
  t.strictSame(auditRealm(opened.lmdb), []);
  t.strictSame(await opened.ask(commands.deleteTopic("old", Number.MAX_SAFE_INTEGER)), {
    kind: "ok",
    answer: { complete: true },
  });
  t.equal(opened.lmdb.count("messages"), 1);
});

t.test("other commands run between the parts of large changes", async (t) => {
  const created = await openNewRealm(t);
  const people = await createUsers(created, 4 * limits.subscribers_per_command_max);
  await created.ask(commands.createChannel("crowd", [ownerId]));
  await Promise.all(
    Array.from({ length: 4 * limits.topic_deletion_batch_messages }, (_, index) =>
      created.ask(commands.post("old", `m${index}`)),
    ),
  );
  const large = [
    commands.createChannel("all", people),
    commands.subscribe(["crowd"], people),
    commands.unsubscribe(["crowd"], people),
    commands.deleteTopic("old", Number.MAX_SAFE_INTEGER),
  ];
  const bench = created.crash(t, { clock: new SlowClock(startedAt) });
  for (const command of large) {
    const order: string[] = [];
    const done = bench.ask(command).then((result) => {
      answerOf(result);
      order.push(command.type);
    });
    await turn();
    await turn();
    await bench.ask(commands.post("others", "me, too")).then(() => order.push("others"));
    await done;
    t.strictSame(order, ["others", command.type], command.type);
    t.ok(bench.realm.dispatcher.queueLength < 10, "and the command queue stays short");
    await bench.idle();
  }
  const most = Math.max(...bench.recorder.changes);
  // Each deleted message has a few rows.
  const rowsMax = Math.max(limits.subscribers_per_command_max, 4 * limits.topic_deletion_batch_messages);
  t.ok(most <= rowsMax, `${most} rows in one command`);
  t.strictSame(auditRealm(bench.lmdb), []);
  t.strictSame(bench.snapshot(), bench.rebuilt());
});

t.test("[S3] a request for more users and channels than subscribers_per_request_max is rejected whole", async (t) => {
  const bench = await openNewRealm(t);
  const people = await createUsers(bench, 20);
  const channels = Array.from({ length: limits.subscribers_per_request_max / 20 + 1 }, (_, index) => `c${index}`);
  t.equal(codeOf(await bench.ask(commands.subscribe(channels, people))), "BAD_REQUEST");
  t.equal(codeOf(await bench.ask(commands.unsubscribe(channels, people))), "BAD_REQUEST");
  t.equal(bench.realm.view.channels.size, 1);
});

t.test("[S3] a command that would write more than turn_bytes_max is rejected alone", async (t) => {
  const bench = await openNewRealm(t);
  const command = commands.post("a", "x");
  const content = "x".repeat(limits.turn_bytes_max);
  const result = await bench.ask({ ...command, params: { ...command.params, content } });
  t.equal(codeOf(result), "INTERNAL_SERVER_ERROR");
  t.equal(bench.lmdb.count("messages"), 0);
  t.equal(codeOf(await bench.ask(commands.post("a", "y"))), "ok");
});

t.test("pruning keeps up: old rows are removed without waiting for the next minute", async (t) => {
  const bench = await openNewRealm(t);
  const count = 2 * limits.event_log_prune_rows_max + 1;
  for (let posted = 0; posted < count; posted += 1000) {
    const batch = Array.from({ length: Math.min(1000, count - posted) }, () => bench.ask(commands.post("a", "hi")));
    await Promise.all(batch);
  }
  t.ok(bench.lmdb.count("events") >= count);
  bench.clock.jump(limits.event_log_kept_ms_max);
  bench.clock.advance(62_000);
  t.equal(bench.lmdb.count("events"), 0);
  t.equal(bench.realm.dispatcher.realmCounters.eventBytes, 0, "its size is exact to the byte");
  t.ok(bench.realm.log.startsAt > count);
  const opened = bench.crash(t);
  t.equal(opened.realm.log.startsAt, bench.realm.log.startsAt, "a restart knows where the log starts");
  t.equal(opened.realm.dispatcher.realmCounters.eventBytes, 0);
});
