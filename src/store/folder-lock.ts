/**
 * A lock of the operating system on a data folder. It ends with the process that holds it, even while the parent has not reaped it,
 * and other containers on the same machine see it (an open-file-description lock, `F_OFD_SETLK`). Some file systems and platforms
 * have none: then `isHeld` is false, and the row of the owner and the fence decide (data-lock.ts, fence.ts).
 */
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";
import { hasEnded } from "./data-lock.ts";

export class DataFolderInUse extends Error {
  override readonly name = "DataFolderInUse";
}

/** Bytes of the file `lock`, each a lock of its own. */
const parts = {
  serving: { offset: 0, refusal: (who: string) => `${who} is running on this data folder` },
  founding: { offset: 1, refusal: (who: string) => `${who} is making another organization: try again` },
} as const;

export type LockPart = keyof typeof parts;

/** null: there is no prebuilt one for this platform. */
const tryLockBytes = await import("fs-native-extensions").then(
  (extensions) => extensions.tryLock,
  () => null,
);

export function lockFile(dataFolder: string): string {
  return join(dataFolder, "lock");
}

export class FolderLock {
  /** False where there is no such lock. */
  readonly isHeld: boolean;
  #file: number | null;

  private constructor(file: number, isHeld: boolean) {
    this.#file = file;
    this.isHeld = isHeld;
  }

  /** @throws DataFolderInUse when another process has it */
  static take(dataFolder: string, part: LockPart = "serving"): FolderLock {
    const path = lockFile(dataFolder);
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      const isHeld = tryPatiently(file, path, parts[part].offset);
      if (isHeld === false)
        throw new DataFolderInUse(parts[part].refusal(part === "serving" ? holder(path) : "another process"));
      if (part === "serving") noteHolder(file);
      return new FolderLock(file, isHeld === true);
    } catch (error) {
      closeSync(file);
      throw error;
    }
  }

  release(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}

const pauseMs = 10;

/** A process that was killed keeps its lock until the last of its threads has ended: a start right after waits for that. */
function tryPatiently(file: number, path: string, offset: number): boolean | null {
  let isHeld = tryLock(file, offset);
  for (let waitedMs = 0; isHeld === false && waitedMs < limits.data_folder_lock_wait_ms; waitedMs += pauseMs) {
    const pid = holderPid(path);
    if (pid === null || !hasEnded(pid)) break;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    isHeld = tryLock(file, offset);
  }
  return isHeld;
}

/** null: the system has no such lock here. */
function tryLock(file: number, offset: number): boolean | null {
  if (tryLockBytes === null) return null;
  try {
    return tryLockBytes(file, offset, 1);
  } catch {
    // ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL: a file system or a kernel that cannot.
    return null;
  }
}

/** For the message of the process that is refused; a full disk takes no note. */
function noteHolder(file: number): void {
  try {
    ftruncateSync(file);
    writeSync(file, `${process.pid}\n`, 0);
  } catch {
    // The lock holds without it.
  }
}

function holder(path: string): string {
  const pid = holderPid(path);
  return pid === null ? "another process" : `process ${pid}`;
}

/** null: it took no note. */
function holderPid(path: string): number | null {
  const pid = readFileSync(path, "latin1").trim();
  return /^\d+$/.test(pid) ? Number(pid) : null;
}
