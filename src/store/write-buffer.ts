/**
 * Buffers rows that many commands of a turn write again, like a conversation that each of its posts changes: they are
 * written once, when their transaction ends (a put takes 1 us or more). Reads by key see the buffered row; a range read
 * writes the buffer first.
 */
import type { TableName } from "../../schemas/records.ts";

/** Tables with numeric keys. */
const rewrittenTables: readonly TableName[] = ["conversations"];

type Write = (table: TableName, key: number, bytes: Uint8Array | null) => void;

export class WriteBuffer {
  /** Bytes by key, or null for a removed row. */
  readonly #buffered: ReadonlyMap<TableName, Map<number, Uint8Array | null>> = new Map(
    rewrittenTables.map((table) => [table, new Map()]),
  );
  readonly #write: Write;

  constructor(write: Write) {
    this.#write = write;
  }

  /** @returns whether the row was buffered; otherwise it must be written at once */
  take(table: TableName, key: unknown, bytes: Uint8Array | null): boolean {
    const rows = this.#buffered.get(table);
    rows?.set(key as number, bytes);
    return rows !== undefined;
  }

  /** Returns undefined if nothing is buffered for the key. */
  get(table: TableName, key: unknown): Uint8Array | null | undefined {
    return this.#buffered.get(table)?.get(key as number);
  }

  /** Writes the buffered rows of a table, before a range of it is read. */
  release(table: TableName): void {
    const rows = this.#buffered.get(table);
    if (rows === undefined || rows.size === 0) return;
    for (const [key, bytes] of rows) this.#write(table, key, bytes);
    rows.clear();
  }

  /** Called before a transaction ends, and before a nested one begins, because that must roll back alone. */
  releaseAll(): void {
    for (const table of rewrittenTables) this.release(table);
  }

  /** The transaction was rolled back. */
  forget(): void {
    for (const rows of this.#buffered.values()) rows.clear();
  }
}
