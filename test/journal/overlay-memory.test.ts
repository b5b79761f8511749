/**
 * Rows that the stores do not have yet are bounded in memory, not in the bytes of their records: a small row takes ten
 * times as much memory as its record (docs/adr/0009-journal.md, 4).
 */
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { Overlay } from "../../src/durability/journal/overlay.ts";
import { encodeRow } from "../../src/store/codec.ts";
import { LmdbTables } from "../../src/store/lmdb-tables.ts";
import { memoryBytes } from "../support/heap.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { manualDurability } from "../support/manual-durability.ts";
import { until } from "../support/realtime.ts";
import { temporaryFolder } from "../support/server.ts";

type Fill = (overlay: Overlay, id: number) => void;

const emptyRow = encodeRow("messageFlags", [1, 1, 1], {});

/** Rows of all shapes. */
const kinds: Readonly<Record<string, Fill>> = {
  "a removed row, its key a number": (overlay, id) => overlay.write("messages", id, null),
  "a removed row, its key a fraction": (overlay, id) => overlay.write("messages", id + 0.5, null),
  "a removed row, its key a text": (overlay, id) => overlay.write("topicNames", `a topic of usual length ${id}`, null),
  "a small row, its key a list": (overlay, id) => overlay.write("messageFlags", [12, 1, id], Buffer.from(emptyRow)),
  "a small row, its key a number": (overlay, id) => overlay.write("events", id, Buffer.from(`${id}`.padEnd(60))),
  "a large row": (overlay, id) => overlay.write("messages", id, Buffer.from(`${id}`.padEnd(2_000))),
};

function measured(fill: Fill, rows: number, rowsPerTurn: number): { readonly taken: number; readonly counted: number } {
  const before = memoryBytes();
  const overlay = new Overlay(0, { bytes: 0 });
  for (let id = 1; id <= rows; id++) {
    fill(overlay, id);
    if (id % rowsPerTurn === 0) overlay.endTurn(id);
  }
  const taken = memoryBytes() - before;
  return { taken, counted: overlay.bytes };
}

t.test("[S3] an overlay counts at least the memory that it takes, and at most twice as much", async (t) => {
  for (const [what, fill] of Object.entries(kinds)) {
    for (const rowsPerTurn of [1, 1000]) {
      const { taken, counted } = measured(fill, what === "a large row" ? 9_000 : 33_000, rowsPerTurn);
      const share = counted / taken;
      t.ok(share >= 1 && share <= 2, `${what}, ${rowsPerTurn} a turn: counted ${share.toFixed(2)} of what it takes`);
    }
  }
});

async function opened(t: Test) {
  const store = join(temporaryFolder(t, { inMemory: true }), "store");
  const clock = new ManualClock(0);
  const { journal, durability } = await manualDurability(clock);
  const realm = durability.adopt({ id: 1, folder: store, tables: new LmdbTables(store) });
  t.teardown(async () => {
    journal.flush();
    await realm.close();
    await realm.tables.close();
    await durability.close();
  });
  return { journal, clock, durability, realm };
}

t.test("[S3] turns wait when what the stores lack takes overlay_bytes_max of memory, in any records", async (t) => {
  t.equal(limits.overlay_bytes_max, 64 * 1024 * 1024);
  const { journal, clock, durability, realm } = await opened(t);
  const before = memoryBytes();
  let rows = 0;
  while (realm.gate.hasRoom) {
    realm.tables.transaction(() => {
      for (let count = 0; count < 100; count++) realm.tables.write("messageFlags", [1, 1, ++rows], null);
    });
    journal.flush();
  }
  const taken = memoryBytes() - before;
  t.ok(durability.memoryBytes >= limits.overlay_bytes_max);
  t.ok(durability.memoryBytes < 1.01 * limits.overlay_bytes_max, "at the bound");
  // The journal of this test keeps its records in memory.
  const records = journal.records.reduce((sum, { bytes }) => sum + bytes.length, 0);
  t.ok(taken - records < limits.overlay_bytes_max, `${rows} rows take ${taken - records} bytes`);
  t.ok(records < limits.overlay_bytes_max / 5, "their records are far smaller");
  const goesOn = new Promise<void>((resolve) => realm.gate.onceRoom(resolve));
  await goesOn;
  await until(() => {
    // The rest is not urgent.
    clock.advance(limits.checkpoint_interval_ms);
    return durability.memoryBytes === 0;
  });
});
