/**
 * Organizations that were erased while the cluster runs. The directory says so first, and from then on no node serves
 * them. Each node removes what its disk has of them, at its start or when it hears of it; one node removes what the
 * streams and the object store have. Everything can be repeated, so if a node dies in between, the next one finishes.
 */
import { limits } from "../../../schemas/limits.ts";
import { removeErased } from "../../store/erased-realms.ts";
import { areFilesLocked } from "../../store/file-hold.ts";
import { hasErasedFiles, realmFolder } from "../../store/realm-folders.ts";
import type { RootStore } from "../../store/root.ts";
import { type Claimant, claimErasure } from "./claim.ts";
import { fileOf, filesBucket } from "./cluster-files.ts";
import { ClusterUnusable } from "./cluster-unusable.ts";
import type { Nats } from "./connection.ts";
import type { Directory } from "./directory.ts";
import type { Follower } from "./follower.ts";
import { ObjectBucket } from "./object-bucket.ts";
import { RealmLog } from "./realm-log.ts";
import { Snapshots } from "./snapshots.ts";
import type { Streams } from "./streams.ts";

/** How far the removal of files is. */
type Progress = (done: number, total: number) => void;

export interface ErasuresOptions {
  readonly nats: Nats;
  readonly streams: Streams;
  readonly directory: Directory;
  readonly follower: Follower;
  readonly dataDir: string;
  readonly root: RootStore;
  readonly claimant: Claimant;
  readonly clock: { now(): number; monotonic(): number };
  readonly warn: (line: string) => void;
}

export class Erasures {
  readonly #options: ErasuresOptions;
  /** Organizations of which this node has nothing any more. */
  readonly #removed = new Set<number>();
  readonly #working = new Map<number, Promise<void>>();
  /** When those are tried again that could not be removed. */
  readonly #retryAt = new Map<number, number>();
  /** Told of each organization that is gone. */
  forget: (realmId: number) => void = () => undefined;

  constructor(options: ErasuresOptions) {
    this.#options = options;
  }

  /**
   * The numbers that a data folder has erased before it joined are used by no node.
   * @throws ClusterUnusable when one is in use
   */
  async bringAlong(): Promise<void> {
    const { directory, root, claimant } = this.#options;
    for (const { id, at } of root.erased()) {
      if (directory.isErased(id)) continue;
      if (await directory.erase(id, claimant.node, { at, isCleared: true }, 0)) continue;
      throw new ClusterUnusable(
        `The cluster has an organization with number ${id}, which DATA_DIR has erased. Start with an empty DATA_DIR: the node builds its stores from the streams.`,
      );
    }
  }

  /**
   * Begins to remove what is left.
   * @param clears whether this node removes what an organization has in the cluster
   */
  look(clears: (realmId: number) => boolean): void {
    const { directory, clock } = this.#options;
    for (const [id, { at, isCleared }] of directory.erased()) {
      const clearsNow = !isCleared && clears(id);
      if ((this.#removed.has(id) && !clearsNow) || this.#working.has(id)) continue;
      if (clock.monotonic() < (this.#retryAt.get(id) ?? 0)) continue;
      const work = this.#finish(id, at, clearsNow).finally(() => this.#working.delete(id));
      this.#working.set(id, work);
    }
  }

  /** Resolves when no erasure is running. */
  async whenIdle(): Promise<void> {
    await Promise.all(this.#working.values());
  }

  /** Removes everything of an organization that the directory lists as erased. @throws whatever keeps it from that */
  async remove(realmId: number, at: number, progress: Progress): Promise<void> {
    await this.#working.get(realmId);
    const work = this.#removeHere(realmId, at, progress).then(() => this.#clear(realmId));
    const finished = work.catch(() => undefined).finally(() => this.#working.delete(realmId));
    this.#working.set(realmId, finished);
    await work;
  }

  async #finish(id: number, at: number, clears: boolean): Promise<void> {
    const { clock, warn } = this.#options;
    try {
      if (!this.#removed.has(id)) await this.#removeHere(id, at, () => undefined);
      if (clears) await this.#clear(id);
    } catch (error) {
      warn(`organization ${id} is erased, but not everything of it is removed yet: ${(error as Error).message}`);
      this.#retryAt.set(id, clock.monotonic() + limits.cluster_orphan_ms_max);
    }
  }

  async #removeHere(id: number, at: number, progress: Progress): Promise<void> {
    const { dataDir, root, follower, clock } = this.#options;
    await follower.end(id);
    if (!root.isErased(id) || hasErasedFiles(dataDir, id)) {
      // Otherwise a backup that has begun with it would fail.
      if (await areFilesLocked(realmFolder(dataDir, id), clock.now()))
        throw new Error("a backup or a check is reading it");
      const entry = root.realms().find((one) => one.id === id);
      const erased = { id, at, label: entry?.label ?? null };
      if (entry === undefined) root.noteErased(erased);
      else root.eraseRealm(entry, at);
      await removeErased(dataDir, root, erased, progress);
    }
    this.forget(id);
    this.#removed.add(id);
  }

  async #clear(id: number): Promise<void> {
    const { nats, streams, directory, claimant } = this.#options;
    await clearErased(nats, new RealmLog(nats, streams, id), claimant);
    const fact = directory.owner(id);
    if (fact?.value.erased?.isCleared !== false) return;
    // If another node was faster, it is so already.
    await directory.erase(id, claimant.node, { ...fact.value.erased, isCleared: true }, fact.sequence);
  }
}

/** Removes what an erased organization has in the streams and in the object store. */
async function clearErased(nats: Nats, log: RealmLog, claimant: Claimant): Promise<void> {
  // First: whatever is sent later does not follow it, and who reads a snapshot that goes away finds it.
  await log.purge(await claimErasure(log, claimant));
  await new Snapshots(nats).removeAll((id) => id === log.realmId, [log.realmId]);
  const files = await ObjectBucket.open(nats, filesBucket);
  for (const object of await files.names()) if (fileOf(object)?.realmId === log.realmId) await files.remove(object);
}
