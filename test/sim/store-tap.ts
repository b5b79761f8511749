/**
 * A store that passes everything on to another one: the base class of everything that a simulation puts between a realm
 * and its disk.
 */
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { Environment, PreparedWrite, RowRange, SealedSlice } from "../../src/store/environment.ts";

export class StoreTap implements Environment {
  protected readonly inner: Environment;

  constructor(inner: Environment) {
    this.inner = inner;
  }

  get file(): string {
    return this.inner.file;
  }

  get isWriting(): boolean {
    return this.inner.isWriting;
  }

  get<T extends TableName>(table: T, key: KeyOf<T>): RowOf<T> | undefined {
    return this.inner.get(table, key);
  }

  has<T extends TableName>(table: T, key: KeyOf<T>): boolean {
    return this.inner.has(table, key);
  }

  rows<T extends TableName>(table: T, range: RowRange): { key: KeyOf<T>; row: RowOf<T> }[] {
    return this.inner.rows(table, range);
  }

  keys<T extends TableName>(table: T, range: RowRange): KeyOf<T>[] {
    return this.inner.keys(table, range);
  }

  each<T extends TableName>(table: T, visit: (row: RowOf<T>, key: KeyOf<T>) => void): void {
    this.inner.each(table, visit);
  }

  sealRows(table: TableName, from: unknown, limit: number): SealedSlice {
    return this.inner.sealRows(table, from, limit);
  }

  requireSeals(): void {
    this.inner.requireSeals();
  }

  write(prepared: PreparedWrite): void {
    this.inner.write(prepared);
  }

  put<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T>): number {
    return this.inner.put(table, key, row);
  }

  remove<T extends TableName>(table: T, key: KeyOf<T>): void {
    this.inner.remove(table, key);
  }

  transaction<R>(work: () => R): R {
    return this.inner.transaction(work);
  }

  clearDeadReaders(): void {
    this.inner.clearDeadReaders();
  }

  backup(folder: string): Promise<void> {
    return this.inner.backup(folder);
  }

  count(table: TableName): number {
    return this.inner.count(table);
  }

  verify(table: TableName, report: (error: unknown) => void): void {
    this.inner.verify(table, report);
  }

  refresh(): void {
    this.inner.refresh();
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
