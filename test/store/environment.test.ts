/**
 * The contract of the environment on which the runtime relies: transactions and their nesting (M2, M6), ranges, keys
 * and their bounds (S3), growth (pitfalls 1.1 to 1.5). There is only one store; a second implementation would have to
 * pass this file.
 */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { rowFields, type TableName } from "../../schemas/records.ts";
import { type Lmdb, openLmdb } from "../../src/store/lmdb.ts";
import { crashImage } from "../support/runtime.ts";
import { seedOf } from "../support/seed.ts";
import { type Teardown, temporaryFolder } from "../support/server.ts";

function openTemporary(t: Teardown, folder = temporaryFolder(t)): Lmdb {
  const lmdb = openLmdb(folder);
  t.teardown(() => lmdb.close());
  return lmdb;
}

t.test("[M2] a transaction is committed completely when it returns, and not at all when it throws", async (t) => {
  const folder = temporaryFolder(t);
  const lmdb = openTemporary(t, folder);
  const result = lmdb.transaction(() => {
    lmdb.put("topicNames", [1, "a"], { id: 1 });
    lmdb.put("topicNames", [1, "b"], { id: 2 });
    t.strictSame(lmdb.get("topicNames", [1, "a"]), { id: 1 }, "it sees its own writes");
    return "result";
  });
  t.equal(result, "result");
  t.equal(openTemporary(t, crashImage(t, folder)).count("topicNames"), 2, "on disk when it returns");
  t.throws(() => {
    lmdb.transaction(() => {
      lmdb.put("topicNames", [1, "c"], { id: 3 });
      lmdb.remove("topicNames", [1, "a"]);
      throw new Error("no");
    });
  }, /no/);
  const ids = lmdb.rows("topicNames", { limit: 10 }).map(({ row }) => row.id);
  t.strictSame(ids, [1, 2]);
});

t.test("[M6] a nested transaction rolls back alone; the outer one continues and sees none of its writes", async (t) => {
  const folder = temporaryFolder(t);
  const lmdb = openTemporary(t, folder);
  lmdb.transaction(() => {
    lmdb.put("topicNames", [1, "outer"], { id: 1 });
    t.throws(() => {
      lmdb.transaction(() => {
        lmdb.put("topicNames", [1, "outer"], { id: 99 });
        lmdb.put("topicNames", [1, "inner"], { id: 2 });
        lmdb.transaction(() => lmdb.put("topicNames", [1, "deep"], { id: 3 }));
        throw new Error("bug");
      });
    }, /bug/);
    t.strictSame(lmdb.get("topicNames", [1, "outer"]), { id: 1 });
    t.notOk(lmdb.has("topicNames", [1, "inner"]) || lmdb.has("topicNames", [1, "deep"]));
    lmdb.transaction(() => lmdb.put("topicNames", [1, "second"], { id: 4 }));
  });
  for (const opened of [lmdb, openTemporary(t, crashImage(t, folder))]) {
    const found = opened.keys("topicNames", { limit: 10 }).map(([, name]) => name);
    t.strictSame(found, ["outer", "second"]);
  }
});

