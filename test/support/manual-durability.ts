/** Durability by a journal in memory, with the real checkpoint thread. */
import { JournalDurability } from "../../src/journal/journal-durability.ts";
import type { ManualClock } from "./manual-clock.ts";
import { ManualJournal } from "./manual-journal.ts";

export interface ManualDurability {
  readonly journal: ManualJournal;
  readonly durability: JournalDurability;
}

/** To be closed when its realms are. */
export async function manualDurability(clock: ManualClock): Promise<ManualDurability> {
  const journal = new ManualJournal();
  const fatal = (error: unknown): never => {
    throw error;
  };
  const durability = new JournalDurability({
    journal,
    archive: null,
    clock,
    owner: null,
    isHeld: () => Promise.resolve(false),
    hasSpace: () => true,
    fatal,
    reportBug: fatal,
  });
  await durability.isReady;
  return { journal, durability };
}
