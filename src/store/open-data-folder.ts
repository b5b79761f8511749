/**
 * Opens a data folder for its single owner. A start never deletes or replaces an organization that was not erased: a
 * lost root is rebuilt from the identities that the organizations store, and if one has none, the start is rejected.
 */
import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { damageAdvice } from "./damage.ts";
import { dataFile, type FileState, fileFaults, stateOfFile } from "./data-file.ts";
import { finishErasures } from "./erased-realms.ts";
import { FolderLock } from "./folder-lock.ts";
import { flushFolderSync } from "./folders.ts";
import { openLmdb } from "./lmdb.ts";
import { erasedIdsOnDisk, realmFolder, realmIdsOnDisk } from "./realm-folders.ts";
import { type RealmIdentity, readIdentity } from "./realm-identity.ts";
import { restoringFolder } from "./restore.ts";
import { type RealmEntry, RootStore } from "./root.ts";

/** The data is not in a state that a start can use; only the operator can decide what to do. */
export class DataFolderDamaged extends Error {
  override readonly name = "DataFolderDamaged";
}

/** @throws DataFolderInUse, DataFolderDamaged, UnknownFormat: nothing has been changed then */
export async function openDataFolder(dataDir: string, warn: (message: string) => void): Promise<RootStore> {
  const lock = FolderLock.take(dataDir);
  let root: RootStore | null = null;
  try {
    finishRestore(dataDir);
    const state = stateOfFile(rootFile(dataDir));
    if (state === "whole") root = RootStore.make(dataDir);
    const erased = new Set([...(root?.erased() ?? []).map(({ id }) => id), ...erasedIdsOnDisk(dataDir)]);
    const plan = await planAdoption(dataDir, { listed: root?.realms() ?? [], erased, root: state });
    if (root === null) {
      setAside(dataDir, state, plan.adopted.length > 0);
      root = RootStore.make(dataDir);
    }
    root.lock(lock);
    for (const entry of plan.adopted) root.putRealm(entry);
    await finishErasures(dataDir, root, warn);
    for (const warning of plan.warnings) warn(warning);
    return root;
  } catch (error) {
    await root?.close();
    lock.release();
    throw error;
  }
}

function rootFile(dataDir: string): string {
  return dataFile(join(dataDir, "root"));
}

/** An interrupted restore leaves a folder that is neither empty nor complete. The root is moved last. */
function finishRestore(dataDir: string): void {
  const folder = restoringFolder(dataDir);
  if (!existsSync(folder)) return;
  if (readdirSync(folder).length > 0 || !existsSync(rootFile(dataDir))) {
    throw new DataFolderDamaged(
      `A restore into ${dataDir} did not finish. Empty the folder and run the restore again: the backup is unchanged.`,
    );
  }
  rmdirSync(folder);
}

/** Moves the old root out of the way. Without organizations it was never finished and is empty. */
function setAside(dataDir: string, state: FileState, holdsRealms: boolean): void {
  // An empty file may belong to another process that is creating it right now; LMDB will fill it.
  if (state === "missing" || state === "empty") return;
  const folder = join(dataDir, "root");
  if (!holdsRealms) {
    rmSync(folder, { recursive: true, force: true });
    return;
  }
  renameSync(rootFile(dataDir), `${rootFile(dataDir)}.damaged`);
  rmSync(join(folder, "lock.mdb"), { force: true });
  flushFolderSync(folder);
}

interface KnownRealms {
  readonly listed: readonly RealmEntry[];
  readonly erased: ReadonlySet<number>;
  readonly root: FileState;
}

interface Plan {
  readonly adopted: readonly RealmEntry[];
  readonly warnings: readonly string[];
}

/**
 * Finds organizations on disk that the root does not list: the root or their rows were lost, or a creation stopped
 * right before its last step.
 * @throws DataFolderDamaged when one that was certainly listed has no identity
 */
async function planAdoption(dataDir: string, { listed, erased, root }: KnownRealms): Promise<Plan> {
  const adopted: RealmEntry[] = [];
  const warnings: string[] = [];
  const lastListed = listed.at(-1)?.id ?? Number.POSITIVE_INFINITY;
  for (const id of realmIdsOnDisk(dataDir)) {
    if (erased.has(id) || listed.some((entry) => entry.id === id)) continue;
    const folder = realmFolder(dataDir, id);
    const identity = await identityOf(folder);
    if (identity?.id === id) {
      const other = [...listed, ...adopted].find((entry) => isSameAddress(entry, identity));
      if (other !== undefined) throw sameAddress(folder, realmFolder(dataDir, other.id));
      // Whether it has due work is unknown, so it is opened at once (M8).
      adopted.push({ ...identity, dueHint: 0 });
      warnings.push(`the root did not list ${folder}: its row was restored`);
    } else if (id < lastListed) throw cannotSay(folder, rootFile(dataDir), root);
    else {
      warnings.push(`${folder} is ignored: the root does not list it, and it does not say which organization it is`);
    }
  }
  const first = Math.min(...[...listed, ...adopted].map((entry) => entry.id));
  if (Number.isFinite(first)) requireData(dataDir, first);
  return { adopted, warnings };
}

/** @throws DataFolderDamaged when the store of a listed organization is missing: a new one would replace it */
export function requireData(dataDir: string, id: number): void {
  const file = dataFile(realmFolder(dataDir, id));
  const state = stateOfFile(file);
  if (state === "whole" || state === "short") return;
  throw new DataFolderDamaged(`${file} ${fileFaults[state]}: it must hold an organization. ${damageAdvice}.`);
}

/** Returns null if it has no identity. */
async function identityOf(folder: string): Promise<RealmIdentity | null> {
  if (stateOfFile(dataFile(folder)) !== "whole") return null;
  const lmdb = openLmdb(folder);
  try {
    return readIdentity(lmdb);
  } finally {
    await lmdb.close();
  }
}

function isSameAddress(a: RealmIdentity, b: RealmIdentity): boolean {
  return a.label === b.label || a.hosts.some((host) => b.hosts.includes(host));
}

function cannotSay(folder: string, root: string, state: FileState): DataFolderDamaged {
  const why = state === "whole" ? `${root} does not list ${folder}` : `${root} ${fileFaults[state]}`;
  return new DataFolderDamaged(
    `${why}, and ${folder} does not say which organization it is. Restore a backup, or put the root back.`,
  );
}

function sameAddress(folder: string, other: string): DataFolderDamaged {
  return new DataFolderDamaged(`${folder} and ${other} have the same label or host. Move one of them away.`);
}
