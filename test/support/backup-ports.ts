/** What a backup in this process asks of the outside: the system's time, and nobody reads its warnings. */
import { systemClock } from "../../src/runtime/clock.ts";
import type { HolderPorts } from "../../src/store/file-hold.ts";

export const backupPorts: HolderPorts = {
  now: systemClock.now,
  warn: (line) => {
    throw new Error(line);
  },
};
