/** Storage left by a deleted topic: a second topic must reuse it (spec 4.13). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { rowFields, type TableName } from "../../schemas/records.ts";
import { audit } from "../support/message-moves.ts";
import { until } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";

/**
 * Tables that log events and requests, or that the search indexer fills and empties when it has time. They have limits
 * of their own.
 */
const journals: readonly TableName[] = [
  "events",
  "idempotency",
  "idempotencyAges",
  "searchPending",
  "searchPostings",
  "searchState",
];

t.test("[spec 4.13] filling and deleting a topic again leaves no more rows than the first time", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const anna = await server.user("anna");
  const id = await owner.createChannel("filled", [owner, anna]);
  await anna.post("/users/me/alert_words", { alert_words: ["alarm"] });
  const realm = server.realm;
  const { lmdb, dispatcher } = realm;
  const tables = (Object.keys(rowFields) as TableName[]).filter((table) => !journals.includes(table));

  const fillAndDelete = async () => {
    const count = limits.topic_deletion_batch_messages + 20;
    const ids = await Promise.all(
      Array.from({ length: count }, (_, n) => owner.say(id, "topic", `alarm ${n} @**all** @**topic** @**anna 0**`)),
    );
    const [first = 0, second = 0] = ids;
    await owner.patch(`/messages/${first}`, { content: "edited" });
    await owner.patch(`/messages/${first}`, { content: "edited again" });
    await anna.post(`/messages/${second}/reactions`, { emoji_name: "tada" });
    await anna.post("/messages/flags", { op: "add", flag: "starred", messages: ids.slice(0, 30) });
    await anna.post("/messages/flags", { op: "add", flag: "collapsed", messages: ids.slice(0, 30) });
    const filled = lmdb.count("messages");
    const { body } = await owner.post(`/streams/${id}/delete_topic`, { topic_name: "topic" });
    t.equal(body.complete, true);
    await dispatcher.idle();
    // The first checkpoint adds the row with the number of the turn that the store has.
    await until(() => realm.isStored);
    t.equal(filled - lmdb.count("messages"), count);
    audit(t, server);
    return Object.fromEntries(tables.map((table) => [table, lmdb.count(table)]));
  };

  const first = await fillAndDelete();
  const second = await fillAndDelete();
  const third = await fillAndDelete();
  t.strictSame(second, first, "rows of every table");
  t.strictSame(third, first, "rows of every table");
});
