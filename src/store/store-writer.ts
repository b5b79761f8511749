/**
 * Writes rows into a realm's store as bytes, with no knowledge of tables: for the thread that checkpoints. A transaction
 * is flushed when it returns (M1).
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Database, open, type RootDatabase } from "lmdb";
import { commonLimits } from "../../schemas/limits/common.ts";
import { PathGuard, removed } from "./path-guard.ts";

/** A key as its bytes: lmdb takes them as they are. */
type RawKey = Uint8Array;

export interface StoredRow {
  /** The table's name on disk. */
  readonly table: string;
  /** The key's bytes, one character for each. */
  readonly key: string;
  /** null: there is none. */
  readonly bytes: Uint8Array | null;
}

export class StoreWriter {
  readonly file: string;
  readonly #root: RootDatabase<Buffer, RawKey>;
  readonly #place: PathGuard;
  readonly #databases = new Map<string, Database<Buffer, RawKey>>();

  /**
   * @param isDraft nothing is flushed: the caller that fills the folder flushes all of it at the end
   * @throws OwnershipLost when the folder has no store any more: this never creates one
   */
  constructor(folder: string, isDraft = false) {
    this.file = join(folder, "data.mdb");
    if (!existsSync(this.file)) throw removed(this.file);
    this.#place = new PathGuard(this.file);
    this.#root = open({
      path: folder,
      // pitfalls 1.2: readers see only durable data, and a failed commit leaves nothing.
      overlappingSync: false,
      noSync: isDraft,
      maxDbs: commonLimits.store_tables_max,
      encoding: "binary",
    });
  }

  /**
   * @param guards rows that must be in the store exactly so
   * @returns false if they are not: nothing was written then
   * @throws OwnershipLost when the file was removed or replaced: what was written is lost
   */
  write(rows: Iterable<StoredRow>, guards: readonly StoredRow[]): boolean {
    const isWritten = this.#root.transactionSync(() => {
      if (!guards.every((guard) => this.#has(guard))) return false;
      for (const { table, key, bytes } of rows) {
        const database = this.#of(table);
        if (bytes === null) void database.remove(keyOf(key));
        else void database.put(keyOf(key), bytes as Buffer);
      }
      return true;
    });
    // After the flush: the journal forgets what the store has (M1).
    this.#place.verify();
    return isWritten;
  }

  get(table: string, key: string): Buffer | undefined {
    return this.#of(table).get(keyOf(key));
  }

  #has({ table, key, bytes }: StoredRow): boolean {
    const found = this.get(table, key);
    return bytes === null ? found === undefined : found !== undefined && Buffer.compare(found, bytes) === 0;
  }

  #of(table: string): Database<Buffer, RawKey> {
    let database = this.#databases.get(table);
    if (database === undefined) {
      database = this.#root.openDB<Buffer, RawKey>({ name: table, encoding: "binary" });
      this.#databases.set(table, database);
    }
    return database;
  }

  close(): Promise<void> {
    return this.#root.close();
  }
}

function keyOf(name: string): RawKey {
  return Buffer.from(name, "latin1");
}
