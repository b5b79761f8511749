/**
 * The checks of a start before it changes anything: the address to listen on, and the data folder.
 *
 * A start that waits, with everything prepared that needs no store, until another process has released the data
 * folder: an upgrade without a pause (docs/operations.md).
 */
import { lookup } from "node:dns/promises";
import { accessSync, constants, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { limits } from "../../schemas/limits.ts";
import type { Log } from "../log/log.ts";
import type { Clock } from "../runtime/clock.ts";
import { DataFolderInUse } from "../store/folder-lock.ts";
import { openDataFolder } from "../store/open-data-folder.ts";
import type { RootStore } from "../store/root.ts";
import { BadConfig } from "./config.ts";

/** The operator stopped the process while it waited. Nothing was changed. */
export class StoppedWaiting extends Error {
  override readonly name = "StoppedWaiting";
}

interface FolderWait {
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

/** @throws BadConfig when the name resolves to no address, or to one of another machine */
export async function checkHost(host: string): Promise<void> {
  const cannot = (why: string) => new BadConfig(`HOST=${JSON.stringify(host)} cannot be used: ${why}`);
  const found = await lookup(host).catch(() => null);
  if (found === null) throw cannot("it does not resolve to an address");
  if (!(await isOwnAddress(found.address))) throw cannot(`${found.address} is not an address of this machine`);
}

/** Checked by binding a socket to the address, on any port. */
function isOwnAddress(address: string): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(0, address, () => probe.close(() => resolve(true)));
  });
}

/** @throws BadConfig when the folder cannot be created or written */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new BadConfig(`DATA_DIR=${JSON.stringify(dataDir)} cannot be used: ${reason}`);
  }
}
