/**
 * What a node keeps in the cluster besides the turns of its organizations: snapshots of their stores. It has a connection
 * of its own, so that large things do not delay the acknowledgements of turns.
 */
import { ClusterSilent } from "./cluster-unusable.ts";
import { connectNats, type Nats, type NatsOptions } from "./connection.ts";
import { SnapshotSchedule, type SnapshotScheduleOptions } from "./snapshot-schedule.ts";
import { Snapshots } from "./snapshots.ts";
import { findStreams } from "./streams.ts";

export interface DataKeepingOptions extends Omit<SnapshotScheduleOptions, "nats" | "streams" | "snapshots"> {
  readonly nats: NatsOptions;
}

export class DataKeeping {
  readonly #options: DataKeepingOptions;
  #nats: Promise<Nats> | null = null;
  #schedule: SnapshotSchedule | null = null;
  #isClosed = false;

  constructor(options: DataKeepingOptions) {
    this.#options = options;
  }

  /**
   * The node has joined the cluster.
   * @throws ClusterUnusable, ClusterSilent
   */
  async start(): Promise<void> {
    const nats = await this.#connect();
    const streams = await findStreams(nats);
    if (streams === null) throw new ClusterSilent("The streams of the cluster are gone.");
    if (this.#isClosed) return;
    this.#schedule = new SnapshotSchedule({ ...this.#options, nats, streams, snapshots: new Snapshots(nats) });
  }

  #connect(): Promise<Nats> {
    const { nats } = this.#options;
    this.#nats ??= connectNats({ ...nats, name: `${nats.name}-data` });
    return this.#nats;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#schedule?.end();
    await (await this.#nats)?.close();
  }
}
