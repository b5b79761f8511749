/**
 * A start that waits, with everything prepared that needs no store, until another process has released the data folder:
 * an upgrade without a pause (docs/operations.md).
 */
import { limits } from "../../schemas/limits.ts";
import type { Log } from "../log/log.ts";
import type { Clock } from "../runtime/clock.ts";
import { DataFolderInUse } from "../store/folder-lock.ts";
import { openDataFolder } from "../store/open-data-folder.ts";
import type { RootStore } from "../store/root.ts";

/** The operator stopped the process while it waited. Nothing was changed. */
export class StoppedWaiting extends Error {
  override readonly name = "StoppedWaiting";
}

export interface FolderWait {
  readonly seconds: number;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  /** Called once. @param why says who uses the folder */
  readonly onWaiting?: (why: string) => void;
  readonly hasStopped?: () => boolean;
}

/** @throws DataFolderInUse when it is still in use at the end; StoppedWaiting; and as openDataFolder */
export async function openWhenReleased(dataDir: string, wait: FolderWait): Promise<RootStore> {
  const { seconds, clock, log } = wait;
  const until = clock.monotonic() + seconds * 1000;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await openDataFolder(dataDir, (message) => log.warn(message));
    } catch (error) {
      if (!(error instanceof DataFolderInUse) || seconds === 0) throw error;
      if (clock.monotonic() >= until) throw new DataFolderInUse(`${error.message}, after ${seconds} s, too`);
      if (isFirst) wait.onWaiting?.(error.message);
    }
    await new Promise<void>((resume) => void clock.after(limits.data_folder_wait_look_ms, resume));
    if (wait.hasStopped?.() === true) throw new StoppedWaiting("stopped while it waited for the data folder");
  }
}
