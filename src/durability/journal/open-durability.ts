/** Opens what makes turns durable, after everything that the last process left in the journal is in the stores. */

import { areFilesLocked } from "../../store/file-hold.ts";
import { requireData } from "../../store/open-data-folder.ts";
import { OwnershipLost } from "../../store/path-guard.ts";
import { realmFolder } from "../../store/realm-folders.ts";
import { prepareThread } from "../threads/start-thread.ts";
import { applyRecords, journalFolder } from "./apply-journal.ts";
import { checkpointProgram } from "./checkpoint-maker.ts";
import type { Durability } from "./durability.ts";
import { bytesOf, journalProgram, openFileJournal } from "./file-journal.ts";
import type { JournalLost, RecordNumber } from "./journal.ts";
import type { JournalArchive } from "./journal-archive.ts";
import { JournalDurability, type JournalDurabilityOptions } from "./journal-durability.ts";

export interface OpenDurabilityOptions extends Omit<JournalDurabilityOptions, "journal" | "archive" | "isLocked"> {
  readonly dataDir: string;
  /** Null: the journal is copied nowhere. */
  readonly archive: ArchivePorts | null;
  /** The journal may still have its records. */
  readonly isErased: (realmId: number) => boolean;
  /** Checks the pages of a realm's store before it gets turns. @throws DamagedData */
  readonly checkStore: (realmId: number) => void;
}

export interface ArchivePorts {
  /** As `keepsApplied` of the journal. */
  keepsApplied(bytes: number): boolean;
  /** @param waitingBytes size of what is left in the journal */
  open(durable: RecordNumber, waitingBytes: number): JournalArchive;
}

/** Starts its threads, so that opening it does not wait for them. */
export function prepareDurability(): void {
  prepareThread(journalProgram);
  prepareThread(checkpointProgram);
}

/** @throws JournalDamaged, DataFolderDamaged */
export async function openDurability(given: OpenDurabilityOptions): Promise<Durability> {
  const { dataDir, archive, isErased, checkStore, ...options } = given;
  const folder = journalFolder(dataDir);
  const isLocked = () => areFilesLocked(folder, options.clock.now());
  // A running backup has copied some stores already, and applies to them the records that they lacked when it began.
  const isWanted = await isLocked();
  const { journal, recovered } = await openFileJournal({
    folder,
    keepsApplied: (bytes) => (isWanted && options.hasSpace()) || archive?.keepsApplied(bytes) === true,
    fatal: (error) => options.fatal(asOwnership(error)),
    applyRecords: (records) =>
      applyRecords(records, (realmId) => {
        if (isErased(realmId)) return null;
        requireData(dataDir, realmId);
        checkStore(realmId);
        return realmFolder(dataDir, realmId);
      }),
  });
  const opened = archive?.open(journal.durable, bytesOf(recovered)) ?? null;
  const assertOwned = () => {
    try {
      journal.assertOwned();
    } catch (error) {
      throw asOwnership(error as JournalLost);
    }
  };
  const durability = new JournalDurability({ ...options, journal, archive: opened, isLocked, assertOwned });
  await durability.isReady;
  return durability;
}

function asOwnership(error: JournalLost): Error {
  return error.reason === "takenOver" ? new OwnershipLost(error.message) : error;
}