t.test("[M2] a buffered row is visible to every reader, and rolls back with its transaction", async (t) => {
  const folder = temporaryFolder(t);
  const lmdb = openTemporary(t, folder);
  const conversation = (id: number, lastMessageId: number) => {
    const place = { channelId: 1, topic: `topic ${id}`, userIds: null, renames: 0, movingId: null };
    return { id, state: "open", version: 1, lastMessageId, ...place };
  };
  const put = (id: number, lastMessageId: number) => lmdb.put("conversations", id, conversation(id, lastMessageId));
  const newest = (from: Lmdb) =>
    from.rows("conversations", { limit: 10 }).map(({ key, row }) => [key, row.lastMessageId]);
  lmdb.transaction(() => {
    for (const lastMessageId of [10, 11, 12]) put(1, lastMessageId);
    put(2, 20);
    t.equal(lmdb.get("conversations", 1)?.lastMessageId, 12, "one row");
    t.strictSame(
      newest(lmdb),
      [
        [1, 12],
        [2, 20],
      ],
      "a range",
    );
    lmdb.remove("conversations", 1);
    t.equal(lmdb.get("conversations", 1), undefined, "one that is removed");
    t.notOk(lmdb.has("conversations", 1));
    t.equal(lmdb.count("conversations"), 1);
    put(1, 13);
    t.strictSame(lmdb.keys("conversations", { limit: 10 }), [1, 2]);
    put(1, 14);
    t.throws(() => {
      lmdb.transaction(() => {
        put(1, 99);
        lmdb.remove("conversations", 2);
        throw new Error("bug");
      });
    }, /bug/);
    t.equal(lmdb.get("conversations", 1)?.lastMessageId, 14, "writes before a nested transaction stay");
    lmdb.transaction(() => put(3, 30));
    put(3, 31);
  });
  for (const opened of [lmdb, openTemporary(t, crashImage(t, folder))]) {
    t.strictSame(newest(opened), [
      [1, 14],
      [2, 20],
      [3, 31],
    ]);
  }
  t.throws(() => {
    lmdb.transaction(() => {
      put(1, 99);
      throw new Error("no");
    });
  }, /no/);
  t.equal(lmdb.get("conversations", 1)?.lastMessageId, 14, "nothing is left of a rolled-back one");
  lmdb.transaction(() => put(2, 21));
  t.strictSame(
    newest(lmdb),
    [
      [1, 14],
      [2, 21],
      [3, 31],
    ],
    "not in the next one, either",
  );
});

t.test("[M6] an invalid write throws at once: a key over the bound, a value without bytes", async (t) => {
  const lmdb = openTemporary(t);
  const longest = "x".repeat(1978);
  lmdb.transaction(() => {
    lmdb.put("apiKeys", longest, { hash: "h", userId: 1, createdAt: 0, isKept: false });
    t.throws(() =>
      lmdb.transaction(() => lmdb.put("apiKeys", `${longest}x`, { hash: "h", userId: 1, createdAt: 0, isKept: false })),
    );
    t.throws(() => lmdb.transaction(() => lmdb.put("meta", "bad", { value: Symbol("bad") })));
    lmdb.put("apiKeys", "after", { hash: "h", userId: 1, createdAt: 0, isKept: false });
  });
  t.strictSame(lmdb.keys("apiKeys", { limit: 10 }), ["after", longest]);
  t.equal(lmdb.get("apiKeys", `${longest}x`), undefined, "reading it is allowed: there is none");
});

t.test(
  "a range's start is inclusive, its end exclusive, also in reverse; limit applies; order is numeric",
  async (t) => {
    const lmdb = openTemporary(t);
    const ids = [1, 2, 3, 9, 10, 11, 100, 2 ** 32, 2 ** 53];
    lmdb.transaction(() => {
      for (const id of ids) {
        lmdb.put("conversationMessages", [7, id], { senderId: 1, traits: 0 });
        lmdb.put("conversationMessages", [8, id], { senderId: 1, traits: 0 });
        lmdb.put("credentials", id, { userId: id, passwordHash: "" });
      }
    });
    const of = (range: object) => lmdb.keys("conversationMessages", { limit: 100, ...range }).map(([, id]) => id);
    t.strictSame(of({ start: [7], end: [8] }), ids, "one prefix, whole");
    t.strictSame(of({ start: [7, 3], end: [7, 11] }), [3, 9, 10]);
    t.strictSame(of({ start: [7, 4], end: [8] }), ids.slice(3), "a start that does not exist");
    t.strictSame(of({ start: [7, 11], end: [7, 3], reverse: true }), [11, 10, 9]);
    t.strictSame(of({ start: [7, Number.MAX_SAFE_INTEGER], end: [7], reverse: true, limit: 2 }), [2 ** 32, 100]);
    t.strictSame(of({ start: [8], end: [7], reverse: true }), ids.toReversed(), "the whole prefix backwards");
    t.strictSame(of({ start: [9], end: [10] }), []);
    t.strictSame(lmdb.keys("credentials", { start: 10, limit: 2 }), [10, 11]);
    t.strictSame(lmdb.keys("credentials", { limit: 0 }), []);
    const userIds = lmdb.rows("credentials", { start: 100, reverse: true, limit: 2 }).map(({ row }) => row.userId);
    t.strictSame(userIds, [100, 11]);
  },
);

