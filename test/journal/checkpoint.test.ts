/**
 * Checkpoints: the thread brings durable turns into the store, all of a batch or none, with the number of the last one;
 * a start brings the rest (docs/adr/0009-journal.md, 4 and 5).
 */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { seededRandom } from "../../bench/lib/statistics.ts";
import { limits } from "../../schemas/limits.ts";
import { applyRecords } from "../../src/durability/journal/apply-journal.ts";
import { latestOf } from "../../src/durability/journal/checkpoint.ts";
import { Checkpointer } from "../../src/durability/journal/checkpointer.ts";
import { ReadTracker } from "../../src/durability/journal/durability-gate.ts";
import { OverlayTables } from "../../src/durability/journal/overlay-tables.ts";
import { encodeRow, nameOfKey } from "../../src/store/codec.ts";
import { fenced } from "../../src/store/fence.ts";
import { lmdbOf } from "../../src/store/lmdb.ts";
import { LmdbTables } from "../../src/store/lmdb-tables.ts";
import { turnKey, turnNumberIn } from "../../src/store/turn-number.ts";
import { crashImage } from "../support/runtime.ts";
import { seedOf } from "../support/seed.ts";
import { type Teardown, temporaryFolder } from "../support/server.ts";

type Model = Map<string, number | null>;

/** A realm whose turns are recorded, with a checkpoint thread and a timer that the test fires. */
import { until } from "../support/realtime.ts";

class Trial {
  readonly folder: string;
  readonly store: LmdbTables;
  readonly tables: OverlayTables;
  readonly records: Uint8Array[] = [];
  readonly fatalities: Error[] = [];
  readonly checkpointed: number[] = [];
  readonly checkpointer: Checkpointer;
  readonly #timers: { readonly ms: number; readonly callback: () => void }[] = [];
  #woken: () => void = () => undefined;

  constructor(t: Teardown, options: { readonly owner?: string; readonly folder?: string } = {}) {
    this.folder = options.folder ?? temporaryFolder(t);
    this.store = new LmdbTables(this.folder);
    const lmdb = lmdbOf(this.store);
    if (options.owner !== undefined) fenced(lmdb, this.folder, options.owner);
    const turn = turnNumberIn(lmdb);
    this.tables = new OverlayTables({
      tables: this.store,
      turn,
      now: () => 0,
      memory: { bytes: 0 },
      reads: new ReadTracker(),
      append: (record, written) => {
        this.records.push(new Uint8Array(record));
        this.checkpointer.add(1, this.records.length, written.turn, record);
        return this.records.length;
      },
    });
    this.checkpointer = new Checkpointer({
      owner: options.owner ?? null,
      hasSpace: () => true,
      isUrgent: () => this.checkpointer.waitingBytes >= limits.checkpoint_bytes,
      after: (ms, callback) => {
        this.#timers.push({ ms, callback });
        return () => undefined;
      },
      fatal: (error) => {
        this.fatalities.push(error as Error);
        this.#woken();
        return undefined as never;
      },
      onProgress: () => this.#woken(),
    });
    const turnRow = { table: "meta", key: nameOfKey(turnKey), bytes: this.store.get("meta", turnKey) ?? null };
    const onCheckpointed = (upTo: number) => {
      this.checkpointed.push(upTo);
      this.tables.checkpointed(upTo);
    };
    this.checkpointer.adopt({ id: 1, folder: this.folder, turn, turnRow, onCheckpointed });
    t.teardown(async () => {
      if (this.fatalities.length === 0) {
        this.checkpointer.durableUpTo(this.records.length);
        await this.checkpointer.release(1);
      }
      await this.checkpointer.end();
      await this.store.close();
    });
  }

  /** A row is a number by its id; null removes it. */
  turn(rows: readonly (readonly [id: number, value: number | null])[]): void {
    this.tables.transaction(() => {
      for (const [id, value] of rows) {
        const bytes = value === null ? null : encodeRow("meta", `row ${id}`, { value });
        this.tables.write("meta", `row ${id}`, bytes);
      }
    });
  }

  durableUpTo(position: number): void {
    this.checkpointer.durableUpTo(position);
  }

  /** The interval is over; resolves when the store has what was durable, or cannot get it. */
  async checkpoint(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#woken = resolve;
    });
    const timer = this.#timers.shift();
    if (timer === undefined) throw new Error("no timer is set");
    timer.callback();
    await ended;
  }

  get delays(): number[] {
    return this.#timers.map(({ ms }) => ms);
  }
}

