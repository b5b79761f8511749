/** Tables that pass everything on: the base class of everything that a simulation puts between a realm and its rows. */
import type { TableName } from "../../schemas/records.ts";
import type { StoreTables, TableEntry, TableRange } from "../../src/store/tables.ts";

export class TablesTap implements StoreTables {
  protected readonly inner: StoreTables;

  constructor(inner: StoreTables) {
    this.inner = inner;
  }

  get file(): string {
    return this.inner.file;
  }

  get isWriting(): boolean {
    return this.inner.isWriting;
  }

  get(table: TableName, key: unknown): Uint8Array | undefined {
    return this.inner.get(table, key);
  }

  noteRead(table: TableName, key: unknown): void {
    this.inner.noteRead(table, key);
  }

  range(table: TableName, range: TableRange): Iterable<TableEntry> {
    return this.inner.range(table, range);
  }

  keys(table: TableName, range: TableRange): Iterable<unknown> {
    return this.inner.keys(table, range);
  }

  count(table: TableName): number {
    return this.inner.count(table);
  }

  write(table: TableName, key: unknown, bytes: Uint8Array | null): void {
    this.inner.write(table, key, bytes);
  }

  transaction<R>(work: () => R): R {
    return this.inner.transaction(work);
  }

  refresh(): void {
    this.inner.refresh();
  }

  clearDeadReaders(): void {
    this.inner.clearDeadReaders();
  }

  backup(folder: string): Promise<void> {
    return this.inner.backup(folder);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
