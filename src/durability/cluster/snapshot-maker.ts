/**
 * Makes a snapshot of an organization's store: copies what the store has now, sends the copy to the cluster, reads it
 * back, and checks every row of it. Only then is it listed, and what the stream has before the older of the two listed
 * ones is forgotten. It runs in a process of its own, on a node that owns the organization or follows it.
 */
import { createReadStream, mkdirSync, rmSync } from "node:fs";
import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { limits } from "../../../schemas/limits.ts";
import { checkStore } from "../../store/backup.ts";
import { dataFile } from "../../store/data-file.ts";
import { openLmdb } from "../../store/lmdb.ts";
import { storeVersion } from "../../store/migrations.ts";
import { realmFolder } from "../../store/realm-folders.ts";
import { turnNumberIn } from "../../store/turn-number.ts";
import { isErased } from "./claim.ts";
import { decodeEnvelope, recordsIn } from "./envelope.ts";
import { lastBefore } from "./followed-realm.ts";
import type { ObjectBucket } from "./object-bucket.ts";
import type { RealmLog } from "./realm-log.ts";
import { downloadStore } from "./snapshot-download.ts";
import { type Snapshot, type SnapshotList, type Snapshots, snapshotObject } from "./snapshots.ts";

export interface SnapshotMakerOptions {
  readonly dataDir: string;
  /** An empty folder, for copies of stores. */
  readonly drafts: string;
  readonly snapshots: Snapshots;
  /** The name of the node. */
  readonly node: string;
  readonly now: () => number;
  /** How much space of the disk must be left. */
  readonly freeBytesMin: number;
}

/** No snapshot was made; nothing has changed. */
export class SnapshotRefused extends Error {
  override readonly name = "SnapshotRefused";
}

export class SnapshotMaker {
  readonly #options: SnapshotMakerOptions;

  constructor(options: SnapshotMakerOptions) {
    this.#options = options;
  }

  /**
   * @returns null if the newest snapshot has everything that the store has
   * @throws SnapshotRefused, ClusterSilent
   */
  async make(log: RealmLog): Promise<Snapshot | null> {
    const { snapshots, node, now } = this.#options;
    const { realmId } = log;
    const list = await snapshots.of(realmId);
    const draft = join(this.#options.drafts, String(realmId));
    const objects = await snapshots.objects;
    const turn = await this.#copy(realmId, draft);
    if (turn <= (list.snapshots[0]?.turn ?? -1)) return null;
    const sequence = await sequenceOf(log, turn);
    const object = snapshotObject(realmId, turn, `${node}-${now()}`);
    const { bytes, sha256 } = await objects.put(object, () => createReadStream(dataFile(draft), chunks));
    try {
      await this.#verify(objects, object, { draft, turn, sha256 });
      const made = { object, bytes, sha256, turn, sequence, storeVersion, madeAt: now(), node };
      await this.#list(log, list, made);
      return made;
    } catch (error) {
      await objects.remove(object);
      throw error;
    }
  }

  /** @returns the last turn that the copy has */
  async #copy(realmId: number, draft: string): Promise<number> {
    const { dataDir, freeBytesMin } = this.#options;
    const folder = realmFolder(dataDir, realmId);
    const { size } = await stat(dataFile(folder)).catch(() => {
      throw new SnapshotRefused(`This node has no store of organization ${realmId} yet.`);
    });
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize < size + freeBytesMin) {
      throw new SnapshotRefused(
        `The disk of DATA_DIR has no space for a copy of organization ${realmId} (${size} bytes, and STORE_FREE_BYTES_MIN). Make space, or let another node make the snapshot.`,
      );
    }
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    const lmdb = openLmdb(folder);
    lmdb.clearDeadReaders();
    await lmdb.backup(draft).finally(() => lmdb.close());
    return turnOf(draft);
  }

  /** @throws SnapshotRefused when what the cluster has is not the store that was copied */
  async #verify(
    objects: ObjectBucket,
    object: string,
    { draft, turn, sha256 }: { readonly draft: string; readonly turn: number; readonly sha256: string },
  ): Promise<void> {
    // The disk has space for one copy.
    rmSync(draft, { recursive: true });
    await downloadStore(objects, { object, sha256 }, draft);
    const problems = await checkStore(draft);
    if (problems.length > 0) throw new SnapshotRefused(`The snapshot ${object} is damaged: ${problems[0]}`);
    const found = await turnOf(draft);
    if (found !== turn) throw new SnapshotRefused(`The snapshot ${object} has turn ${found}, not ${turn}.`);
    rmSync(draft, { recursive: true });
  }

  /** From now on nodes restore from it, and the stream forgets what both listed ones have. */
  async #list(log: RealmLog, list: SnapshotList, made: Snapshot): Promise<void> {
    const { snapshots } = this.#options;
    const dropped = await snapshots.add(log.realmId, list, made);
    if (dropped === null) {
      throw new SnapshotRefused(`Another node has made a snapshot of organization ${log.realmId} meanwhile.`);
    }
    if (await isErased(log)) {
      await snapshots.removeAll((id) => id === log.realmId, [log.realmId]);
      throw new SnapshotRefused(`Organization ${log.realmId} was erased meanwhile.`);
    }
    const older = list.snapshots[limits.cluster_snapshots_kept - 2];
    if (older !== undefined) await log.purge(older.sequence);
    const objects = await snapshots.objects;
    for (const { object } of dropped) await objects.remove(object);
  }
}

const chunks = { highWaterMark: limits.cluster_object_chunk_bytes } as const;

async function turnOf(folder: string): Promise<number> {
  const lmdb = openLmdb(folder, "all-pages");
  try {
    return turnNumberIn(lmdb);
  } finally {
    await lmdb.close();
  }
}

/** @throws SnapshotRefused when the stream does not have the turn */
async function sequenceOf(log: RealmLog, turn: number): Promise<number> {
  const last = await log.last();
  const message = last === null ? null : await lastBefore(log, turn, last.sequence);
  const missing = () =>
    new SnapshotRefused(
      `The stream does not have turn ${turn} of organization ${log.realmId}, which the store of this node has.`,
    );
  if (message === null) throw missing();
  const { kind, position, body } = decodeEnvelope(message.bytes);
  if (kind === "records" && position + recordsIn(body).length <= turn) throw missing();
  return message.sequence;
}
