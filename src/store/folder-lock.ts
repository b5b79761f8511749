/**
 * An operating system lock on a data folder (`F_OFD_SETLK`). It ends with its process, even before the parent has
 * reaped it, and is visible to other containers on the same machine. On file systems and platforms without such locks
 * `isLocked` is false, and the owner's row and the fence decide (data-lock.ts, fence.ts).
 */
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";
import { hasEnded } from "./data-lock.ts";

export class DataFolderInUse extends Error {
  override readonly name = "DataFolderInUse";
}

/** Bytes of the file `lock`, each a separate lock. */
const parts = {
  serving: { offset: 0, refusal: (who: string) => `${who} is running on this data folder` },
  backup: { offset: 2, refusal: () => "another process is making a backup into BACKUP_DIR" },
  realmCreation: { offset: 1, refusal: (who: string) => `${who} is creating another organization: try again` },
  snapshot: { offset: 3, refusal: () => "another process is making snapshots of this node" },
} as const;

export type LockPart = keyof typeof parts;

/** null if there is no prebuilt binary for this platform. */
const tryLockBytes = await import("fs-native-extensions").then(
  (extensions) => extensions.tryLock,
  () => null,
);

export function lockFile(dataFolder: string): string {
  return join(dataFolder, "lock");
}

export class FolderLock {
  /** False if the system has no such locks. */
  readonly isLocked: boolean;
  #file: number | null;

  private constructor(file: number, isLocked: boolean) {
    this.#file = file;
    this.isLocked = isLocked;
  }

  /** @throws DataFolderInUse when another process has the lock */
  static take(dataFolder: string, part: LockPart = "serving"): FolderLock {
    const path = lockFile(dataFolder);
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      const isLocked = tryPatiently(file, path, parts[part].offset);
      if (isLocked === false)
        throw new DataFolderInUse(parts[part].refusal(part === "serving" ? holder(path) : "another process"));
      if (part === "serving") noteHolder(file);
      return new FolderLock(file, isLocked === true);
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

/** A killed process keeps its lock until its last thread has exited; a start right afterwards waits for that. */
function tryPatiently(file: number, path: string, offset: number): boolean | null {
  let isLocked = tryLock(file, offset);
  for (let waitedMs = 0; isLocked === false && waitedMs < limits.data_folder_lock_wait_ms; waitedMs += pauseMs) {
    const pid = holderPid(path);
    if (pid === null || !hasEnded(pid)) break;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    isLocked = tryLock(file, offset);
  }
  return isLocked;
}

/** Returns null if the system has no such locks. */
function tryLock(file: number, offset: number): boolean | null {
  if (tryLockBytes === null) return null;
  try {
    return tryLockBytes(file, offset, 1);
  } catch {
    // ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL: the file system or the kernel does not support them.
    return null;
  }
}

/** For the error message of another process that is rejected. On a full disk the id cannot be written. */
function noteHolder(file: number): void {
  try {
    ftruncateSync(file);
    writeSync(file, `${process.pid}\n`, 0);
  } catch {
    // The lock is valid without it.
  }
}

function holder(path: string): string {
  const pid = holderPid(path);
  return pid === null ? "another process" : `process ${pid}`;
}

/** Returns null if no id was written. */
function holderPid(path: string): number | null {
  const pid = readFileSync(path, "latin1").trim();
  return /^\d+$/.test(pid) ? Number(pid) : null;
}
