/** Makes snapshots of organizations whose stores this node has, one after the other, on a connection of its own. */
import { connectNats, type NatsOptions } from "./connection.ts";
import { ObjectDamaged } from "./object-bucket.ts";
import { RealmLog } from "./realm-log.ts";
import { SnapshotMaker, type SnapshotMakerOptions, SnapshotRefused } from "./snapshot-maker.ts";
import { Snapshots } from "./snapshots.ts";
import { findStreams } from "./streams.ts";

export interface SnapshotRunOptions extends Omit<SnapshotMakerOptions, "snapshots"> {
  readonly nats: NatsOptions;
  readonly realmIds: readonly number[];
  readonly onMade: (made: MadeSnapshot) => void;
}

/** The snapshot of one organization; null: the newest snapshot had everything. */
export interface MadeSnapshot {
  readonly organization: number;
  readonly made: { readonly turn: number; readonly bytes: number } | null;
}

/**
 * @returns what failed, one line each
 * @throws ClusterUnusable, ClusterSilent
 */
export async function makeSnapshots({
  nats: options,
  realmIds,
  onMade,
  ...tools
}: SnapshotRunOptions): Promise<string[]> {
  const nats = await connectNats(options);
  try {
    const streams = await findStreams(nats);
    if (streams === null) return ["no node has joined this cluster yet"];
    const maker = new SnapshotMaker({ ...tools, snapshots: new Snapshots(nats) });
    const failures: string[] = [];
    for (const realmId of realmIds) {
      try {
        const made = await maker.make(new RealmLog(nats, streams, realmId));
        onMade({ organization: realmId, made: made === null ? null : { turn: made.turn, bytes: made.bytes } });
      } catch (error) {
        if (!(error instanceof SnapshotRefused || error instanceof ObjectDamaged)) throw error;
        failures.push(`organization ${realmId}: ${error.message}`);
      }
    }
    return failures;
  } finally {
    await nats.close();
  }
}
