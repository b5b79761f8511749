/** Verifies a backup that was made earlier, perhaps on another machine. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type BackupPorts, checkRealms, stepsOf } from "./backup.ts";
import { type BackupManifest, readManifest, verifyFiles } from "./backup-manifest.ts";
import { realmFolder } from "./realm-folders.ts";
import { refuseLinks } from "./restore.ts";
import { RootStore } from "./root.ts";

/**
 * Compares a backup with its manifest, and reads everything in it.
 * @param tools.progress told how far it is
 * @throws Error when it is not a backup, or has links
 */
export async function verifyBackup(
  folder: string,
  tools: Pick<BackupPorts, "progress"> = {},
): Promise<{ manifest: BackupManifest | null; problems: string[] }> {
  if (!existsSync(join(folder, "root", "data.mdb"))) throw new Error(`${folder} is not a backup`);
  refuseLinks(folder);
  const manifest = readManifest(folder);
  const step = stepsOf(tools, (manifest?.files.length ?? 0) + (manifest?.realms.length ?? 1));
  const differences = manifest === null ? [] : await verifyFiles(folder, manifest, step);
  if (differences.length > 0) return { manifest, problems: differences };
  const root = RootStore.make(folder);
  const locks = [join(folder, "root"), ...root.realms().map(({ id }) => realmFolder(folder, id))];
  try {
    const problems = await checkRealms(root.realms(), folder, { checked: step, leftOut: () => undefined });
    return { manifest, problems };
  } finally {
    await root.close();
    for (const lock of locks) rmSync(join(lock, "lock.mdb"), { force: true });
  }
}
