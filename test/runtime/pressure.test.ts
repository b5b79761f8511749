/**
 * A realm under pressure: a full disk (M5), work that is larger than a turn (S3; architecture, The path of a write, 6), a
 * shutdown in the middle of it (start-up contract), a log that grows (architecture, Event log).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { CommandRunner } from "../../src/runtime/command-runner.ts";
import type { Entry } from "../../src/runtime/entry.ts";
import { IdempotencyKeys } from "../../src/runtime/idempotency.ts";
import { Tickets } from "../../src/runtime/tickets.ts";
import type { Environment } from "../../src/store/environment.ts";
import { auditRealm } from "../support/audit.ts";
import {
  answerOf,
  codeOf,
  commands,
  crashImage,
  makePeople,
  OpenRealm,
  openFounded,
  ownerId,
  SlowClock,
  startedAt,
  turn,
} from "../support/runtime.ts";

t.test(
  "[M5] on a full disk writes are refused and volatile commands and reads go on; space brings writes back",
  async (t) => {
    let mayWrite = true;
    const bench = await openFounded(t, { acceptsWrites: () => mayWrite });
    const id = answerOf(await bench.ask(commands.post("a", "before")))["id"] as number;
    // Accepted, and then the disk fills up before its turn.
    const caught = bench.ask(commands.post("a", "caught"));
    mayWrite = false;
    t.equal(codeOf(await caught), "STORE_REFUSES_WRITES");
    for (const asked of [
      commands.post("a", "x"),
      commands.createUser("x@example.com"),
      commands.register(ownerId, "q"),
    ]) {
      t.equal(codeOf(await bench.ask(asked)), "STORE_REFUSES_WRITES", asked.type);
    }
    t.equal(codeOf(await bench.ask(commands.typing("start", "a"))), "ok");
    t.equal(codeOf(await bench.ask(commands.report(ownerId, "active"))), "ok");
    t.equal(bench.realm.view.row("messages", id)?.content, "before");
    t.equal(bench.environment.count("messages"), 1);
    mayWrite = true;
    t.equal(codeOf(await bench.ask(commands.post("a", "after"))), "ok");
    t.strictSame(auditRealm(bench.environment), []);
  },
);

t.test(
  "[M5] a write that the store fails ends the turn: it is no bug of a command, and nothing of the turn stays",
  async (t) => {
    const bench = await openFounded(t);
    const { dispatcher, environment, projections } = bench.realm;
    const { view } = dispatcher;
    let writes = 0;
    const failing: Environment = {
      ...environment,
      isWriting: true,
      write(row) {
        writes++;
        if (writes > 2) throw new Error("input/output error");
        environment.write(row);
      },
    };
    const runner = new CommandRunner({
      environment: failing,
      projections,
      view,
      turn: dispatcher.ledger.turn,
      keys: new IdempotencyKeys(environment),
      tickets: new Tickets(dispatcher.wheel),
    });
    const entry: Entry = { command: commands.post("a", "half"), source: { kind: "asked" }, settle: null, claim: null };
    t.throws(() => environment.transaction(() => runner.run(entry)), { message: "the store failed to write" });
    t.equal(writes, 3, "some rows were written before");
    t.equal(environment.count("messages"), 0);
    t.strictSame(auditRealm(environment), []);
  },
);

t.test(
  "[M5, M7] what the server itself wants to write waits for space, and goes before what comes later",
  async (t) => {
    let mayWrite = true;
    const bench = await openFounded(t, { acceptsWrites: () => mayWrite });
    bench.realm.dispatcher.tell(commands.createUser("early@example.com"));
    mayWrite = false;
    await turn();
    t.equal(bench.realm.view.users.size, 2);
    mayWrite = true;
    const late = answerOf(await bench.ask(commands.createUser("late@example.com")))["user_id"] as number;
    await bench.idle();
    const early = bench.realm.view.users.byEmail("early@example.com")?.id ?? Number.POSITIVE_INFINITY;
    t.ok(early < late, `${early} before ${late}`);
    mayWrite = false;
    bench.realm.dispatcher.tell(commands.createUser("third@example.com"));
    await turn();
    mayWrite = true;
    bench.clock.advance(2000);
    await bench.idle();
    t.ok(bench.realm.view.users.byEmail("third@example.com"), "nobody has to ask for it");
  },
);

t.test("[start-up contract] a realm closes on a full disk, too", async (t) => {
  let mayWrite = true;
  const bench = await openFounded(t, { acceptsWrites: () => mayWrite });
  await bench.ask(commands.report(ownerId, "active"));
  const caught = bench.ask(commands.post("a", "caught"));
  mayWrite = false;
  bench.realm.dispatcher.tell(commands.createUser("x@example.com"));
  let isClosed = false;
  const closing = bench.realm.dispatcher.close().then(() => {
    isClosed = true;
  });
  for (let turns = 0; turns < 10; turns++) await turn();
  t.ok(isClosed);
  t.equal(codeOf(await caught), "STORE_REFUSES_WRITES");
  await closing;
});

t.test(
  "[start-up contract] a realm closes in the middle of a long deletion: it is refused, parked, and goes on later",
  async (t) => {
    const bench = await openFounded(t, { clock: new SlowClock(startedAt) });
    const count = 5 * limits.topic_deletion_batch_messages;
    await Promise.all(Array.from({ length: count }, (_, index) => bench.ask(commands.post("old", `m${index}`))));
    const asked = bench.ask(commands.deleteTopic("old", Number.MAX_SAFE_INTEGER));
    const posted = bench.ask(commands.post("new", "in flight"));
    await turn();
    await turn();
    await bench.realm.dispatcher.close();
    t.equal(codeOf(await asked), "SERVER_SHUTTING_DOWN");
    t.equal(codeOf(await posted), "ok", "what was in flight is finished");
    t.equal(codeOf(await bench.ask(commands.post("new", "too late"))), "SERVER_SHUTTING_DOWN");
    const left = bench.environment.count("messages");
    t.ok(left > limits.topic_deletion_batch_messages, `${left} messages are left`);
    const opened = new OpenRealm(t, { folder: crashImage(t, bench.folder) });
    await opened.idle();
    t.strictSame(auditRealm(opened.environment), []);
    t.strictSame(await opened.ask(commands.deleteTopic("old", Number.MAX_SAFE_INTEGER)), {
      kind: "ok",
      answer: { complete: true },
    });
    t.equal(opened.environment.count("messages"), 1);
  },
);

t.test("[architecture, The path of a write] others are served between the parts of large changes", async (t) => {
  const founded = await openFounded(t);
  const people = await makePeople(founded, 4 * limits.subscribers_per_command_max);
  await founded.ask(commands.createChannel("crowd", [ownerId]));
  await Promise.all(
    Array.from({ length: 4 * limits.topic_deletion_batch_messages }, (_, index) =>
      founded.ask(commands.post("old", `m${index}`)),
    ),
  );
  const large = [
    commands.createChannel("all", people),
    commands.subscribe(["crowd"], people),
    commands.unsubscribe(["crowd"], people),
    commands.deleteTopic("old", Number.MAX_SAFE_INTEGER),
  ];
  const bench = founded.crash(t, { clock: new SlowClock(startedAt) });
  for (const asked of large) {
    const order: string[] = [];
    const done = bench.ask(asked).then((result) => {
      answerOf(result);
      order.push(asked.type);
    });
    await turn();
    await turn();
    await bench.ask(commands.post("others", "me, too")).then(() => order.push("others"));
    await done;
    t.strictSame(order, ["others", asked.type], asked.type);
    t.ok(bench.realm.dispatcher.lineLength < 10, "and the line stays short");
    await bench.idle();
  }
  const most = Math.max(...bench.recorder.changes);
  // Each message that is deleted has a few rows.
  const rowsMax = Math.max(limits.subscribers_per_command_max, 4 * limits.topic_deletion_batch_messages);
  t.ok(most <= rowsMax, `${most} rows in one command`);
  t.strictSame(auditRealm(bench.environment), []);
  t.strictSame(bench.picture(), bench.rebuilt());
});

t.test("[S3] a request over more people and channels than subscribers_per_request_max is refused whole", async (t) => {
  const bench = await openFounded(t);
  const people = await makePeople(bench, 20);
  const channels = Array.from({ length: limits.subscribers_per_request_max / 20 + 1 }, (_, index) => `c${index}`);
  t.equal(codeOf(await bench.ask(commands.subscribe(channels, people))), "BAD_REQUEST");
  t.equal(codeOf(await bench.ask(commands.unsubscribe(channels, people))), "BAD_REQUEST");
  t.equal(bench.realm.view.channels.size, 1);
});

t.test("[S3] a command that would write more than turn_bytes_max is refused alone", async (t) => {
  const bench = await openFounded(t);
  const asked = commands.post("a", "x");
  const content = "x".repeat(limits.turn_bytes_max);
  const result = await bench.ask({ ...asked, params: { ...asked.params, content } });
  t.equal(codeOf(result), "INTERNAL_SERVER_ERROR");
  t.equal(bench.environment.count("messages"), 0);
  t.equal(codeOf(await bench.ask(commands.post("a", "y"))), "ok");
});

t.test(
  "[architecture, Event log] pruning keeps up: what is too old goes without waiting for the next minute",
  async (t) => {
    const bench = await openFounded(t);
    const count = 2 * limits.event_log_prune_rows_max + 1;
    for (let posted = 0; posted < count; posted += 1000) {
      const batch = Array.from({ length: Math.min(1000, count - posted) }, () => bench.ask(commands.post("a", "hi")));
      await Promise.all(batch);
    }
    t.ok(bench.environment.count("events") >= count);
    bench.clock.jump(limits.event_log_kept_ms_max);
    bench.clock.advance(62_000);
    t.equal(bench.environment.count("events"), 0);
    t.equal(bench.realm.dispatcher.ledger.eventBytes, 0, "its size is known to the byte");
    t.ok(bench.realm.log.startsAt > count);
    const opened = bench.crash(t);
    t.equal(opened.realm.log.startsAt, bench.realm.log.startsAt, "a restart knows where the log begins");
    t.equal(opened.realm.dispatcher.ledger.eventBytes, 0);
  },
);
