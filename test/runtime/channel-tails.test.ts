/**
 * Cached tails of channel indexes (S3, M9): bounded in channels, in entries per channel and in total; everything else
 * is read from disk.
 */
import t, { type Test } from "tap";
import { ChannelTails } from "../../src/runtime/caches.ts";
import type { Lmdb } from "../../src/store/lmdb.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { temporaryFolder } from "../support/server.ts";

const index = { conversationId: 1, senderId: 1, traits: 0 };
const everything = { above: 0, below: Number.MAX_SAFE_INTEGER, limit: 1_000_000 };
/** Entries read from an index at a time: a tail takes a whole read or nothing. */
const rowsPerRead = 2000;

function stage(t: Test, bounds: { channels: number; entries: number; entriesPerChannel: number }) {
  const lmdb = openLmdb(temporaryFolder(t));
  t.teardown(() => lmdb.close());
  let reads = 0;
  const rows: Lmdb["rows"] = (table, range) => {
    reads++;
    return lmdb.rows(table, range);
  };
  const tails = new ChannelTails({ ...lmdb, rows }, bounds);
  const put = (channelId: number, first: number, count: number) => {
    const ids = Array.from({ length: count }, (_, at) => first + at);
    lmdb.transaction(() => {
      for (const id of ids) lmdb.put("channelMessages", [channelId, id], index);
    });
    for (const id of ids) tails.apply({ table: "channelMessages", key: [channelId, id], row: index });
  };
  /** @returns how often the whole channel was read from disk */
  const read = (channelId: number, count: number) => {
    const before = reads;
    const ids = tails.read(channelId, everything).map(({ id }) => id);
    t.equal(ids.length, count);
    t.ok(
      ids.every((id, at) => at === 0 || id < (ids[at - 1] ?? 0)),
      "newest first",
    );
    return reads - before;
  };
  return { tails, put, read };
}

t.test("[S3] channel_tails_max: one channel more evicts the least recently read one", async (t) => {
  const { put, read } = stage(t, { channels: 2, entries: 1000, entriesPerChannel: 10_000 });
  for (const id of [1, 2, 3]) put(id, id * 100, 3);
  t.strictSame([read(1, 3), read(2, 3), read(1, 3), read(2, 3)], [1, 1, 0, 0]);
  t.strictSame([read(3, 3), read(2, 3), read(1, 3)], [1, 0, 1]);
});

t.test("[S3] channel_tail_entries_max: bounds the entries of all channels, which grow by posts", async (t) => {
  const { tails, put, read } = stage(t, { channels: 10, entries: 10, entriesPerChannel: 10_000 });
  for (const id of [1, 2]) put(id, id * 100, 4);
  t.strictSame([read(1, 4), read(2, 4), tails.size], [1, 1, 8]);
  put(2, 300, 2);
  t.strictSame([read(1, 4), read(2, 6), tails.size], [0, 0, 10], "at the bound");
  put(2, 400, 1);
  t.ok(tails.size <= 10);
  t.strictSame([read(2, 7), read(1, 4)], [0, 1], "the other one was evicted");
  put(1, 500, 7);
  t.ok(tails.size <= 10, "a tail larger than the total bound is not cached");
  t.equal(read(1, 11), 1);
});

t.test(
  "[S3] channel_tail_entries_per_channel_max: the newest entries of a channel are cached, others read",
  async (t) => {
    const max = rowsPerRead + 3;
    const { tails, put, read } = stage(t, { channels: 10, entries: 100_000, entriesPerChannel: max });
    put(1, 1, 3);
    t.strictSame([read(1, 3), read(1, 3)], [1, 0]);
    put(1, 4, max - 3);
    t.strictSame([read(1, max), tails.size], [0, max], "at the bound");
    put(1, max + 1, 1);
    t.equal(tails.size, 0, "one above the bound: it is evicted");
    t.strictSame(
      [read(1, max + 1), tails.size],
      [2, rowsPerRead],
      "the newest are cached again, and the whole is read from disk",
    );
    t.equal(read(1, max + 1), 1);
  },
);
