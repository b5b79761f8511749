/** Writes the store of a snapshot to disk, and a store of a node from the newest snapshot that is whole. */
import { createHash } from "node:crypto";
import { createWriteStream, mkdirSync, rmSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { dataFile } from "../../store/data-file.ts";
import { storeVersion } from "../../store/migrations.ts";
import { ClusterUnusable } from "./cluster-unusable.ts";
import { type ObjectBucket, ObjectDamaged } from "./object-bucket.ts";
import type { Snapshot, Snapshots } from "./snapshots.ts";

/**
 * @param folder does not exist yet
 * @throws ObjectDamaged when it is not what was written
 */
export async function downloadStore(
  objects: ObjectBucket,
  { object, sha256 }: Pick<Snapshot, "object" | "sha256">,
  folder: string,
): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const hash = createHash("sha256");
  const hashed = async function* () {
    for await (const chunk of objects.read(object)) {
      hash.update(chunk);
      yield chunk;
    }
  };
  await pipeline(hashed, createWriteStream(dataFile(folder), { mode: 0o600, flush: true }));
  if (hash.digest("base64url") !== sha256) throw new ObjectDamaged(`${object} is not the store that was listed`);
}

export interface RestoreOptions {
  readonly realmId: number;
  readonly snapshots: Snapshots;
  /** Does not exist yet. */
  readonly folder: string;
  readonly warn: (line: string) => void;
}

/**
 * Restores from the newest snapshot that is whole.
 * @returns null if there is none
 * @throws ClusterUnusable when a newer program made it
 */
export async function restoreStore({ realmId, snapshots, folder, warn }: RestoreOptions): Promise<Snapshot | null> {
  const list = await snapshots.of(realmId);
  for (const snapshot of list.snapshots) {
    if (snapshot.storeVersion > storeVersion) {
      throw new ClusterUnusable(
        `The snapshot of organization ${realmId} was made by a newer program (store version ${snapshot.storeVersion}, this one knows ${storeVersion}). Upgrade this node.`,
      );
    }
    try {
      await downloadStore(await snapshots.objects, snapshot, folder);
      return snapshot;
    } catch (error) {
      if (!(error instanceof ObjectDamaged)) throw error;
      rmSync(folder, { recursive: true, force: true });
      warn(
        `The snapshot of organization ${realmId} at turn ${snapshot.turn} cannot be used: ${error.message}. An older one is tried. Make a new one: cli cluster snapshot ${realmId}`,
      );
    }
  }
  return null;
}
