/** Opens what makes turns durable, after everything that the last process left in the journal is in the stores. */
import { existsSync } from "node:fs";
import { areFilesHeld } from "../store/file-hold.ts";
import { requireData } from "../store/open-data-folder.ts";
import { OwnershipLost } from "../store/path-guard.ts";
import { realmFolder } from "../store/realm-folders.ts";
import { type Durability, type DurabilityKind, synchronous } from "./durability.ts";
import { openFileJournal } from "./file-journal.ts";
import { JournalDurability, type JournalDurabilityOptions } from "./journal-durability.ts";
import { settle } from "./settle.ts";
import { journalFolder } from "./settle-folder.ts";

export interface OpenDurabilityOptions extends Omit<JournalDurabilityOptions, "journal" | "isHeld"> {
  readonly kind: DurabilityKind;
  readonly dataDir: string;
}

/** @throws JournalDamaged, DataFolderDamaged */
export async function openDurability({ kind, dataDir, ...options }: OpenDurabilityOptions): Promise<Durability> {
  const folder = journalFolder(dataDir);
  if (kind === "store" && !existsSync(folder)) return synchronous;
  const { journal } = await openFileJournal({
    folder,
    fatal: (error) => options.fatal(error.reason === "takenOver" ? new OwnershipLost(error.message) : error),
    settle: (records) =>
      settle(records, (realmId) => {
        requireData(dataDir, realmId);
        return realmFolder(dataDir, realmId);
      }),
  });
  if (kind === "store") {
    await journal.close();
    return synchronous;
  }
  const isHeld = () => areFilesHeld(folder, options.clock.now());
  const durability = new JournalDurability({ ...options, journal, isHeld });
  await durability.isReady;
  return durability;
}
