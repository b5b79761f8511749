/**
 * Brings what a journal still has into the stores of a data folder without a server, or into copies of them.
 *
 * Brings what is left in the journal into the stores, before anybody opens them: at a start after a crash, and for
 * tools that work on a data folder without a server. Each store is opened once for all its records, up to a bound of
 * memory that a server does not exceed.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { limits } from "../../../schemas/limits.ts";
import type { BackupPorts } from "../../store/backup.ts";
import { dataFile, stateOfFile } from "../../store/data-file.ts";
import { type FileLock, type FileLockPorts, lockFiles } from "../../store/file-hold.ts";
import { checkPages } from "../../store/lmdb-check.ts";
import { realmFolder } from "../../store/realm-folders.ts";
import { JournalDamaged, type Recorded } from "./journal.ts";
import { takeOver } from "./journal-writer.ts";
import { LaggingStore } from "./lagging-store.ts";
import { turnOf } from "./record.ts";
import { recoverJournal } from "./recovery.ts";

/**
 * @param storeOf the folder of a realm's store, whose pages are checked; null: its records are skipped
 * @param bytesMax how many bytes of records are in memory at a time
 * @throws JournalDamaged when a realm lacks a turn that is not in the journal
 */
export async function applyRecords(
  records: Iterable<Recorded>,
  storeOf: (realmId: number) => string | null,
  bytesMax: number = limits.journal_applied_bytes_max,
): Promise<void> {
  const byRealm = new Map<number, Uint8Array[]>();
  /** The last turn of each store that was opened. An archive keeps records that the stores had long ago. */
  const applied = new Map<number, number>();
  let bytes = 0;
  const applyAll = async () => {
    for (const [realmId, ofRealm] of byRealm) {
      const folder = storeOf(realmId);
      applied.set(realmId, folder === null ? Number.POSITIVE_INFINITY : await applyToRealm(folder, ofRealm));
    }
    byRealm.clear();
    bytes = 0;
  };
  for (const record of records) {
    const known = applied.get(record.realmId);
    if (known !== undefined && turnOf(record.bytes) <= known) continue;
    const ofRealm = byRealm.get(record.realmId);
    if (ofRealm === undefined) byRealm.set(record.realmId, [record.bytes]);
    else ofRealm.push(record.bytes);
    bytes += record.bytes.length;
    if (bytes >= bytesMax) await applyAll();
  }
  await applyAll();
}

/** @returns the last turn that the store has now */
async function applyToRealm(folder: string, records: readonly Uint8Array[]): Promise<number> {
  const store = new LaggingStore(folder);
  try {
    for (const record of records) store.add(record);
    store.write();
    return store.turn;
  } finally {
    await store.close();
  }
}

export function journalFolder(dataDir: string): string {
  return join(dataDir, "journal");
}

/**
 * For tools: a server that was killed left turns in the journal. No other process may be using the folder, so it is
 * taken over as by a start: an earlier owner that still runs stops, and what its note says must be there.
 * @throws JournalDamaged
 */
export async function applyJournal(dataDir: string): Promise<void> {
  const folder = journalFolder(dataDir);
  if (!existsSync(folder)) return;
  const { before } = takeOver(folder);
  await applyRecords(recoverJournal(folder, before).records(), (id) => storeIn(dataDir, id));
}

/** How often a journal is read again that changed while it was read. */
const attempts_max = 20;
const attemptPauseMs = 50;

/**
 * For backups: copies of the stores get the turns that were in the journal of the running server, all up to the same
 * one. The journal must be held (file-hold.ts) since before the copies were made.
 * @throws JournalDamaged
 */
async function applyToCopies(dataDir: string, copies: string): Promise<void> {
  const folder = journalFolder(dataDir);
  if (!existsSync(folder)) return;
  for (let attempt = 1; ; attempt++) {
    try {
      await applyRecords(recoverJournal(folder, null).records(), (id) => storeIn(copies, id));
      return;
    } catch (error) {
      // The server wrote, or used a segment again, between two reads. Records that were applied are skipped the next
      // time.
      const isPassing = error instanceof JournalDamaged || (error as NodeJS.ErrnoException).code === "ENOENT";
      if (!isPassing || attempt === attempts_max) throw error;
      await wait(attemptPauseMs);
    }
  }
}

/** The operations of the journal that a backup needs. */
export function journalPorts(dataDir: string, ports: FileLockPorts): Pick<BackupPorts, "lockJournal" | "applyRecords"> {
  const folder = journalFolder(dataDir);
  const none: FileLock = { renew: () => Promise.resolve(), release: () => Promise.resolve() };
  return {
    lockJournal: () => (existsSync(folder) ? lockJournal(folder, ports) : Promise.resolve(none)),
    applyRecords: (target) => applyToCopies(dataDir, target),
  };
}

/**
 * Without the hold the server may forget what a copy lacks. On a full disk it forgets nothing, because nothing reaches
 * the stores.
 * @throws Error when the hold cannot be created for any other reason
 */
function lockJournal(folder: string, ports: FileLockPorts): Promise<FileLock> {
  return lockFiles(folder, ports, (error) => error.code === "ENOSPC" || error.code === "EDQUOT");
}

/**
 * null: the folder has no such realm; it was created after the copies were made.
 * @throws DamagedData
 */
function storeIn(dataDir: string, realmId: number): string | null {
  const folder = realmFolder(dataDir, realmId);
  const file = dataFile(folder);
  if (stateOfFile(file) === "missing") return null;
  checkPages(file, "all-pages");
  return folder;
}
