/**
 * The tables of a realm as LMDB keeps them; only this folder uses lmdb. A transaction is synchronous and flushed when it
 * returns (M1). No cursor outlives a call (pitfalls 1.4).
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import * as lmdb from "lmdb";
import { type Database, open, type RootDatabase } from "lmdb";
import { limits } from "../../schemas/limits.ts";
import { rowFields, type TableName } from "../../schemas/records.ts";
import { keyEncoder } from "./codec.ts";
import { flushFoldersTo } from "./folders.ts";
import { type CheckDepth, checkPages } from "./lmdb-check.ts";
import type { StoreTables, TableEntry, TableRange } from "./tables.ts";

type RawKey = number | string | (number | string)[];

export class LmdbTables implements StoreTables {
  readonly file: string;
  /** Names that the file has and this program does not know. */
  readonly unknownTables: readonly string[];
  readonly #root: RootDatabase<Buffer, RawKey>;
  readonly #databases: ReadonlyMap<TableName, Database<Buffer, RawKey>>;
  #isWriting = false;

  /**
   * @param extent how much of the file is checked before LMDB opens it
   * @param isDraft nothing is flushed, because the folder is removed if this process ends before it has flushed all of it
   * @throws Error when the folder cannot be created or is not an LMDB environment; DamagedData
   */
  constructor(folder: string, extent: CheckDepth = "inner-pages", isDraft = false) {
    this.file = join(folder, "data.mdb");
    checkPages(this.file, extent);
    // The file contains password hashes, so other users must not read it.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const isNew = !existsSync(this.file);
    this.#root = open({
      path: folder,
      // pitfalls 1.2: readers see only durable data, and a failed commit leaves nothing.
      overlappingSync: false,
      noSync: isDraft,
      maxDbs: limits.store_tables_max,
      encoding: "binary",
    });
    const tables = Object.keys(rowFields) as TableName[];
    this.unknownTables = [...this.#root.getKeys()].map(String).filter((name) => !Object.hasOwn(rowFields, name));
    this.#databases = new Map(
      tables.map((table) => {
        // The library's types do not declare `keyEncoder` here.
        const options = { name: table, encoding: "binary" as const, keyEncoder };
        return [table, this.#root.openDB<Buffer, RawKey>(options)];
      }),
    );
    if (isNew && !isDraft) flushFoldersTo(folder);
  }

  #of(table: TableName): Database<Buffer, RawKey> {
    return this.#databases.get(table) as Database<Buffer, RawKey>;
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  get(table: TableName, key: unknown): Uint8Array | undefined {
    return this.#of(table).get(key as RawKey);
  }

  /** Everything in it is durable. */
  noteRead(): void {}

  range(table: TableName, range: TableRange): Iterable<TableEntry> {
    return this.#of(table).getRange(range as object);
  }

  keys(table: TableName, range: TableRange): Iterable<unknown> {
    // lmdb adds options of its own to the object.
    return this.#of(table).getKeys({ ...range } as object);
  }

  count(table: TableName): number {
    // LMDB maintains this number; counting keys would need a full scan.
    return (this.#of(table).getStats() as { entryCount: number }).entryCount;
  }

  write(table: TableName, key: unknown, bytes: Uint8Array | null): void {
    // A block, not an expression: a returned promise would leave the transaction open (pitfalls 1.1).
    if (bytes === null) void this.#of(table).remove(key as RawKey);
    else void this.#of(table).put(key as RawKey, bytes as Buffer);
  }

  transaction<R>(work: () => R): R {
    let result: R | undefined;
    const isOutermost = !this.#isWriting;
    this.#isWriting = true;
    try {
      this.#root.transactionSync(() => {
        result = work();
      });
    } finally {
      if (isOutermost) this.#isWriting = false;
    }
    return result as R;
  }

  refresh(): void {
    this.#root.resetReadTxn();
  }

  clearDeadReaders(): void {
    this.#root.readerCheck();
  }

  async backup(folder: string): Promise<void> {
    mkdirSync(folder, { recursive: true });
    await this.#root.backup(folder, true);
  }

  close(): Promise<void> {
    forget([this.#root, ...this.#databases.values()]);
    return this.#root.close();
  }
}

/** The library keeps every database that it ever opened, by name, although nothing reads that list. */
function forget(databases: readonly unknown[]): void {
  const { allDbs } = lmdb as typeof lmdb & { readonly allDbs: Map<string, unknown> };
  const closed = new Set(databases);
  for (const [name, database] of allDbs) if (closed.has(database)) allDbs.delete(name);
}
