/**
 * The overlay of rows that the store does not have yet (docs/adr/0009-journal.md): random turns, read through it, must
 * look like the same turns in a plain store, whenever a checkpoint comes and whatever is rolled back.
 */
import { join } from "node:path";
import t, { type Test } from "tap";
import { seededRandom } from "../../bench/lib/statistics.ts";
import { limits } from "../../schemas/limits.ts";
import type { TableName } from "../../schemas/records.ts";
import { latestOf, turnsAfter } from "../../src/durability/journal/checkpoint.ts";
import { ReadTracker } from "../../src/durability/journal/durability-gate.ts";
import { OverlayTables } from "../../src/durability/journal/overlay-tables.ts";
import { nameOfKey } from "../../src/store/codec.ts";
import { LmdbTables } from "../../src/store/lmdb-tables.ts";
import { StoreWriter } from "../../src/store/store-writer.ts";
import type { StoreTables, TableRange } from "../../src/store/tables.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";

const tables: readonly TableName[] = ["messages", "conversationMessages", "topicNames"];

class Trial {
  readonly random: () => number;
  readonly plain: LmdbTables;
  readonly store: LmdbTables;
  readonly overlay: OverlayTables;
  readonly records: Uint8Array[] = [];
  readonly memory = { bytes: 0 };
  readonly #writer: StoreWriter;
  #stored = 0;

  constructor(t: { teardown(callback: () => unknown): void }, seed: number) {
    this.random = seededRandom(seed);
    const folder = temporaryFolder(t as never, { inMemory: true });
    this.plain = new LmdbTables(join(folder, "plain"));
    this.store = new LmdbTables(join(folder, "store"));
    this.#writer = new StoreWriter(join(folder, "store"));
    this.overlay = new OverlayTables({
      tables: this.store,
      turn: 0,
      now: () => 0,
      memory: this.memory,
      dropRows: 3,
      reads: new ReadTracker(),
      append: (record) => this.records.push(new Uint8Array(record)),
    });
    t.teardown(async () => {
      await this.#writer.close();
      await this.store.close();
      await this.plain.close();
    });
  }

  pick(count: number): number {
    return Math.floor(this.random() * count);
  }

  key(table: TableName): unknown {
    const id = this.pick(40) + (this.pick(4) === 0 ? 0.5 : 0);
    if (table === "messages") return id;
    return table === "topicNames"
      ? [this.pick(4), `t${"\u0001x\u0000ä".slice(0, this.pick(4))}${this.pick(6)}`]
      : [this.pick(4), id];
  }

  /** The same writes to both, with nested transactions that may fail. */
  turn(): void {
    const isFailing = this.pick(6) === 0;
    const seed = this.pick(2 ** 30);
    for (const target of [this.plain, this.overlay]) {
      const random = seededRandom(seed);
      try {
        target.transaction(() => {
          this.#write(target, random, 0);
          if (isFailing) throw new Error("fails");
        });
      } catch (error) {
        if ((error as Error).message !== "fails") throw error;
      }
    }
  }

