/** The ports of a backup in this process: the system clock, and a log that is discarded. */
import { systemClock } from "../../src/runtime/clock.ts";
import type { HolderPorts } from "../../src/store/file-hold.ts";

export const backupPorts: HolderPorts = {
  now: systemClock.now,
  warn: (line) => {
    throw new Error(line);
  },
};
