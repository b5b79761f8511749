/**
 * Restores a moment from an archive (cli restore --to): copies of the stores, and the records up to the moment, of all
 * organizations. A record is applied if no record before it, nor itself, is later than the moment. Everything is
 * verified: the copies, each record, and that no turn of an organization is missing.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { archiveLimits as limits } from "../../../schemas/limits/archive.ts";
import { type BackupPorts, checkFolder, referencedIn, restoreFolder, stepsOf } from "../../store/backup.ts";
import { dataFile } from "../../store/data-file.ts";
import { fileIn, filesFolder } from "../../store/files.ts";
import { openLmdb } from "../../store/lmdb.ts";
import { checkPages } from "../../store/lmdb-check.ts";
import { realmFolder } from "../../store/realm-folders.ts";
import { restoreInto } from "../../store/restore.ts";
import { RootStore } from "../../store/root.ts";
import type { Recorded } from "../journal/journal.ts";
import { LaggingStore } from "../journal/lagging-store.ts";
import { timeOf } from "../journal/record.ts";
import { checksumOf } from "./base-copy.ts";
import { archivedFiles, baseFolder } from "./layout.ts";
import { ArchiveDamaged, archivedRecords } from "./record-reader.ts";
import { planRestore, type RestoredRealm, type RestorePlan, type RestoreTime } from "./restore-plan.ts";

export interface Restored {
  /** The moment. */
  readonly at: number;
  /** Missing and damaged parts, one line each. */
  readonly problems: readonly string[];
}

/** @throws Error when the archive has no such moment or is damaged, or the target is not empty; it is unchanged then */
export async function restoreArchive(
  archive: string,
  dataDir: string,
  time: RestoreTime,
  progress: BackupPorts["progress"] = () => undefined,
): Promise<Restored> {
  const plan = planRestore(archive, time);
  const step = stepsOf({ progress }, 3 * plan.realms.length);
  let restored: Restored = { at: 0, problems: [] };
  await restoreInto(dataDir, async (staged) => {
    for (const realm of plan.realms) {
      copyBase(archive, plan, realm, staged);
      step();
    }
    const { at, unknown } = await applyRecords(archive, plan, time, staged);
    for (const { realm } of plan.realms) await copyUploads(archive, realm.id, staged).then(step);
    restored = {
      at: time === "latest" ? at : time,
      problems: [...unknown.map((id) => tooNew(plan, id)), ...(await finish(archive, plan, staged, step))],
    };
  });
  return restored;
}

