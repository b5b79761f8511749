/**
 * How idempotency keys are stored (D25): in the transaction of their command, so that a crash leaves both or neither;
 * first responses only, never 5xx; bounded per user.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import type { IdempotencyKey } from "../../src/runtime/queued-command.ts";
import { auditKeptAnswers, auditRealm } from "../support/audit.ts";
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
  turn,
} from "../support/runtime.ts";
import { crashesUntil } from "../support/turns.ts";

function idempotencyKey(key: string, params = "p", userId = ownerId): IdempotencyKey {
  return { userId, keyHash: key, paramsHash: params };
}

t.test("[D25] a crash after any turn leaves the message and its key, or neither; a repeat completes", async (t) => {
  const bench = await openNewRealm(t, { clock: new SlowClock(startedAt) });
  const keys = ["a", "b", "c", "d"];
  const first = keys.map((key) => bench.ask(commands.post("topic", key), idempotencyKey(key)));
  const images = await crashesUntil(t, bench.folder, () => false, 9);
  const ids = (await Promise.all(first)).map((result) => answerOf(result)["id"]);
  let partial = 0;
  for (const folder of images) {
    const opened = new OpenRealm(t, { folder });
    await opened.idle();
    const written = rowsOf(opened.lmdb, "messages").map(({ content }) => content);
    const kept = keys.filter((key) => opened.lmdb.has("idempotency", [ownerId, key]));
    t.strictSame(kept, written);
    if (kept.length > 0 && kept.length < keys.length) partial++;
    const again = await Promise.all(keys.map((key) => opened.ask(commands.post("topic", key), idempotencyKey(key))));
    const found = again.map((result) => answerOf(result)["id"]);
    t.strictSame(found, ids);
    await opened.idle();
    t.equal(opened.lmdb.count("messages"), keys.length, "nothing twice");
    t.strictSame([...auditRealm(opened.lmdb), ...auditKeptAnswers(opened.lmdb)], []);
  }
  t.ok(partial > 0, "some crashes fell in the middle");
});

t.test("[D25] a decided rejection is stored; a 500, an overload and a full disk are not", async (t) => {
  let mayWrite = true;
  const bench = await openNewRealm(t, { acceptsWrites: () => mayWrite });
  const nowhere = commands.post("a", "hi", ownerId, 99);
  t.equal(codeOf(await bench.ask(nowhere, idempotencyKey("refused"))), "STREAM_DOES_NOT_EXIST");
  t.ok(bench.lmdb.has("idempotency", [ownerId, "refused"]));
  t.equal(codeOf(await bench.ask(commands.halfWritten("a"), idempotencyKey("throws"))), "INTERNAL_SERVER_ERROR");
  t.notOk(bench.lmdb.has("idempotency", [ownerId, "throws"]));
  mayWrite = false;
  t.equal(codeOf(await bench.ask(commands.post("a", "hi"), idempotencyKey("full"))), "STORE_REFUSES_WRITES");
  mayWrite = true;
  for (const key of ["throws", "full"]) {
    t.equal(codeOf(await bench.ask(commands.post("a", key), idempotencyKey(key))), "ok", "the key is free again");
  }
  const contents = rowsOf(bench.lmdb, "messages").map(({ content }) => content);
  t.strictSame(contents, ["throws", "full"]);
});

t.test("[D25] repeats wait while the first request runs and get its response; other ones are rejected", async (t) => {
  const bench = await openNewRealm(t);
  const results = await Promise.all([
    bench.ask(commands.post("a", "once"), idempotencyKey("k")),
    bench.ask(commands.post("a", "once"), idempotencyKey("k")),
    bench.ask(commands.post("a", "other"), idempotencyKey("k", "other")),
    bench.ask(commands.post("a", "theirs"), idempotencyKey("k", "p", 3)),
  ]);
  t.strictSame(results.map(codeOf), ["ok", "ok", "BAD_REQUEST", "ok"]);
  t.strictSame(results[0], results[1]);
  t.equal(bench.lmdb.count("messages"), 2, "one, and one of another user with the same key");
  t.equal(
    codeOf(await bench.ask(commands.post("a", "other"), idempotencyKey("k", "other"))),
    "BAD_REQUEST",
    "later, too",
  );
});

t.test("[D25] the response of a large subscription is stored, also across a crash in the middle of it", async (t) => {
  const bench = await openNewRealm(t);
  const people = await createUsers(bench, limits.subscribers_per_command_max + 1);
  const slow = bench.crash(t, { clock: new SlowClock(startedAt) });
  const pending = slow.ask(commands.createChannel("crowd", people), idempotencyKey("k"));
  await turn();
  const image = crashImage(t, slow.folder);
  const first = await pending;
  t.strictSame(await slow.ask(commands.createChannel("crowd", people), idempotencyKey("k")), first);
  const opened = new OpenRealm(t, { folder: image });
  const again = await opened.ask(commands.createChannel("crowd", people), idempotencyKey("k"));
  t.strictSame(again, first, "not CHANNEL_ALREADY_EXISTS");
});

t.test("[D25, S3] keys are stored for 24 hours, at most idempotency_keys_per_user_max; the oldest go", async (t) => {
  const bench = await openNewRealm(t);
  const nowhere = commands.post("a", "hi", ownerId, 99);
  await bench.ask(commands.post("a", "mine"), idempotencyKey("first"));
  bench.clock.advance(1000);
  await bench.ask(commands.post("a", "theirs"), idempotencyKey("k0", "p", 3));
  const max = limits.idempotency_keys_per_user_max;
  for (let key = 1; key < max; key += 1000) {
    const batch = Array.from({ length: Math.min(1000, max - key) }, (_, index) => `k${key + index}`);
    await Promise.all(batch.map((name) => bench.ask(nowhere, idempotencyKey(name))));
  }
  t.equal(bench.lmdb.count("idempotency"), max + 1, "the owner's keys are at the bound");
  t.equal(codeOf(await bench.ask(commands.post("a", "mine"), idempotencyKey("first"))), "ok");
  t.equal(bench.lmdb.count("messages"), 2, "the first one is still known");
  await bench.ask(nowhere, idempotencyKey("one more"));
  t.equal(bench.lmdb.count("idempotency"), max + 1);
  t.equal(bench.lmdb.count("idempotencyAges"), max + 1);
  await bench.ask(commands.post("a", "mine"), idempotencyKey("first"));
  t.equal(bench.lmdb.count("messages"), 3, "the oldest was evicted");
  bench.clock.jump(limits.idempotency_kept_ms - 1000);
  await bench.ask(commands.post("a", "theirs"), idempotencyKey("k0", "p", 3));
  t.equal(bench.lmdb.count("messages"), 3, "known until its last moment");
  bench.clock.advance(1001);
  await bench.ask(commands.post("a", "theirs"), idempotencyKey("k0", "p", 3));
  t.equal(bench.lmdb.count("messages"), 4, "a day has passed");
});

t.test("[D25, S3] a response larger than idempotency_answer_bytes_max is not stored, an equal one is", async (t) => {
  const bench = await openNewRealm(t);
  // The rejection names the unknown channel twice, so the response size follows the request size.
  const answerBytes = async (name: string, key: string) =>
    JSON.stringify(await bench.ask(commands.unsubscribe([name], null), idempotencyKey(key))).length;
  const fixed = (await answerBytes("x", "probe")) - 2;
  const longest = Math.floor((limits.idempotency_answer_bytes_max - fixed) / 2);
  t.ok((await answerBytes("x".repeat(longest), "fits")) <= limits.idempotency_answer_bytes_max);
  t.ok((await answerBytes("x".repeat(longest + 1), "over")) > limits.idempotency_answer_bytes_max);
  t.ok(bench.lmdb.has("idempotency", [ownerId, "fits"]));
  t.notOk(bench.lmdb.has("idempotency", [ownerId, "over"]));
});

t.test("[D271, S3] idempotency_answers_bytes_per_user_max: one more evicts the oldest", async (t) => {
  const bench = await openNewRealm(t);
  const long = "x".repeat(limits.idempotency_answer_bytes_max / 2 - 100);
  const ask = (key: string, to = bench) => to.ask(commands.unsubscribe([long], null), idempotencyKey(key));
  const bytes = Buffer.byteLength(JSON.stringify(await ask("k0")));
  const fitting = Math.floor(limits.idempotency_answers_bytes_per_user_max / bytes);
  for (let key = 1; key < fitting; key++) {
    bench.clock.advance(1);
    await ask(`k${key}`);
  }
  const has = (key: string, of = bench) => of.lmdb.has("idempotency", [ownerId, key]);
  t.equal(bench.lmdb.count("idempotency"), fitting, "as many as fit");
  bench.clock.advance(1);
  await ask("one more");
  t.strictSame([has("k0"), has("k1"), has("one more")], [false, true, true]);
  const again = bench.crash(t);
  again.clock.advance(1);
  await ask("after the restart", again);
  t.strictSame([has("k1", again), has("k2", again), has("after the restart", again)], [false, true, true]);
  t.equal(again.lmdb.count("idempotencyAges"), fitting);
});
