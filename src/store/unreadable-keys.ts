/**
 * Rows whose key cannot be read (codec.ts): texts that LMDB does not return as they
 * were written. Their checksum shows which key it was, and that nothing else is wrong: so readers leave them out, and
 * `check --repair` sets them aside.
 */
import { closeSync, fsyncSync, openSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { limits } from "../../schemas/limits.ts";
import { rowFields, type TableName } from "../../schemas/records.ts";
import { decodeRow, isSealOf, longKeysOf, nameOfKey } from "./codec.ts";
import { commandLine } from "./command-line.ts";
import { rowName } from "./damage.ts";
import { flushFolderSync } from "./folders.ts";
import { LmdbTables } from "./lmdb-tables.ts";
import type { StoreTables, TableEntry } from "./tables.ts";

/** @returns the key that a row was written under, if it is not the one that is read and the checksum proves it */
function writtenKeyOf(table: TableName, { key, value }: TableEntry): unknown {
  if (isSealOf(table, key, value)) return undefined;
  return longKeysOf(nameOfKey(key)).find((possible) => isSealOf(table, possible, value));
}

/** The rows that a reader has left out. */
export class UnreadableRows {
  readonly #messages = new Map<string, string>();

  /** Whether a row is one of them, and not damaged. */
  has(table: TableName, entry: TableEntry): boolean {
    const written = writtenKeyOf(table, entry);
    if (written === undefined) return false;
    if (this.#messages.size < limits.check_rows_reported_max)
      this.#messages.set(`${table} ${nameOfKey(entry.key)}`, unreadableMessage(table, written));
    return true;
  }

  /** One line for each of the first ones. */
  get messages(): Iterable<string> {
    return this.#messages.values();
  }
}

function unreadableMessage(table: TableName, key: unknown): string {
  const advice = `Stop the server and run \`${commandLine} check --repair\`, which sets it aside`;
  return `${rowName(table, key)} is left out: its key cannot be read. ${advice}.`;
}

interface UnreadableRow {
  readonly table: TableName;
  /** As it is read. */
  readonly key: unknown;
  readonly writtenKey: unknown;
  readonly row: unknown;
  /** The row as it is stored, in base64. */
  readonly bytes: string;
}

function unreadableIn(tables: StoreTables): UnreadableRow[] {
  const found: UnreadableRow[] = [];
  for (const table of Object.keys(rowFields) as TableName[]) {
    for (const entry of tables.range(table, {})) {
      const key = writtenKeyOf(table, entry);
      if (key === undefined) continue;
      const row = decodeRow(table, key, entry.value);
      found.push({ table, key: entry.key, writtenKey: key, row, bytes: Buffer.from(entry.value).toString("base64") });
    }
  }
  return found;
}

/** Where a realm's rows are kept that were set aside: JSON, one row a line. */
const setAsideFile = "set-aside.jsonl";

/**
 * Moves rows whose keys cannot be read from a realm's store to a file beside it. They are in the file before they are
 * removed, so a crash loses none.
 * @param beforeRemoval called if there are any
 * @returns one line for each
 * @throws DamagedData when pages of the store are damaged
 */
export async function setAsideUnreadable(folder: string, at: string, beforeRemoval: () => void): Promise<string[]> {
  const tables = new LmdbTables(folder, "all-pages");
  try {
    const found = unreadableIn(tables);
    if (found.length === 0) return [];
    beforeRemoval();
    const file = join(folder, setAsideFile);
    const lines = found.map(({ table, writtenKey: key, row, bytes }) => JSON.stringify({ at, table, key, row, bytes }));
    append(file, lines.map((line) => `${line}\n`).join(""));
    tables.transaction(() => {
      for (const { table, key } of found) tables.write(table, key, null);
    });
    return found.map(
      ({ table, writtenKey: key }) => `${rowName(table, key)} was moved to ${file}: its key cannot be read`,
    );
  } finally {
    await tables.close();
  }
}

/** Rows may hold secrets, as the store does. */
function append(file: string, text: string): void {
  const descriptor = openSync(file, "a", 0o600);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  flushFolderSync(dirname(file));
}
