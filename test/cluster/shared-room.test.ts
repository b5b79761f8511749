/** The realms of a node have journals of their own and share the memory of the process: its bounds hold for all together. */
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { ClusterDurability } from "../../src/durability/cluster/cluster-durability.ts";
import { LmdbTables } from "../../src/store/lmdb-tables.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { ManualJournal } from "../support/manual-journal.ts";
import { until } from "../support/realtime.ts";
import { temporaryFolder } from "../support/server.ts";

const fatal = (error: unknown): never => {
  throw error;
};

/** Organizations whose flushes and checkpoints the test decides about. */
async function opened(t: Test, ids: readonly number[]) {
  const clock = new ManualClock(0);
  const journals = new Map(ids.map((id) => [id, new ManualJournal()]));
  const durability = await ClusterDurability.open({
    owner: null,
    clock,
    hasSpace: () => true,
    fatal,
    reportBug: fatal,
  });
  for (const [id, journal] of journals) durability.add(id, journal);
  const folder = temporaryFolder(t, { inMemory: true });
  const realms = ids.map((id) => {
    const store = join(folder, `${id}`);
    const { tables, gate, close } = durability.adopt({ id, folder: store, tables: new LmdbTables(store) });
    const flush = () => journals.get(id)?.flush();
    /** The same row, so its records take more memory than the overlay. */
    const write = (bytes: number) =>
      tables.transaction(() => tables.write("messageFlags", [1, 1, 1], Buffer.alloc(bytes)));
    return { tables, gate, close, flush, write };
  });
  t.teardown(async () => {
    for (const { flush } of realms) flush();
    for (const { close, tables } of realms) {
      await close();
      await tables.close();
    }
    await durability.close();
  });
  return { clock, durability, realms: realms as [Opened, Opened] };
  type Opened = (typeof realms)[number];
}

const pieceBytes = 4 * 1024 * 1024;

t.test("[S3] journal_unflushed_bytes_max holds for the organizations of a node together", async (t) => {
  const { realms, durability } = await opened(t, [1, 2]);
  const [a, b] = realms;
  const half = Math.floor(limits.journal_unflushed_bytes_max / pieceBytes / 2);
  for (let count = 0; count < half; count++) a.write(pieceBytes);
  t.strictSame([a.gate.hasRoom, b.gate.hasRoom], [true, true], "half of it");
  for (let count = 0; count < half; count++) b.write(pieceBytes);
  t.ok(durability.lag.unflushedBytes >= limits.journal_unflushed_bytes_max);
  t.strictSame([a.gate.hasRoom, b.gate.hasRoom], [false, false], "both have written half of it");
  let isWoken = false;
  a.gate.onceRoom(() => {
    isWoken = true;
  });
  b.flush();
  t.ok(isWoken, "the flush of the other one made room");
  t.strictSame([a.gate.hasRoom, b.gate.hasRoom], [true, true]);
});

t.test("[S3] an organization that waits for room goes on when the store of another one has caught up", async (t) => {
  const { realms, clock, durability } = await opened(t, [1, 2]);
  const [a, b] = realms;
  while (a.gate.hasRoom) {
    a.write(pieceBytes);
    a.flush();
  }
  t.ok(durability.memoryBytes >= limits.overlay_bytes_max);
  t.notOk(b.gate.hasRoom, "overlay_bytes_max holds for both together");
  let isWoken = false;
  b.gate.onceRoom(() => {
    isWoken = true;
  });
  await until(() => {
    clock.advance(limits.checkpoint_interval_ms);
    return durability.memoryBytes === 0;
  });
  t.ok(isWoken);
});

t.test("[S3] checkpoints are urgent when all organizations together have checkpoint_bytes", async (t) => {
  const { realms, durability } = await opened(t, [1, 2]);
  const [a, b] = realms;
  a.write(limits.checkpoint_bytes / 2);
  a.flush();
  b.write(limits.checkpoint_bytes / 2);
  t.ok(durability.lag.uncheckpointedBytes >= limits.checkpoint_bytes);
  b.flush();
  // No timer of the checkpointers fires in this test.
  await until(() => durability.lag.uncheckpointedBytes === 0);
});