function copyBase(archive: string, { generation }: RestorePlan, { realm, base }: RestoredRealm, staged: string): void {
  const source = dataFile(realmFolder(baseFolder(archive, generation, base.number), realm.id));
  const folder = realmFolder(staged, realm.id);
  const target = dataFile(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  copyFileSync(source, target);
  if (statSync(target).size !== realm.bytes || checksumOf(target) !== realm.checksum) {
    throw new ArchiveDamaged(`${source} is damaged. Put the file back, or choose a time before it was made.`);
  }
}

/** @returns the time of the last record, and organizations that have records but no base at that moment */
async function applyRecords(archive: string, plan: RestorePlan, time: RestoreTime, staged: string) {
  const stores = new Map<number, RestoredStore>();
  for (const { realm } of plan.realms) {
    const isOlder = realm.storeVersion !== plan.storeVersion;
    stores.set(realm.id, new RestoredStore(realmFolder(staged, realm.id), isOlder));
  }
  const unknown = new Set<number>();
  const erased = new Set(plan.erased.map(({ id }) => id));
  let at = Math.max(...plan.realms.map(({ base }) => base.at));
  let bytes = 0;
  try {
    for (const record of archivedRecords(archive, plan.generation, plan.from + 1)) {
      if (isLater(record, plan, time)) break;
      const store = stores.get(record.realmId);
      if (store !== undefined) store.add(record.bytes);
      else if (!erased.has(record.realmId)) unknown.add(record.realmId);
      at = Math.max(at, timeOf(record.bytes));
      bytes += record.bytes.length;
      if (bytes < limits.archive_restore_bytes) continue;
      for (const waiting of stores.values()) waiting.write();
      bytes = 0;
    }
    for (const store of stores.values()) store.write();
  } finally {
    for (const store of stores.values()) await store.close();
  }
  return { at, unknown: [...unknown] };
}

function isLater({ position, bytes }: Recorded, { upTo }: RestorePlan, time: RestoreTime): boolean {
  return time !== "latest" && position > upTo && timeOf(bytes) > time;
}

/** A copy of a store, which gets the turns that it lacks. */
class RestoredStore {
  readonly #folder: string;
  readonly #store: LaggingStore;
  /** The records were written after the store had been upgraded. */
  readonly #isOlder: boolean;

  /** @throws DamagedData */
  constructor(folder: string, isOlder: boolean) {
    checkPages(dataFile(folder), "all-pages");
    this.#folder = folder;
    this.#store = new LaggingStore(folder);
    this.#isOlder = isOlder;
  }

  /** @throws JournalDamaged when a turn is missing */
  add(record: Uint8Array): void {
    if (this.#isOlder && this.#store.lacks(record)) {
      throw new ArchiveDamaged(`${this.#folder} was just being upgraded at that time. Choose a time a minute later.`);
    }
    this.#store.add(record);
  }

  /** @throws JournalDamaged when a turn is missing */
  write(): void {
    this.#store.write();
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

function tooNew({ bases }: RestorePlan, realmId: number): string {
  const first = bases.find(({ realms }) => realms.some(({ id }) => id === realmId));
  const from = first === undefined ? "" : `: it can be restored from ${new Date(first.at).toISOString()} on`;
  return `organization ${realmId} is missing, because it was created just before that time${from}`;
}

/** A file that the archive lacks is reported by the check of the copy. */
async function copyUploads(archive: string, realmId: number, staged: string): Promise<void> {
  const folder = realmFolder(staged, realmId);
  const lmdb = openLmdb(folder);
  try {
    for (const name of referencedIn(lmdb).keys()) {
      const source = fileIn(archivedFiles(archive, realmId), name);
      const target = fileIn(filesFolder(folder), name);
      if (!existsSync(source)) continue;
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
      copyFileSync(source, target);
    }
  } finally {
    await lmdb.close();
  }
}

/** Another organization may have the label of one by now. */
function credentialsOfErased({ bases, erased, realms }: RestorePlan): Set<string> {
  const ids = new Set(erased.map(({ id }) => id));
  const labels = bases.flatMap((base) => base.realms.filter(({ id }) => ids.has(id)).map(({ label }) => label));
  const taken = new Set(realms.map(({ realm }) => realm.label));
  return new Set(labels.filter((label) => !taken.has(label)).map((label) => `zuliprc.${label}`));
}

async function finish(archive: string, plan: RestorePlan, staged: string, step: () => void): Promise<string[]> {
  const { generation, newest, realms, erased } = plan;
  const base = baseFolder(archive, generation, newest.number);
  const gone = credentialsOfErased(plan);
  for (const name of readdirSync(base).filter((entry) => entry.startsWith("zuliprc") && !gone.has(entry))) {
    copyFileSync(join(base, name), join(staged, name));
  }
  const root = RootStore.make(staged);
  try {
    for (const { realm } of realms) {
      const { id, label, hosts, createdAt } = realm;
      // Its due times are not known, so it is opened at once (M8).
      root.putRealm({ id, label, hosts, createdAt, dueHint: 0 });
    }
    for (const { id, at } of erased) root.noteErased({ id, at, label: null });
    await restoreFolder(root, staged);
    return await checkFolder(root, staged, step);
  } finally {
    await root.close();
  }
}