t.test(
  "[pitfalls 1.4, 1.5] names with characters beyond the BMP are found by prefix, and no two keys collide",
  async (t) => {
    const lmdb = openTemporary(t);
    const seed = seedOf(t);
    const names = fc.uniqueArray(fc.string({ unit: "grapheme", maxLength: 20 }), { minLength: 1, maxLength: 30 });
    let channelId = 0;
    const property = fc.property(names, (given) => {
      channelId++;
      lmdb.transaction(() => {
        for (const [index, name] of given.entries()) lmdb.put("topicNames", [channelId, name], { id: index });
      });
      given.forEach((name, index) => {
        if (lmdb.get("topicNames", [channelId, name])?.id !== index) throw new Error(`lost ${JSON.stringify(name)}`);
      });
      const found = lmdb.keys("topicNames", { start: [channelId], end: [channelId + 1], limit: 100 });
      const order = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));
      if (found.length !== given.length) throw new Error(`${found.length} of ${given.length}`);
      const wanted = [...given].sort(order);
      found.forEach(([, name], index) => {
        if (name !== wanted[index]) throw new Error(`${JSON.stringify(name)} at ${index}`);
      });
    });
    fc.assert(property, { seed, numRuns: 60, examples: [[["🍎", "\uffff", "a", "", "\u0001", "e\u0301", "é"]]] });
    t.pass("all found, in byte order");
  },
);

t.test("[S3] all tables fit into store_tables_max", async (t) => {
  t.ok(Object.keys(rowFields).length < limits.store_tables_max);
  const lmdb = openTemporary(t);
  for (const table of Object.keys(rowFields) as TableName[]) t.equal(lmdb.count(table), 0, table);
});

t.test("[pitfalls 1.4] reads leave no reader behind: many small turns reuse their pages", async (t) => {
  const folder = temporaryFolder(t);
  const lmdb = openTemporary(t, folder);
  const body = "x".repeat(1000);
  lmdb.transaction(() => {
    for (let id = 0; id < 1000; id++) lmdb.put("credentials", id, { userId: id, passwordHash: body });
  });
  const size = () => statSync(join(folder, "data.mdb")).size;
  const before = size();
  for (let turn = 0; turn < 100; turn++) {
    lmdb.rows("credentials", { start: turn, limit: 1 });
    lmdb.keys("credentials", { limit: 5, reverse: true });
    t.throws(() => {
      lmdb.each("credentials", () => {
        throw new Error("broken off");
      });
    });
    lmdb.transaction(() => {
      for (let id = 0; id < 20; id++) lmdb.put("credentials", id * 50, { userId: id, passwordHash: body });
    });
  }
  t.ok(size() < 2 * before + 4_000_000, `${before} became ${size()}`);
});

t.test("a backup is a complete environment; its folder need not exist", async (t) => {
  const lmdb = openTemporary(t);
  lmdb.transaction(() => lmdb.put("topicNames", [1, "a"], { id: 1 }));
  const target = join(temporaryFolder(t), "copy");
  await lmdb.backup(target);
  lmdb.transaction(() => lmdb.put("topicNames", [1, "b"], { id: 2 }));
  t.strictSame(openTemporary(t, target).keys("topicNames", { limit: 10 }), [[1, "a"]]);
});

t.test("[S2] only the owner of a store may read its files", async (t) => {
  const folder = join(temporaryFolder(t), "realms", "1");
  openTemporary(t, folder);
  t.equal(statSync(folder).mode & 0o077, 0);
});

t.test("opening a folder without a store is an error and creates none", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "data.mdb"));
  t.throws(() => openLmdb(folder));
});
