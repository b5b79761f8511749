/** Brings what a journal still has into the stores of a data folder without a server, or into copies of them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { BackupPorts } from "../../store/backup.ts";
import { dataFile, stateOfFile } from "../../store/data-file.ts";
import { type FileHold, type HolderPorts, holdFiles } from "../../store/file-hold.ts";
import { checkPages } from "../../store/lmdb-check.ts";
import { realmFolder } from "../../store/realm-folders.ts";
import { applyRecords } from "./apply-records.ts";
import { JournalDamaged } from "./journal.ts";
import { takeOver } from "./journal-writer.ts";
import { recoverJournal } from "./recovery.ts";

export function journalFolder(dataDir: string): string {
  return join(dataDir, "journal");
}

/**
 * For tools: a server that was killed left turns in the journal. Nobody else may be using the folder, so it is taken
 * over as by a start: an earlier owner that still runs stops, and what its note says must be there.
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
      // The server wrote, or used a segment again, between two reads. What was applied is skipped the next time.
      const isPassing = error instanceof JournalDamaged || (error as NodeJS.ErrnoException).code === "ENOENT";
      if (!isPassing || attempt === attempts_max) throw error;
      await wait(attemptPauseMs);
    }
  }
}

/** What a backup needs to know of the journal. */
export function journalPorts(dataDir: string, holder: HolderPorts): Pick<BackupPorts, "holdJournal" | "applyRecords"> {
  const folder = journalFolder(dataDir);
  const none: FileHold = { renew: () => Promise.resolve(), release: () => Promise.resolve() };
  return {
    holdJournal: () => (existsSync(folder) ? holdJournal(folder, holder) : Promise.resolve(none)),
    applyRecords: (target) => applyToCopies(dataDir, target),
  };
}

/**
 * Without the hold the server may forget what a copy lacks. On a full disk it forgets nothing, because nothing reaches
 * the stores.
 * @throws Error when the hold cannot be created for any other reason
 */
function holdJournal(folder: string, holder: HolderPorts): Promise<FileHold> {
  return holdFiles(folder, holder, (error) => error.code === "ENOSPC" || error.code === "EDQUOT");
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