/** What a store contains on disk, with the number of its last turn. */
async function storedIn(t: Teardown, folder: string): Promise<{ turn: number; rows: Record<string, number> }> {
  const tables = new LmdbTables(crashImage(t, folder), "all-pages");
  const lmdb = lmdbOf(tables);
  const rows: Record<string, number> = {};
  lmdb.each("meta", ({ value }, key) => {
    if (key.startsWith("row ")) rows[key] = value as number;
  });
  const turn = turnNumberIn(lmdb);
  await tables.close();
  return { turn, rows };
}

t.test("[M1] the store gets durable turns after checkpoint_interval_ms, and no others", async (t) => {
  const trial = new Trial(t);
  trial.turn([
    [1, 10],
    [2, 20],
  ]);
  trial.turn([
    [1, 11],
    [2, null],
  ]);
  trial.turn([[3, 30]]);
  t.strictSame(trial.delays, [], "nothing is durable yet");
  trial.durableUpTo(2);
  t.strictSame(trial.delays, [limits.checkpoint_interval_ms]);
  t.equal(trial.checkpointer.storedUpTo, 0);
  await trial.checkpoint();
  t.strictSame(await storedIn(t, trial.folder), { turn: 2, rows: { "row 1": 11 } });
  t.equal(trial.checkpointer.storedUpTo, 2);
  t.strictSame(trial.checkpointed, [2]);
  trial.durableUpTo(3);
  await trial.checkpoint();
  t.strictSame(await storedIn(t, trial.folder), { turn: 3, rows: { "row 1": 11, "row 3": 30 } });
  t.equal(trial.checkpointer.waitingBytes, 0);
  t.equal(trial.tables.overlayBytes, 0, "the rows left the memory");
});

t.test("[M2] a checkpoint that fails leaves neither rows nor a number in the store, and is fatal (M5)", async (t) => {
  const trial = new Trial(t);
  trial.turn([[1, 10]]);
  trial.durableUpTo(1);
  await trial.checkpoint();
  trial.turn([[1, 11]]);
  const broken = new Uint8Array(trial.records[1] as Uint8Array);
  // The name of a table that LMDB cannot open: it is longer than a key may be.
  const name = "x".repeat(2000);
  const { RecordEncoder } = await import("../../src/durability/journal/record.ts");
  const long = new RecordEncoder().encode(3, 0, [
    { name: "meta", written: [{ ordered: "row 2", bytes: encodeRow("meta", "row 2", { value: 2 }) }] },
    { name: "meta", written: [{ ordered: name, bytes: broken }] },
  ]);
  trial.checkpointer.add(1, 3, 3, long);
  trial.durableUpTo(3);
  await trial.checkpoint();
  t.match(trial.fatalities, [{ message: /^a checkpoint failed: / }]);
  t.strictSame(await storedIn(t, trial.folder), { turn: 1, rows: { "row 1": 10 } });
});

t.test("[M5] a checkpoint into a store that another process took over writes nothing and is fatal", async (t) => {
  const trial = new Trial(t, { owner: "older" });
  trial.turn([[1, 10]]);
  trial.durableUpTo(1);
  await trial.checkpoint();
  const newer = new LmdbTables(trial.folder);
  fenced(lmdbOf(newer), trial.folder, "newer");
  trial.turn([[1, 11]]);
  trial.durableUpTo(2);
  await trial.checkpoint();
  t.match(trial.fatalities, [{ name: "OwnershipLost", message: /^Another process took over / }]);
  t.strictSame(await storedIn(t, trial.folder), { turn: 1, rows: { "row 1": 10 } });
  await newer.close();
});

t.test("[M1] a checkpoint into a file that was replaced is fatal: the journal must keep its records", async (t) => {
  const trial = new Trial(t);
  trial.turn([[1, 10]]);
  trial.durableUpTo(1);
  await trial.checkpoint();
  const file = join(trial.folder, "data.mdb");
  renameSync(file, `${file}-before`);
  writeFileSync(file, "");
  trial.turn([[1, 11]]);
  trial.durableUpTo(2);
  await trial.checkpoint();
  t.match(trial.fatalities, [{ name: "OwnershipLost", message: /was replaced/ }]);
  t.equal(trial.checkpointer.storedUpTo, 1);
});

