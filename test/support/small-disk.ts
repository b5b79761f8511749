/** A disk of a few megabytes (tmpfs) that a test can fill, make read-only and free again. Needs permission to mount. */
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Teardown, temporaryFolder } from "./server.ts";

function run(command: string, ...args: readonly string[]): string | null {
  const { error, status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (error !== undefined) return `${command} is not installed`;
  return status === 0 ? null : `${command}: ${stderr.trim()}`;
}

export class SmallDisk {
  /** The folder for data. */
  readonly dataDir: string;
  readonly mountPoint: string;
  readonly #filler: string;

  private constructor(mount: string) {
    this.mountPoint = mount;
    this.#filler = join(mount, "somebody-elses");
    this.dataDir = join(mount, "data");
  }

  /** @returns the disk, or why the system does not permit one */
  static mount(t: Teardown, mebibytes: number): SmallDisk | string {
    // Teardown runs in reverse order: programs end before the disk is unmounted.
    const folder = temporaryFolder(t);
    const mount = join(folder, "disk");
    mkdirSync(mount);
    const reason = run("mount", "-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", mount);
    if (reason !== null) return reason;
    t.teardown(() => run("umount", "-l", mount));
    return new SmallDisk(mount);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.mountPoint);
    return bavail * bsize;
  }

  /** Fills the disk, as another program would, except for that many bytes. */
  fill(leaveBytes = 0): void {
    const file = openSync(this.#filler, "a");
    const block = Buffer.alloc(256 * 1024, 1);
    try {
      for (;;) {
        const room = this.freeBytes - leaveBytes;
        if (room <= 0) return;
        writeSync(file, block, 0, Math.min(room, block.length));
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      closeSync(file);
    }
  }

  giveRoom(): void {
    rmSync(this.#filler, { force: true });
  }

  /** @throws Error when the system does not permit it */
  makeReadOnly(): void {
    const reason = run("mount", "-o", "remount,ro", this.mountPoint);
    if (reason !== null) throw new Error(reason);
  }
}
