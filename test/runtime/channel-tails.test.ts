/** What is kept of channels' indexes (S3, M9): bounded in channels, in entries of one and of all; what is not kept is read. */
import t, { type Test } from "tap";
import { ChannelTails } from "../../src/runtime/channel-tails.ts";
import type { Environment } from "../../src/store/environment.ts";
import { openEnvironment } from "../../src/store/environment.ts";
import { temporaryFolder } from "../support/server.ts";

const index = { conversationId: 1, senderId: 1, traits: 0 };
const everything = { above: 0, below: Number.MAX_SAFE_INTEGER, limit: 1_000_000 };
/** What is read of an index at a time: a tail has room for that many more, or takes nothing. */
const rowsPerRead = 2000;

function stage(t: Test, bounds: { channels: number; entries: number; entriesPerChannel: number }) {
  const environment = openEnvironment(temporaryFolder(t));
  t.teardown(() => environment.close());
  let reads = 0;
  const rows: Environment["rows"] = (table, range) => {
    reads++;
    return environment.rows(table, range);
  };
  const tails = new ChannelTails({ ...environment, rows }, bounds);
  const put = (channelId: number, first: number, count: number) => {
    const ids = Array.from({ length: count }, (_, at) => first + at);
    environment.transaction(() => {
      for (const id of ids) environment.put("channelMessages", [channelId, id], index);
    });
    for (const id of ids) tails.apply({ table: "channelMessages", key: [channelId, id], row: index });
  };
  /** @returns how often the disk was asked for the whole of the channel */
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

t.test(
  "[S3] channel_tails_max: so many channels are kept; one more takes the place of the one unread for longest",
  (t) => {
    const { put, read } = stage(t, { channels: 2, entries: 1000, entriesPerChannel: 10_000 });
    for (const id of [1, 2, 3]) put(id, id * 100, 3);
    t.strictSame([read(1, 3), read(2, 3), read(1, 3), read(2, 3)], [1, 1, 0, 0]);
    t.strictSame([read(3, 3), read(2, 3), read(1, 3)], [1, 0, 1]);
    t.end();
  },
);

t.test("[S3] channel_tail_entries_max: of all channels together, those that grow by posts, too", (t) => {
  const { tails, put, read } = stage(t, { channels: 10, entries: 10, entriesPerChannel: 10_000 });
  for (const id of [1, 2]) put(id, id * 100, 4);
  t.strictSame([read(1, 4), read(2, 4), tails.size], [1, 1, 8]);
  put(2, 300, 2);
  t.strictSame([read(1, 4), read(2, 6), tails.size], [0, 0, 10], "at the bound");
  put(2, 400, 1);
  t.ok(tails.size <= 10);
  t.strictSame([read(2, 7), read(1, 4)], [0, 1], "the other one made room");
  put(1, 500, 7);
  t.ok(tails.size <= 10, "one that is larger than all may be is not kept");
  t.equal(read(1, 11), 1);
  t.end();
});

t.test("[S3] channel_tail_entries_per_channel_max: a channel's newest so many are kept; beyond, it is read", (t) => {
  const max = rowsPerRead + 3;
  const { tails, put, read } = stage(t, { channels: 10, entries: 100_000, entriesPerChannel: max });
  put(1, 1, 3);
  t.strictSame([read(1, 3), read(1, 3)], [1, 0]);
  put(1, 4, max - 3);
  t.strictSame([read(1, max), tails.size], [0, max], "at the bound");
  put(1, max + 1, 1);
  t.equal(tails.size, 0, "one over: it is let go");
  t.strictSame([read(1, max + 1), tails.size], [2, rowsPerRead], "the newest are kept again, and the whole is read");
  t.equal(read(1, max + 1), 1);
  t.end();
});
