/**
 * Makes a base: copies the stores of organizations while the server works on them, each as it is at one moment, and the
 * uploaded files that they claim. LMDB never opens a file of the archive: it may be on a disk that LMDB cannot use.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { crc32c } from "@node-rs/crc32";
import { referencedIn } from "../../store/backup.ts";
import { dataFile } from "../../store/data-file.ts";
import { lockFiles } from "../../store/file-hold.ts";
import { flushFolderSync } from "../../store/folders.ts";
import { flushTreeGently } from "../../store/gentle-flush.ts";
import { openLmdb } from "../../store/lmdb.ts";
import { checkPages } from "../../store/lmdb-check.ts";
import { realmFolder } from "../../store/realm-folders.ts";
import type { RealmIdentity } from "../../store/realm-identity.ts";
import type { RecordNumber } from "../journal/journal.ts";
import { type BaseManifest, type BaseNote, type BaseRealm, noteOf, writeManifest } from "./base-manifest.ts";
import { baseFolder, basesFolder, draftSuffix, listBases, listOwners } from "./layout.ts";
import { archiveUpload } from "./uploads.ts";

export interface BaseOrder {
  readonly archive: string;
  readonly dataDir: string;
  readonly generation: number;
  /** The number of the archive's owner. */
  readonly owner: number;
  readonly realms: readonly RealmIdentity[];
  readonly isWhole: boolean;
  /** The stores have all records up to here. */
  readonly from: RecordNumber;
}

/** When the stores were copied. */
export interface BaseTime {
  /** No record after this one was durable. */
  readonly upTo: RecordNumber;
  readonly at: number;
}

/** @param copied is asked once all stores are copied */
export async function copyBase(order: BaseOrder, copied: () => Promise<BaseTime>): Promise<BaseNote> {
  const { archive, generation, dataDir, from, isWhole } = order;
  const folder = basesFolder(archive, generation);
  const number = (listBases(archive, generation).at(-1) ?? 0) + 1;
  const draft = join(folder, `${number}.${randomBytes(6).toString("hex")}${draftSuffix}`);
  mkdirSync(draft, { mode: 0o700 });
  try {
    const realms: BaseRealm[] = [];
    for (const realm of order.realms) realms.push(await copyRealm(order, realm, realmFolder(draft, realm.id)));
    const manifest: BaseManifest = { ...(await copied()), from, isWhole, realms };
    for (const name of readdirSync(dataDir).filter((entry) => entry.startsWith("zuliprc"))) {
      copyFileSync(join(dataDir, name), join(draft, name));
    }
    writeManifest(draft, manifest);
    await flushTreeGently(draft);
    if (listOwners(archive).at(-1) !== order.owner) throw new Error(`another process writes ${archive} by now`);
    renameSync(draft, baseFolder(archive, generation, number));
    flushFolderSync(folder);
    return noteOf({ ...manifest, generation, number });
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

async function copyRealm({ archive, dataDir }: BaseOrder, realm: RealmIdentity, target: string): Promise<BaseRealm> {
  const folder = realmFolder(dataDir, realm.id);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  const lock = await lockFiles(folder, { now: Date.now, warn: () => undefined });
  try {
    const lmdb = openLmdb(folder);
    let storeVersion = 0;
    let files: string[] = [];
    try {
      storeVersion = (lmdb.get("meta", "format")?.value as number | undefined) ?? 0;
      // Before the copy: what is claimed during it is claimed by records after `from`, and is copied with them.
      files = [...referencedIn(lmdb).keys()];
      lmdb.clearDeadReaders();
      await lmdb.backup(target);
    } finally {
      await lmdb.close();
    }
    for (const name of files) archiveUpload(archive, dataDir, realm.id, name);
    const copy = dataFile(target);
    checkPages(copy, "all-pages");
    const { id, label, hosts, createdAt } = realm;
    return { id, label, hosts, createdAt, storeVersion, files, bytes: statSync(copy).size, checksum: checksumOf(copy) };
  } finally {
    await lock.release();
  }
}

const chunkBytes = 1024 * 1024;

/** CRC32C of a file. */
export function checksumOf(path: string): number {
  const file = openSync(path, "r");
  try {
    const chunk = new Uint8Array(chunkBytes);
    let checksum = 0;
    for (;;) {
      const read = readSync(file, chunk, 0, chunk.length, null);
      if (read === 0) return checksum;
      checksum = crc32c(chunk.subarray(0, read), checksum);
    }
  } finally {
    closeSync(file);
  }
}
