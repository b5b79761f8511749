/**
 * Rows that many commands of a turn write again, like that of a conversation, which each of its posts changes: they are held back
 * until their transaction ends, and put once (a put costs 1 us and more). Whoever reads meanwhile is shown what is held back, or,
 * reading a range, lets it be written first.
 */
import type { TableName } from "../../schemas/records.ts";

/** Their keys are numbers. */
const rewrittenTables: readonly TableName[] = ["conversations"];

type Write = (table: TableName, key: number, bytes: Uint8Array | null) => void;

export class HeldBack {
  /** Bytes, or null for a row that goes away, by key. */
  readonly #held: ReadonlyMap<TableName, Map<number, Uint8Array | null>> = new Map(
    rewrittenTables.map((table) => [table, new Map()]),
  );
  readonly #write: Write;

  constructor(write: Write) {
    this.#write = write;
  }

  /** @returns whether the row is held back; otherwise it has to be written at once */
  take(table: TableName, key: unknown, bytes: Uint8Array | null): boolean {
    const rows = this.#held.get(table);
    rows?.set(key as number, bytes);
    return rows !== undefined;
  }

  /** undefined: nothing is held back, what is stored holds. */
  get(table: TableName, key: unknown): Uint8Array | null | undefined {
    return this.#held.get(table)?.get(key as number);
  }

  /** Writes what is held back of a table, before somebody reads all of it. */
  release(table: TableName): void {
    const rows = this.#held.get(table);
    if (rows === undefined || rows.size === 0) return;
    for (const [key, bytes] of rows) this.#write(table, key, bytes);
    rows.clear();
  }

  /** Before a transaction ends, and before one within it begins, which must roll back alone. */
  releaseAll(): void {
    for (const table of rewrittenTables) this.release(table);
  }

  /** The transaction rolls back. */
  forget(): void {
    for (const rows of this.#held.values()) rows.clear();
  }
}
