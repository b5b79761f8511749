/** The files of a data folder that occupy space until the disk gets full. A server writes them beside its other work. */
import { existsSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";

export const spareFiles = { "reserved-space": limits.store_reserved_bytes, reserve: limits.store_start_reserve_bytes };

/** Resolves when each of them has its full size. */
export async function untilSpareFilesAreWhole(dataDir: string): Promise<void> {
  const size = (name: string) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.size;
  const areWhole = () => Object.entries(spareFiles).every(([name, bytes]) => size(name) === bytes);
  while (!areWhole()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Makes them of holes, which takes no time: for servers whose disk does not get full. */
export function makeSpareFiles(dataDir: string): void {
  for (const [name, bytes] of Object.entries(spareFiles)) {
    const path = join(dataDir, name);
    if (existsSync(path)) continue;
    writeFileSync(path, "", { mode: 0o600 });
    truncateSync(path, bytes);
  }
}