t.test("[M2] whenever the process dies, a start brings the store to the last turn, each turn once", async (t) => {
  const random = seededRandom(seedOf(t));
  const pick = (count: number) => Math.floor(random() * count);
  for (let round = 0; round < 6; round++) {
    const trial = new Trial(t);
    const model: Model = new Map();
    for (let turn = 1 + pick(30); turn > 0; turn--) {
      const rows = Array.from({ length: 1 + pick(4) }, () => [pick(8), pick(4) === 0 ? null : pick(1000)] as const);
      trial.turn(rows);
      for (const [id, value] of rows) model.set(`row ${id}`, value);
      if (pick(4) > 0) continue;
      const durable = trial.records.length - pick(2);
      if (durable <= trial.checkpointer.storedUpTo) continue;
      trial.durableUpTo(durable);
      await trial.checkpoint();
    }
    const image = crashImage(t, trial.folder);
    // The journal may still have records that the store has.
    const { turn: stored } = await storedIn(t, image);
    const first = pick(stored + 1);
    const records = trial.records
      .slice(first)
      .map((bytes, index) => ({ position: first + index + 1, realmId: 1, bytes }));
    const expected = Object.fromEntries([...model].filter(([, value]) => value !== null).sort());
    for (const again of ["once", "again"]) {
      await applyRecords(records, () => image);
      t.strictSame(await storedIn(t, image), { turn: trial.records.length, rows: expected }, again);
    }
  }
});

t.test("[M2] a start rejects a journal that lacks a turn, and changes nothing", async (t) => {
  const trial = new Trial(t);
  for (let value = 1; value <= 4; value++) trial.turn([[value, value]]);
  const image = crashImage(t, trial.folder);
  const recorded = (turns: readonly number[]) =>
    turns.map((turn) => ({ position: turn, realmId: 1, bytes: trial.records[turn - 1] as Uint8Array }));
  await t.rejects(
    applyRecords(recorded([1, 2, 4]), () => image),
    { name: "JournalDamaged", message: /has turn 2.*is 4/ },
  );
  await t.rejects(
    applyRecords(recorded([2, 3]), () => image),
    { name: "JournalDamaged" },
  );
  t.strictSame(await storedIn(t, image), { turn: 0, rows: {} });
  await applyRecords(recorded([1, 2, 3]), () => image);
  t.strictSame(await storedIn(t, image), { turn: 3, rows: { "row 1": 1, "row 2": 2, "row 3": 3 } });
});

t.test("[S3] a start has bounded memory for records, and opens a store once for those of a time", async (t) => {
  const trials = [new Trial(t), new Trial(t)];
  const records = [];
  for (let turn = 1; turn <= 50; turn++) {
    for (const [index, trial] of trials.entries()) {
      trial.turn([[turn, turn]]);
      records.push({ position: records.length + 1, realmId: index, bytes: trial.records[turn - 1] as Uint8Array });
    }
  }
  const bytes = records.reduce((sum, record) => sum + record.bytes.length, 0);
  for (const [bytesMax, opened] of [
    [bytes + 1, [1, 1]],
    [Math.ceil(bytes / 4), [4, 4]],
    [1, [50, 50]],
  ] as const) {
    const images = trials.map(({ folder }) => crashImage(t, folder));
    // The second start finds nothing to write.
    for (const count of [opened, [1, 1]]) {
      const counts = [0, 0];
      const storeOf = (realmId: number) => {
        counts[realmId] = (counts[realmId] ?? 0) + 1;
        return images[realmId] ?? null;
      };
      await applyRecords(records, storeOf, bytesMax);
      t.match(counts, count, `${bytesMax} of ${bytes} bytes at a time`);
    }
    for (const image of images) t.match(await storedIn(t, image), { turn: 50, rows: { "row 1": 1, "row 50": 50 } });
  }
});

t.test("[S3] records beyond checkpoint_bytes that are not durable wait for the journal", async (t) => {
  const trial = new Trial(t);
  trial.turn([[1, 1]]);
  trial.tables.transaction(() => trial.tables.write("meta", "large", Buffer.alloc(limits.checkpoint_bytes + 1)));
  trial.durableUpTo(1);
  await until(() => trial.checkpointed.length > 0);
  t.strictSame(trial.checkpointed, [1]);
  t.strictSame(trial.fatalities, []);
});

t.test("[M2] of a row that several turns wrote, a checkpoint writes the last state, in each table", async (t) => {
  const write = (table: string, key: string, byte: number | null) => {
    return { table, key, bytes: byte === null ? null : Buffer.from([byte]) };
  };
  const turns = [
    [write("a", "k", 1), write("b", "k", 2), write("b", "l", 3)],
    [write("b", "k", null), write("a", "k", 4)],
    [write("a", "m", 5)],
  ].map((writes, index) => ({ turn: index + 1, at: 0, writes }));
  t.strictSame(latestOf(turns), [write("a", "k", 4), write("a", "m", 5), write("b", "k", null), write("b", "l", 3)]);
  t.strictSame(latestOf([]), []);
});
