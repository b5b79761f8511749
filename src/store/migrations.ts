/**
 * The version of the stores, and the steps from one version to the next. A store of an organization is upgraded when it
 * is opened, and a row when it is read. Data that no release wrote has no `format`, and is refused like data of a newer
 * program.
 */
import { rowMigrations, rowVersions, type TableName } from "../../schemas/records.ts";
import { DamagedData } from "./damage.ts";
import type { Lmdb } from "./store.ts";

/** The program can neither read nor upgrade the data; nothing has been changed. */
export class UnknownFormat extends Error {
  override readonly name = "UnknownFormat";
}

/** Version of the layout: tables, their keys, and the checksums of rows. Releases before 1.0.0 change it in place. */
export const storeVersion = 1;

/** In files that describe others: an archive, a backup, a list of snapshots. */
export const formatMark = `colloquy-${storeVersion}`;

/** `storeMigrations[n]` upgrades a store from version n to n + 1; all steps run in one transaction. */
type StoreMigrations = Readonly<Record<number, (lmdb: Lmdb) => void>>;
const storeMigrations: StoreMigrations = {};

type Row = Record<string, unknown>;

export function tooNew(what: string, version: number): UnknownFormat {
  return new UnknownFormat(`${what} has version ${version}, this program knows ${storeVersion}: use the newer program`);
}

export function fromBefore(what: string): UnknownFormat {
  return new UnknownFormat(`${what} was written before the first release, and no release reads it: start anew`);
}

/** @throws UnknownFormat unless this program wrote the mark, or an older release */
export function requireMark(what: string, mark: unknown): void {
  const version = Number(/^colloquy-([1-9]\d*)$/.exec(String(mark))?.[1]);
  if (Number.isNaN(version)) throw fromBefore(what);
  if (version > storeVersion) throw tooNew(what, version);
}

/**
 * Must run before anything is written.
 * @returns undefined for a new store
 * @throws UnknownFormat
 */
export function knownVersion(lmdb: Lmdb): number | undefined {
  const what = "an organization's data";
  const version = lmdb.get("meta", "format")?.value as number | undefined;
  if (version !== undefined && version > storeVersion) throw tooNew(what, version);
  // The name of the row that held it before the first release.
  if (version === undefined && lmdb.has("meta", "version")) throw fromBefore(what);
  return version;
}

/**
 * In a store of this version a table with an unknown name is one whose name was damaged: its rows would be missing.
 * @throws DamagedData
 */
export function refuseUnknownTables(lmdb: Lmdb, [unknown]: readonly string[]): void {
  if (unknown === undefined || lmdb.get("meta", "format")?.value !== storeVersion) return;
  throw new DamagedData(lmdb.file, `it has a table of an unknown name, ${JSON.stringify(unknown)}`);
}

/**
 * The version and the counters cannot be missing where there are rows: a new realm gets its version before its
 * counters, and without either ids would start again.
 * @throws DamagedData
 */
export function refuseWithoutHead(lmdb: Lmdb): void {
  if (lmdb.has("meta", "format") && lmdb.has("meta", "counters")) return;
  const tables = (Object.keys(rowVersions) as TableName[]).filter((table) => table !== "meta");
  const filled = tables.find((table) => lmdb.keys(table, { limit: 1 }).length > 0);
  if (filled === undefined) return;
  throw new DamagedData(lmdb.file, `its version or its counters are missing, while table ${filled} has rows`);
}

/**
 * Upgrades an organization's store to the current version. After a crash it begins again.
 * @throws Error when a step is missing
 */
export function migrateStore(lmdb: Lmdb, version: number, { steps = storeMigrations, to = storeVersion } = {}): void {
  if (version === to) return;
  lmdb.transaction(() => {
    for (let at = version; at < to; at++) {
      const step = steps[at];
      if (step === undefined) throw new Error(`no migration of a store from version ${at}`);
      step(lmdb);
    }
    lmdb.put("meta", "format", { value: to });
  });
}

/** @throws Error when there is no path from `version` to the current one */
export function migrateRow(
  table: TableName,
  version: number,
  row: Row,
  { steps = rowMigrations[table], to = rowVersions[table] } = {},
): Row {
  let current = row;
  if (version > to) throw new Error(`row of ${table} has version ${version}, newer than this program`);
  for (let at = version; at < to; at++) {
    const step = steps[at];
    if (step === undefined) throw new Error(`row of ${table}: no migration from version ${at}`);
    current = step(current);
  }
  return current;
}
