/**
 * Makes the object store agree with what organizations claim: sends files that only this node has, as those of an
 * organization that has just joined, and removes those that no row claims, what is left of files that were never
 * written to their end, and of erased organizations. A file is written before it is claimed, so one that is younger than
 * a day is left alone. It runs in a process of its own, on the node that serves the organizations.
 */
import { createReadStream, existsSync } from "node:fs";
import { limits } from "../../../schemas/limits.ts";
import { referencedIn } from "../../store/backup.ts";
import { fileIn, filesFolder } from "../../store/files.ts";
import { openLmdb } from "../../store/lmdb.ts";
import { realmFolder } from "../../store/realm-folders.ts";
import { fileOf, filesBucket, objectName } from "./cluster-files.ts";
import { connectNats, type NatsOptions } from "./connection.ts";
import { Directory } from "./directory.ts";
import { ObjectBucket } from "./object-bucket.ts";
import { Snapshots } from "./snapshots.ts";

export interface MissingFilesOptions {
  readonly nats: NatsOptions;
  readonly dataDir: string;
  /** Organizations that this node serves. */
  readonly realmIds: readonly number[];
  readonly now: number;
}

export interface MissingFilesResult {
  readonly realmId: number;
  readonly sent: number;
  readonly removed: number;
}

/** @throws ClusterUnusable, ClusterSilent */
export async function fetchMissingFiles(options: MissingFilesOptions): Promise<MissingFilesResult[]> {
  const nats = await connectNats(options.nats);
  try {
    const bucket = await ObjectBucket.open(nats, filesBucket);
    // Before the rows are read: what is claimed later is not in the list.
    const stored = new Map<number, Set<string>>();
    for (const object of await bucket.names()) {
      const file = fileOf(object);
      if (file === null) continue;
      const names = stored.get(file.realmId) ?? new Set();
      stored.set(file.realmId, names.add(file.name));
    }
    const directory = await Directory.find(nats);
    const erased = new Set((directory?.erased() ?? []).map(([id]) => id));
    // A node that was killed while it sent something may have left it.
    for (const id of erased) for (const name of stored.get(id) ?? []) await bucket.remove(objectName(id, name));
    await new Snapshots(nats).removeAll((id) => erased.has(id), [...erased]);
    const results: MissingFilesResult[] = [];
    for (const realmId of options.realmIds) {
      results.push(await careFor(realmId, bucket, stored.get(realmId) ?? new Set(), options));
    }
    await bucket.removeUnfinished(options.now - limits.cluster_file_grace_ms);
    return results;
  } finally {
    await nats.close();
  }
}

async function careFor(
  realmId: number,
  bucket: ObjectBucket,
  stored: ReadonlySet<string>,
  { dataDir, now }: MissingFilesOptions,
): Promise<MissingFilesResult> {
  const folder = realmFolder(dataDir, realmId);
  const lmdb = openLmdb(folder);
  const claimed = referencedIn(lmdb);
  await lmdb.close();
  let sent = 0;
  for (const name of claimed.keys()) {
    const path = fileIn(filesFolder(folder), name);
    if (stored.has(name) || !existsSync(path)) continue;
    await bucket.put(objectName(realmId, name), () => createReadStream(path));
    sent++;
  }
  let removed = 0;
  for (const name of stored) {
    if (claimed.has(name)) continue;
    const found = await bucket.find(objectName(realmId, name));
    if (found === null || found.writtenAt > now - limits.cluster_file_grace_ms) continue;
    await bucket.remove(found.name);
    removed++;
  }
  return { realmId, sent, removed };
}
