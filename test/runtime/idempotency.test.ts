/**
 * Idempotency keys where they are kept (D25; architecture, Idempotency): in the transaction of the command that they name, so
 * that a crash leaves both or neither; first answers only, never 5xx; bounded per person.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import type { IdempotencyClaim } from "../../src/runtime/entry.ts";
import { auditKeptAnswers, auditRealm } from "../support/audit.ts";
import {
  answerOf,
  codeOf,
  commands,
  crashImage,
  makePeople,
  OpenRealm,
  openFounded,
  ownerId,
  rowsOf,
  SlowClock,
  startedAt,
  turn,
} from "../support/runtime.ts";
import { crashesUntil } from "../support/turns.ts";

function claim(key: string, params = "p", userId = ownerId): IdempotencyClaim {
  return { userId, keyHash: key, paramsHash: params };
}

t.test(
  "[D25] a crash after any turn leaves the message and its key, or neither; the repeat gives the first answer",
  async (t) => {
    const bench = await openFounded(t, { clock: new SlowClock(startedAt) });
    const keys = ["a", "b", "c", "d"];
    const first = keys.map((key) => bench.ask(commands.post("topic", key), claim(key)));
    const images = await crashesUntil(t, bench.folder, () => false, 9);
    const ids = (await Promise.all(first)).map((result) => answerOf(result)["id"]);
    let partial = 0;
    for (const folder of images) {
      const opened = new OpenRealm(t, { folder });
      await opened.idle();
      const written = rowsOf(opened.environment, "messages").map(({ content }) => content);
      const kept = keys.filter((key) => opened.environment.has("idempotency", [ownerId, key]));
      t.strictSame(kept, written);
      if (kept.length > 0 && kept.length < keys.length) partial++;
      const again = await Promise.all(keys.map((key) => opened.ask(commands.post("topic", key), claim(key))));
      t.strictSame(
        again.map((result) => answerOf(result)["id"]),
        ids,
      );
      await opened.idle();
      t.equal(opened.environment.count("messages"), keys.length, "nothing twice");
      t.strictSame([...auditRealm(opened.environment), ...auditKeptAnswers(opened.environment)], []);
    }
    t.ok(partial > 0, "some crashes came in the middle");
  },
);

t.test("[D25] a decided refusal is kept; a 500, an overload and a full disk are not", async (t) => {
  let mayWrite = true;
  const bench = await openFounded(t, { acceptsWrites: () => mayWrite });
  const nowhere = commands.post("a", "hi", ownerId, 99);
  t.equal(codeOf(await bench.ask(nowhere, claim("refused"))), "STREAM_DOES_NOT_EXIST");
  t.ok(bench.environment.has("idempotency", [ownerId, "refused"]));
  t.equal(codeOf(await bench.ask(commands.halfWritten("a"), claim("throws"))), "INTERNAL_SERVER_ERROR");
  t.notOk(bench.environment.has("idempotency", [ownerId, "throws"]));
  mayWrite = false;
  t.equal(codeOf(await bench.ask(commands.post("a", "hi"), claim("full"))), "STORE_REFUSES_WRITES");
  mayWrite = true;
  for (const key of ["throws", "full"]) {
    t.equal(codeOf(await bench.ask(commands.post("a", key), claim(key))), "ok", "the key is free again");
  }
  t.strictSame(
    rowsOf(bench.environment, "messages").map(({ content }) => content),
    ["throws", "full"],
  );
});

t.test(
  "[D25] while the first one runs, its repeats wait and get the same answer; other parameters are refused at once",
  async (t) => {
    const bench = await openFounded(t);
    const results = await Promise.all([
      bench.ask(commands.post("a", "once"), claim("k")),
      bench.ask(commands.post("a", "once"), claim("k")),
      bench.ask(commands.post("a", "other"), claim("k", "other")),
      bench.ask(commands.post("a", "theirs"), claim("k", "p", 3)),
    ]);
    t.strictSame(results.map(codeOf), ["ok", "ok", "BAD_REQUEST", "ok"]);
    t.strictSame(results[0], results[1]);
    t.equal(bench.environment.count("messages"), 2, "one, and one of somebody else with the same key");
    t.equal(codeOf(await bench.ask(commands.post("a", "other"), claim("k", "other"))), "BAD_REQUEST", "later, too");
  },
);

t.test("[D25] the answer of a large subscription is kept, across a crash in the middle of it, too", async (t) => {
  const bench = await openFounded(t);
  const people = await makePeople(bench, limits.subscribers_per_command_max + 1);
  const slow = bench.crash(t, { clock: new SlowClock(startedAt) });
  const asked = slow.ask(commands.createChannel("crowd", people), claim("k"));
  await turn();
  const image = crashImage(t, slow.folder);
  const first = await asked;
  t.strictSame(await slow.ask(commands.createChannel("crowd", people), claim("k")), first);
  const opened = new OpenRealm(t, { folder: image });
  const again = await opened.ask(commands.createChannel("crowd", people), claim("k"));
  t.strictSame(again, first, "not CHANNEL_ALREADY_EXISTS");
});

t.test(
  "[D25, S3] keys are kept 24 hours and at most idempotency_keys_per_user_max per person; the oldest go",
  async (t) => {
    const bench = await openFounded(t);
    const nowhere = commands.post("a", "hi", ownerId, 99);
    await bench.ask(commands.post("a", "mine"), claim("first"));
    bench.clock.advance(1000);
    await bench.ask(commands.post("a", "theirs"), claim("k0", "p", 3));
    const max = limits.idempotency_keys_per_user_max;
    for (let key = 1; key < max; key += 1000) {
      const batch = Array.from({ length: Math.min(1000, max - key) }, (_, index) => `k${key + index}`);
      await Promise.all(batch.map((name) => bench.ask(nowhere, claim(name))));
    }
    t.equal(bench.environment.count("idempotency"), max + 1, "the owner's are full");
    t.equal(codeOf(await bench.ask(commands.post("a", "mine"), claim("first"))), "ok");
    t.equal(bench.environment.count("messages"), 2, "the first one is still known");
    await bench.ask(nowhere, claim("one more"));
    t.equal(bench.environment.count("idempotency"), max + 1);
    t.equal(bench.environment.count("idempotencyAges"), max + 1);
    await bench.ask(commands.post("a", "mine"), claim("first"));
    t.equal(bench.environment.count("messages"), 3, "the oldest was forgotten");
    bench.clock.jump(limits.idempotency_kept_ms - 1000);
    await bench.ask(commands.post("a", "theirs"), claim("k0", "p", 3));
    t.equal(bench.environment.count("messages"), 3, "known to its last moment");
    bench.clock.advance(1001);
    await bench.ask(commands.post("a", "theirs"), claim("k0", "p", 3));
    t.equal(bench.environment.count("messages"), 4, "a day is over");
  },
);

t.test("[D25, S3] an answer over idempotency_answer_bytes_max is not kept, one of that size is", async (t) => {
  const bench = await openFounded(t);
  // The refusal names the unknown channel twice, so the answer's size follows the request's.
  const answerBytes = async (name: string, key: string) =>
    JSON.stringify(await bench.ask(commands.unsubscribe([name], null), claim(key))).length;
  const fixed = (await answerBytes("x", "probe")) - 2;
  const longest = Math.floor((limits.idempotency_answer_bytes_max - fixed) / 2);
  t.ok((await answerBytes("x".repeat(longest), "fits")) <= limits.idempotency_answer_bytes_max);
  t.ok((await answerBytes("x".repeat(longest + 1), "over")) > limits.idempotency_answer_bytes_max);
  t.ok(bench.environment.has("idempotency", [ownerId, "fits"]));
  t.notOk(bench.environment.has("idempotency", [ownerId, "over"]));
});
