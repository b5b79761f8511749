/**
 * Turns (architecture M1, M2, M3, M6, M7) with a real environment, the real dispatcher and real actors. The slow clock
 * limits each turn to one command, so copies of the folder after every turn cover a crash at every possible point.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import type { RowOf } from "../../schemas/records.ts";
import type { Reply } from "../../src/runtime/results.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { auditRealm } from "../support/audit.ts";
import { bodiesOf } from "../support/logged-events.ts";
import {
  answerOf,
  codeOf,
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
import { crashesToAnswer } from "../support/turns.ts";

t.test("[M3] work beyond a turn's budget is in the mailbox, and is done once after a crash at any turn", async (t) => {
  const bench = await openNewRealm(t);
  const people = await createUsers(bench, 2 * limits.subscribers_per_command_max + 1);
  const slow = bench.crash(t, { clock: new SlowClock(startedAt) });
  const { images, result } = await crashesToAnswer(t, slow, slow.ask(commands.createChannel("crowd", people)));
  const channelId = answerOf(result)["id"] as number;
  t.ok(images.length > 4, "the subscription takes several turns");
  let spilled = 0;
  for (const folder of images) {
    const opened = new OpenRealm(t, { folder });
    spilled += opened.lmdb.count("mailbox");
    await opened.idle();
    t.equal(opened.lmdb.count("mailbox"), 0, "every mailbox row was processed");
    const isMade = opened.realm.view.channels.get(channelId) !== undefined;
    const joined = rowsOf(opened.lmdb, "subscriptions").filter((row) => row.channelId === channelId);
    t.equal(joined.length, isMade ? people.length : 0, "all users are subscribed, or the channel does not exist");
    t.ok(
      joined.every(({ periods }) => periods.length === 1),
      "nobody joined twice",
    );
    const received = rowsOf(opened.lmdb, "events").flatMap(({ type, body }) =>
      type === "subscription" && body["op"] === "peer_add" ? (body["user_ids"] as number[]) : [],
    );
    const announcedOthers = received.filter((id) => people.includes(id)).length - people.length;
    t.equal(
      announcedOthers,
      isMade ? people.length : 0,
      "each user is announced once (and once as a new account, in general)",
    );
    t.strictSame(opened.snapshot(), opened.rebuilt(), "memory equals the disk");
    t.strictSame(auditRealm(opened.lmdb), []);
    t.strictSame(opened.bugs, []);
  }
  t.ok(spilled > 0, "the mailbox was in use at some of the crashes");
});

t.test(
  "[M2, M3] a deletion that crashes at any turn stops at a batch boundary; when repeated it completes, and no id is announced twice",
  async (t) => {
    const created = await openNewRealm(t);
    const count = 2 * limits.topic_deletion_batch_messages + 1;
    const posts = Array.from({ length: count }, (_, index) => created.ask(commands.post("old", `m${index}`)));
    const ids = (await Promise.all(posts)).map((result) => answerOf(result)["id"] as number);
    await created.ask(commands.post("other", "stays"));
    const bench = created.crash(t, { clock: new SlowClock(startedAt) });
    const { images } = await crashesToAnswer(t, bench, bench.ask(commands.deleteTopic("old", startedAt + 50_000)));
    t.ok(images.length > 3, "the deletion takes several turns");
    for (const folder of images) {
      const opened = new OpenRealm(t, { folder });
      await opened.idle();
      t.strictSame(auditRealm(opened.lmdb), [], "at a batch boundary");
      const again = await opened.ask(commands.deleteTopic("old", startedAt + 50_000));
      await opened.idle();
      t.strictSame(again, { kind: "ok", answer: { complete: true } });
      t.equal(opened.lmdb.count("messages"), 1, "the other topic's message stays");
      t.strictSame(auditRealm(opened.lmdb), []);
      const changes = rowsOf(opened.lmdb, "events").filter(({ audience }) => audience.to !== "users");
      const received = bodiesOf(changes, "delete_message").flatMap(({ message_ids: removed }) => removed);
      const found = received.sort((a, b) => a - b);
      t.strictSame(found, ids);
    }
  },
);

t.test("[M1] the changes are on disk when an event is published and when a response is sent", async (t) => {
  const images: string[] = [];
  let staged = 0;
  const sink = {
    apply: () => undefined,
    stage: () => {
      staged++;
    },
    publish: () => {
      if (staged > 0) images.push(crashImage(t, bench.folder));
      staged = 0;
    },
  };
  const bench = await openNewRealm(t, { sink });
  let isAnswered = false;
  const pending = bench.ask(commands.post("a", "hi")).then(() => {
    isAnswered = true;
    images.push(crashImage(t, bench.folder));
  });
  t.notOk(isAnswered, "asking runs nothing");
  const before = new OpenRealm(t, { folder: crashImage(t, bench.folder) });
  t.equal(before.lmdb.count("messages"), 0);
  await pending;
  t.equal(images.length, 2, "published once, answered once");
  for (const folder of images) t.equal(new OpenRealm(t, { folder }).lmdb.count("messages"), 1);
});

t.test("[M6] a command that throws is rejected alone with 500; the rest of the turn is kept", async (t) => {
  const bench = await openNewRealm(t);
  const results = await Promise.all([
    bench.ask(commands.post("a", "one")),
    bench.ask(commands.throwing()),
    bench.ask(commands.halfWritten("a")),
    bench.ask(commands.halfWritten("never")),
    bench.ask(commands.post("a", "two")),
  ]);
  t.strictSame(results.map(codeOf), [
    "ok",
    "INTERNAL_SERVER_ERROR",
    "INTERNAL_SERVER_ERROR",
    "INTERNAL_SERVER_ERROR",
    "ok",
  ]);
  t.equal(bench.bugs.length, 3, "each is reported");
  const types = bench.bugs.map((bug) => bug.command?.type);
  t.strictSame(types, ["realm.create", "message.post", "message.post"]);
  t.strictSame(bench.fatalities, []);
  const [first, last] = [results[0], results[4]].map((result) => answerOf(result as Reply)["id"] as number);
  t.equal(last, (first ?? 0) + 1, "the rolled-back command took no id");
  for (const opened of [bench, bench.crash(t)]) {
    const contents = rowsOf(opened.lmdb, "messages").map(({ content }) => content);
    t.strictSame(contents, ["one", "two"]);
    t.equal(opened.lmdb.get("topicNames", [generalId, "never"]), undefined);
    t.strictSame(opened.snapshot(), opened.rebuilt());
    t.strictSame(auditRealm(opened.lmdb), []);
  }
  t.equal(codeOf(await bench.ask(commands.post("never", "now"))), "ok", "its actor has its earlier snapshot");
  t.strictSame(auditRealm(bench.lmdb), []);
});

t.test("[M6, M9] a command whose row no projection can read is rejected alone, and is not on disk", async (t) => {
  const bench = await openNewRealm(t);
  const good = commands.createUser("x@example.com");
  const bad = { ...good, params: { ...good.params, fullName: undefined as unknown as string } };
  t.equal(codeOf(await bench.ask(bad)), "INTERNAL_SERVER_ERROR");
  t.strictSame(bench.fatalities, []);
  for (const opened of [bench, bench.crash(t)]) {
    t.equal(opened.lmdb.count("users"), 2, "disk");
    t.strictSame(opened.snapshot(), opened.rebuilt());
  }
});

t.test("[M6] an event that cannot be encoded does not undo, fail or repeat its command", async (t) => {
  let isBroken = false;
  const sink = {
    apply: () => undefined,
    publish: () => undefined,
    stage: () => {
      if (isBroken) throw new Error("this event cannot be encoded");
    },
  };
  const bench = await openNewRealm(t, { sink });
  isBroken = true;
  const result = await bench.ask(commands.post("a", "hi"));
  isBroken = false;
  t.equal(codeOf(result), "ok", "it is on disk");
  t.equal(bench.lmdb.count("messages"), 1);
  t.equal(answerOf(await bench.ask(commands.post("a", "next")))["id"], (answerOf(result)["id"] as number) + 1);
  t.strictSame(auditRealm(bench.lmdb), [], "the actor's snapshot was committed with it");
  t.ok(bench.bugs.length > 0, "it is reported");
});

t.test(
  "[M6] a mailbox command that throws three times becomes a dead letter, each failure is reported, and others continue",
  async (t) => {
    const bench = await openNewRealm(t);
    bench.realm.dispatcher.send(commands.throwing());
    const post = await bench.ask(commands.post("a", "hi"));
    await bench.idle();
    t.equal(codeOf(post), "ok");
    t.equal(bench.bugs.length, limits.mailbox_attempts_max);
    for (const opened of [bench, bench.crash(t)]) {
      await opened.idle();
      t.equal(opened.lmdb.count("mailbox"), 0);
      const letters = rowsOf(opened.lmdb, "deadLetters");
      t.match(letters, [{ command: { type: "realm.create" }, error: /no state handles the event realm\.create/ }]);
      t.equal(letters.length, 1);
    }
    t.equal(bench.bugs.length, limits.mailbox_attempts_max, "a restart does not retry it");
  },
);

t.test("[M6] attempts are counted across a crash", async (t) => {
  const bench = await openNewRealm(t, { clock: new SlowClock(startedAt) });
  bench.realm.dispatcher.send(commands.throwing());
  await turn();
  const found = rowsOf(bench.lmdb, "mailbox").map(({ attempts }) => attempts);
  t.strictSame(found, [1]);
  const opened = bench.crash(t);
  await opened.idle();
  t.equal(opened.bugs.length, limits.mailbox_attempts_max - 1);
  t.equal(opened.lmdb.count("deadLetters"), 1);
  t.equal(opened.lmdb.count("mailbox"), 0);
});

t.test("[M7] a command that throws is retried before commands that were accepted later", async (t) => {
  const bench = await openNewRealm(t, { clock: new SlowClock(startedAt) });
  bench.realm.dispatcher.send(commands.throwing());
  bench.realm.dispatcher.send(commands.createUser("late@example.com"));
  for (let turns = 0; bench.realm.view.users.size < 3 && turns < 100; turns++) await turn();
  t.equal(bench.realm.view.users.size, 3);
  t.equal(bench.bugs.length, limits.mailbox_attempts_max, "the earlier command had all of its attempts");
});

t.test("[M7] a realm's commands form one order: ids follow it over many addresses and turns", async (t) => {
  const bench = await openNewRealm(t, { clock: new SlowClock(startedAt) });
  const topics = ["a", "b", "c", "d", "e"];
  const answered: number[] = [];
  const pending = Array.from({ length: 60 }, async (_, index) => {
    const result = await bench.ask(commands.post(topics[(index * 7) % 5] ?? "a", `m${index}`));
    answered.push(index);
    return answerOf(result)["id"] as number;
  });
  const ids = await Promise.all(pending);
  t.strictSame(
    ids,
    ids.map((_, index) => (ids[0] ?? 0) + index),
  );
  t.strictSame(
    answered,
    answered.map((_, index) => index),
    "responses are sent in the same order",
  );
  const events = bodiesOf(
    bench.recorder.published.map(({ record }) => record),
    "message",
  );
  const found = events.map(({ message_id: id }) => id);
  t.strictSame(found, ids, "and events");
});

for (const place of ["first", "last"] as const) {
  t.test(
    `[M6] a large subscription whose ${place} part fails is answered with 500, never with success or not at all`,
    async (t) => {
      const bench = await openNewRealm(t);
      const people = await createUsers(bench, 2 * limits.subscribers_per_command_max);
      const channelId = answerOf(await bench.ask(commands.createChannel("crowd", [ownerId])))["id"] as number;
      const userId = (place === "first" ? people[0] : people.at(-1)) as number;
      const image = crashImage(t, bench.folder);
      const lmdb = openLmdb(image);
      lmdb.transaction(() => {
        lmdb.put("subscriptions", [channelId, userId], damagedSubscription(userId, channelId));
      });
      await lmdb.close();
      const opened = new OpenRealm(t, { folder: image });
      const pending = opened.ask(commands.subscribe(["crowd"], people));
      for (let turns = 0; turns < 50; turns++) await turn();
      t.equal(opened.realm.dispatcher.queueLength, 0);
      t.equal(opened.lmdb.count("deadLetters"), 1);
      const never: Promise<Reply> = Promise.resolve({ kind: "refused", code: "NOT_FOUND", msg: "never answered" });
      t.equal(codeOf(await Promise.race([pending, never])), "INTERNAL_SERVER_ERROR");
    },
  );
}

t.test("[S3] when the command queue is full, one more command is rejected, the queued ones are executed", async (t) => {
  const bench = await openNewRealm(t);
  const pending = Array.from({ length: limits.queued_commands_max + 1 }, (_, index) =>
    bench.ask(commands.idleTyping(`c${index % 100}`)),
  );
  const codes = (await Promise.all(pending)).map(codeOf);
  t.equal(codes.at(-1), "OVERLOADED");
  t.ok(codes.slice(0, -1).every((code) => code === "ok"));
  t.equal(
    codeOf(await bench.ask(command({ actor: "user", id: ownerId }, "user.api-key.add", { hash: "h" }, ownerId))),
    "ok",
  );
});

function damagedSubscription(userId: number, channelId: number): RowOf<"subscriptions"> {
  const periods = {} as unknown as RowOf<"subscriptions">["periods"];
  const notifications = [null, null, null, null, null];
  const flags = { isActive: false, isMuted: false, pinToTop: false };
  return { userId, channelId, ...flags, color: "#c2c2c2", notifications, periods };
}
