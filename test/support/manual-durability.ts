/**
 * Durability without files and threads: a journal in memory, and the server's own overlay, gate and checkpoints. A crash
 * is a copy of a store that is brought to the last record of the journal, as a start does it.
 */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";
import { latestOf, turnsAfter } from "../../src/durability/journal/checkpoint.ts";
import type { StartMaker } from "../../src/durability/journal/checkpoint-maker.ts";
import { CheckpointWorker } from "../../src/durability/journal/checkpoint-worker.ts";
import type { Durability, DurableTables, Lag, RealmTables } from "../../src/durability/journal/durability.ts";
import { BacklogLimit } from "../../src/durability/journal/durability-gate.ts";
import { JournalDurability } from "../../src/durability/journal/journal-durability.ts";
import { encodeRow, nameOfKey } from "../../src/store/codec.ts";
import { lmdbOf } from "../../src/store/lmdb.ts";
import { LmdbTables } from "../../src/store/lmdb-tables.ts";
import { StoreWriter } from "../../src/store/store-writer.ts";
import { turnKey, turnNumberIn } from "../../src/store/turn-number.ts";
import type { ManualClock } from "./manual-clock.ts";
import { ManualJournal } from "./manual-journal.ts";
import { type Teardown, temporaryFolder } from "./server.ts";

export interface ManualDurability {
  readonly journal: ManualJournal;
  readonly durability: JournalDurability;
}

const fatal = (error: unknown): never => {
  throw error;
};

const ports = {
  archive: null,
  owner: null,
  isLocked: () => Promise.resolve(false),
  hasSpace: () => true,
  fatal,
  reportBug: fatal,
};

/** The test decides about flushes; checkpoints are made by the real thread. To be closed when its realms are. */
export async function manualDurability(clock: ManualClock): Promise<ManualDurability> {
  const journal = new ManualJournal();
  const durability = new JournalDurability({ ...ports, journal, clock });
  await durability.isReady;
  return { journal, durability };
}

/** The work of the checkpoint thread, done at once. */
const startInline: StartMaker = ({ noticed }) => {
  const worker = new CheckpointWorker({ openWriter: (folder) => new StoreWriter(folder), post: noticed });
  noticed({ kind: "ready" });
  return { post: (task) => void worker.handle(task), end: () => worker.handle({ kind: "end" }) };
};

/** A turn is durable as soon as the program waits. */
class PromptJournal extends ManualJournal {
  isStalled = false;

  override append(realmId: number, record: Uint8Array): number {
    const position = super.append(realmId, record);
    queueMicrotask(() => {
      if (!this.isStalled) this.flush();
    });
    return position;
  }
}

/** Where the turns of open folders are that their stores lack. */
const openFolders = new Map<string, { readonly journal: ManualJournal; readonly id: number }>();

/** Turns are durable at once. Stores get them when a test says so, or a realm closes. */
export class PromptDurability implements Durability {
  readonly #journal = new PromptJournal();
  readonly #backlog = new BacklogLimit(fatal);
  readonly #inner: JournalDurability;
  #checkpoints: (() => void)[] = [];

  constructor(clock: ManualClock) {
    this.#inner = new JournalDurability({
      ...ports,
      journal: this.#journal,
      backlog: this.#backlog,
      startMaker: startInline,
      clock: {
        now: () => clock.now(),
        monotonic: () => 0,
        after: (_milliseconds, callback) => {
          this.#checkpoints.push(callback);
          return () => undefined;
        },
        soon: (callback) => void setImmediate(callback),
      },
    });
  }

  get lag(): Lag {
    return this.#inner.lag;
  }

  adopt(realm: RealmTables): DurableTables {
    openFolders.set(realm.folder, { journal: this.#journal, id: realm.id });
    return this.#inner.adopt(realm);
  }

  assertOwned(): void {
    this.#inner.assertOwned();
  }

  archiveMark(): () => boolean {
    return this.#inner.archiveMark();
  }

  /** Nothing becomes durable. @returns a function that ends this */
  stall(): () => void {
    this.#journal.isStalled = true;
    return () => {
      this.#journal.isStalled = false;
      this.#journal.flush();
    };
  }

  /** The stores are as far behind as they may be. @returns a function that ends this */
  fillRoom(): () => void {
    const { overlays } = this.#backlog;
    overlays.bytes += limits.overlay_bytes_max;
    return () => {
      overlays.bytes -= limits.overlay_bytes_max;
      this.#backlog.advanced();
    };
  }

  /** The stores get every turn. */
  checkpoint(): void {
    this.#journal.flush();
    for (const run of this.#checkpoints.splice(0)) run();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** @returns a folder with a store as the start after a crash at this moment leaves it */
export function crashImage(t: Teardown, folder: string): string {
  const image = temporaryFolder(t);
  mkdirSync(image, { recursive: true });
  copyFileSync(join(folder, "data.mdb"), join(image, "data.mdb"));
  const open = openFolders.get(folder);
  if (open !== undefined) settle(image, open.journal, open.id);
  return image;
}

/** As a start does it (src/durability/journal/apply-journal.ts), in one step: tests crash in the middle of a turn. */
function settle(folder: string, journal: ManualJournal, realmId: number): void {
  const tables = new LmdbTables(folder);
  const from = turnNumberIn(lmdbOf(tables));
  void tables.close();
  const records = journal.records.filter((record) => record.realmId === realmId).map(({ bytes }) => bytes);
  const turns = turnsAfter(from, records, folder);
  const last = turns.at(-1);
  if (last === undefined) return;
  const bytes = encodeRow("meta", turnKey, { value: last.turn });
  const writer = new StoreWriter(folder);
  writer.write([...latestOf(turns), { table: "meta", key: nameOfKey(turnKey), bytes }], []);
  void writer.close();
}
