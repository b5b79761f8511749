/**
 * The list of the snapshots that the cluster has of each store. An organization has at most two, the newest ones: each
 * was read back and checked before it was listed. The list of an organization is one message, which is replaced only by
 * a node that has read it.
 */
import type { StoredMsg } from "@nats-io/jetstream";
import { limits } from "../../../schemas/limits.ts";
import type { Nats } from "./connection.ts";
import { ObjectBucket } from "./object-bucket.ts";
import { requested } from "./request.ts";

export interface Snapshot {
  /** The store, in the bucket. */
  readonly object: string;
  readonly bytes: number;
  readonly sha256: string;
  /** The last turn that the store has. */
  readonly turn: number;
  /** The message that has this turn, so what follows begins with it. */
  readonly sequence: number;
  readonly storeVersion: number;
  readonly madeAt: number;
  /** The node that made it. */
  readonly node: string;
}

export interface SnapshotList {
  /** The newest one first. */
  readonly snapshots: readonly Snapshot[];
  /** The revision of the message; 0 if there is none. */
  readonly revision: number;
}

const stream = "snapshots";
const bucket = "stores";

export class Snapshots {
  readonly #nats: Nats;
  #bucket: Promise<ObjectBucket> | null = null;

  constructor(nats: Nats) {
    this.#nats = nats;
  }

  /** The stores themselves. */
  get objects(): Promise<ObjectBucket> {
    this.#bucket ??= ObjectBucket.open(this.#nats, bucket);
    return this.#bucket;
  }

  async of(realmId: number): Promise<SnapshotList> {
    const query = { last_by_subj: subjectOf(realmId) };
    const found = await this.#existing(() => this.#nats.manager.streams.getMessage(stream, query));
    if (found === null) return { snapshots: [], revision: 0 };
    return { snapshots: found.json<{ snapshots: Snapshot[] }>().snapshots, revision: found.seq };
  }

  /** @returns null as long as there is no stream: no node has made a snapshot yet */
  async #existing(request: () => Promise<StoredMsg | null>): Promise<StoredMsg | null> {
    return requested(this.#nats, async () => {
      try {
        return await request();
      } catch (error) {
        if ((error as { code?: unknown }).code === streamNotFound) return null;
        throw error;
      }
    });
  }

  /**
   * Lists a snapshot in front of the one before it.
   * @param list as it was read before
   * @returns the snapshots that are listed no more; null if another node has changed the list since
   */
  async add(realmId: number, list: SnapshotList, snapshot: Snapshot): Promise<readonly Snapshot[] | null> {
    await this.#openList();
    const all = [snapshot, ...list.snapshots];
    const snapshots = all.slice(0, limits.cluster_snapshots_kept);
    const isListed = await requested(this.#nats, async () => {
      try {
        await this.#nats.jetStream.publish(subjectOf(realmId), JSON.stringify({ snapshots }), {
          msgID: snapshot.object,
          expect: { lastSubjectSequence: list.revision },
          timeout: limits.cluster_request_ms_max,
        });
        return true;
      } catch (error) {
        if ((error as { code?: unknown }).code !== wrongLastSequence) throw error;
        // An attempt without an answer may be there.
        return (await this.of(realmId)).snapshots[0]?.object === snapshot.object;
      }
    });
    return isListed ? all.slice(limits.cluster_snapshots_kept) : null;
  }

  /**
   * Removes all snapshots of organizations that were erased.
   * @param realmIds of these the lists, too
   */
  async removeAll(isErased: (realmId: number) => boolean, realmIds: readonly number[]): Promise<void> {
    const objects = await this.objects;
    for (const object of await objects.names()) {
      const realmId = realmOf(object);
      if (realmId !== null && isErased(realmId)) await objects.remove(object);
    }
    await this.#openList();
    for (const realmId of realmIds) {
      await requested(this.#nats, () => this.#nats.manager.streams.purge(stream, { filter: subjectOf(realmId) }));
    }
  }

  async #openList(): Promise<void> {
    const { manager } = this.#nats;
    const options = {
      name: stream,
      subjects: [`${stream}.*`],
      num_replicas: limits.cluster_replicas,
      max_msgs_per_subject: 1,
      allow_direct: false,
    };
    await requested(this.#nats, () => manager.streams.add(options));
  }
}

const streamNotFound = 10059;
const wrongLastSequence = 10071;

function subjectOf(realmId: number): string {
  return `${stream}.${realmId}`;
}

/** The name of a snapshot in the bucket. @param by tells snapshots of the same turn apart */
export function snapshotObject(realmId: number, turn: number, by: string): string {
  return `realm-${realmId}-turn-${turn}-${by}`;
}

function realmOf(object: string): number | null {
  const found = /^realm-([1-9]\d*)-turn-/.exec(object)?.[1];
  return found === undefined ? null : Number(found);
}