  #write(target: StoreTables, random: () => number, depth: number): void {
    const pick = (count: number) => Math.floor(random() * count);
    for (let left = pick(6); left > 0; left--) {
      const table = tables[pick(tables.length)] as TableName;
      const key = table === "messages" ? pick(40) : [pick(4), table === "topicNames" ? `t${pick(9)}` : pick(40)];
      target.write(table, key, pick(3) === 0 ? null : Buffer.from(`${pick(1000)}`));
      if (depth > 1 || pick(5) > 0) continue;
      const isFailing = pick(2) === 0;
      try {
        target.transaction(() => {
          this.#write(target, random, depth + 1);
          if (isFailing) throw new Error("fails");
        });
      } catch (error) {
        if ((error as Error).message !== "fails") throw error;
      }
    }
  }

  /** Brings some of the turns into the store. */
  checkpoint(): void {
    const upTo = this.#stored + this.pick(this.records.length - this.#stored + 1);
    const turns = turnsAfter(this.#stored, this.records.slice(0, upTo), "store");
    this.#writer.write(latestOf(turns), []);
    this.#stored = upTo;
    this.overlay.checkpointed(upTo);
  }

  /** Brings all turns into the store, and drops all rows. */
  checkpointAll(): void {
    this.#writer.write(latestOf(turnsAfter(this.#stored, this.records, "store")), []);
    this.#stored = this.records.length;
    for (let hasMore = this.overlay.checkpointed(this.#stored); hasMore; ) hasMore = this.overlay.dropStored();
  }

  compare(t: Test): void {
    const table = tables[this.pick(tables.length)] as TableName;
    const key = this.key(table);
    const text = (bytes: Uint8Array | undefined) => (bytes === undefined ? null : Buffer.from(bytes).toString());
    const listed = (from: StoreTables, range: object) =>
      [...from.range(table, range)].map((entry) => [entry.key, text(entry.value)]);
    t.equal(text(this.overlay.get(table, key)), text(this.plain.get(table, key)));
    t.equal(this.overlay.count(table), this.plain.count(table), `count of ${table}`);
    const range = {
      ...(this.pick(4) === 0 ? {} : { start: this.key(table) }),
      ...(this.pick(4) === 0 ? {} : { end: this.key(table) }),
      ...(this.pick(2) === 0 ? {} : { limit: this.pick(8) }),
      ...(this.pick(2) === 0 ? {} : { reverse: true }),
    };
    t.strictSame(listed(this.overlay, range), listed(this.plain, range), `${table} ${JSON.stringify(range)}`);
    t.strictSame([...this.overlay.keys(table, range)], [...this.plain.keys(table, range)]);
  }
}

t.test("[M2] rows read through the overlay are those of a plain store, with and without checkpoints", async (t) => {
  const trial = new Trial(t, seedOf(t));
  for (let round = 0; round < 400; round++) {
    trial.turn();
    for (let reads = 0; reads < 4; reads++) trial.compare(t);
    if (trial.pick(5) === 0) trial.checkpoint();
    if (trial.pick(3) === 0) trial.overlay.dropStored();
  }
  trial.checkpointAll();
  t.equal(trial.overlay.overlayBytes, 0, "everything is dropped, and nothing is counted twice");
  t.equal(trial.memory.bytes, 0);
});

t.test("[S3] rows that a checkpoint brought into the store are dropped overlay_drop_rows at a time", async (t) => {
  t.equal(limits.overlay_drop_rows, 5_000);
  const store = new LmdbTables(temporaryFolder(t, { inMemory: true }));
  t.teardown(() => store.close());
  const overlay = new OverlayTables({
    tables: store,
    turn: 0,
    now: () => 0,
    memory: { bytes: 0 },
    reads: new ReadTracker(),
    append: () => 1,
  });
  // A large turn, then many small ones, each of which counts like one more row.
  overlay.transaction(() => {
    for (let id = 1; id <= 12_000; id++) overlay.write("messages", id, null);
  });
  for (let turn = 2; turn <= 4_001; turn++) overlay.transaction(() => overlay.write("messages", -turn, null));
  const slices = (turn: number) => {
    let count = 1;
    for (let hasMore = overlay.checkpointed(turn); hasMore; hasMore = overlay.dropStored()) count++;
    return count;
  };
  t.equal(slices(1), 3);
  t.equal(slices(4_001), 2);
  t.equal(overlay.overlayBytes, 0);
});

t.test("[M9] a read waits for the last record of each row that it shows, or lacks, and for no other", async (t) => {
  const store = new LmdbTables(temporaryFolder(t, { inMemory: true }));
  t.teardown(() => store.close());
  const row = Buffer.from("x");
  store.transaction(() => {
    for (const id of [10, 20, 30, 40]) store.write("messages", id, row);
  });
  const reads = new ReadTracker();
  let record = 100;
  const append = () => ++record;
  const overlay = new OverlayTables({ tables: store, turn: 0, now: () => 0, memory: { bytes: 0 }, reads, append });
  const turns: readonly (readonly [id: number, bytes: Uint8Array | null])[] = [
    [20, null],
    [30, row],
    [50, row],
    [30, row],
  ];
  for (const [id, bytes] of turns) overlay.transaction(() => overlay.write("messages", id, bytes));
  const seen = (read: () => unknown) => {
    reads.begin(false);
    read();
    return reads.newestRecord;
  };
  const get = (id: number) => seen(() => overlay.get("messages", id));
  t.strictSame([10, 20, 30, 40, 50, 60].map(get), [0, 101, 104, 0, 103, 0]);
  const range = (range: TableRange) => seen(() => [...overlay.range("messages", range)]);
  t.equal(range({ start: 1, limit: 1 }), 0, "a row of the store");
  t.equal(range({ start: 11, end: 30 }), 101, "a row that was removed");
  t.equal(range({ start: 11, limit: 1 }), 104, "what is shown instead of it");
  t.equal(range({ start: 31, limit: 1 }), 0, "rows behind the last one are not read");
  t.equal(range({ start: 60, reverse: true, limit: 1 }), 103);
  t.equal(
    seen(() => [...overlay.keys("messages", { start: 41, end: 60 })]),
    103,
  );
  t.equal(
    seen(() => overlay.noteRead("messages", 20)),
    101,
    "a row that is known to be absent",
  );
  overlay.checkpointed(1);
  t.equal(get(20), 0, "the store has only what is durable");
  t.equal(get(30), 104);
});

t.test("keys compare as LMDB orders them", async (t) => {
  const folder = temporaryFolder(t, { inMemory: true });
  const store = new LmdbTables(folder);
  t.teardown(() => store.close());
  const random = seededRandom(seedOf(t));
  const part = () =>
    random() < 0.5
      ? [0, 1, 2, 255, 256, 65_536, 2 ** 31, 2 ** 40 + 0.5, -1, -2.5, Number.MAX_VALUE][Math.floor(random() * 11)]
      : ["", "a", "ab", "a\u0000", "a\u0001b", "\u001f", "ä", "日本", "\u{1f600}", "zz"][Math.floor(random() * 10)];
  const keys = Array.from({ length: 3000 }, () =>
    random() < 0.3 ? part() : Array.from({ length: 2 + Math.floor(random() * 2) }, part),
  );
  store.transaction(() => {
    for (const key of keys) if (key !== "") store.write("messages", key, Buffer.from("x"));
  });
  const ordered = [...store.keys("messages", {})];
  const names = ordered.map(nameOfKey);
  t.strictSame(names, [...names].sort(), "in the same order");
  t.equal(new Set(names).size, names.length);
});
