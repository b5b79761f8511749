/** The ports of a backup in this process: the system clock, and a log that is discarded. */

import { journalPorts } from "../../src/durability/journal/apply-journal.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { BackupPorts } from "../../src/store/backup.ts";
import type { FileLockPorts } from "../../src/store/file-hold.ts";

const holder: FileLockPorts = {
  now: systemClock.now,
  warn: (line) => {
    throw new Error(line);
  },
};

export function backupPorts(dataDir: string): BackupPorts {
  return { ...holder, ...journalPorts(dataDir, holder) };
}
