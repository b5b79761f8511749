/**
 * Keeps snapshots of the organizations' stores, and their files, in the cluster. It
 * has a connection of its own, so that large things do not delay the acknowledgements of turns.
 */
import { limits } from "../../../schemas/limits.ts";
import { ClusterFiles, filesBucket } from "./cluster-files.ts";
import { ClusterSilent } from "./cluster-unusable.ts";
import { connectNats, type Nats, type NatsOptions } from "./connection.ts";
import { ObjectBucket } from "./object-bucket.ts";
import { SnapshotSchedule, type SnapshotScheduleOptions } from "./snapshot-schedule.ts";
import { Snapshots } from "./snapshots.ts";
import { findStreams } from "./streams.ts";

export interface ReplicationOptions extends Omit<SnapshotScheduleOptions, "nats" | "streams" | "snapshots"> {
  readonly nats: NatsOptions;
  /** Looks after the files of organizations (file-care.ts). Never rejects. */
  readonly careForFiles: (realmIds: readonly number[]) => Promise<void>;
}

export class Replication {
  readonly #options: ReplicationOptions;
  #nats: Promise<Nats> | null = null;
  #schedule: SnapshotSchedule | null = null;
  #isClosed = false;
  #cancelCare: () => void = () => undefined;
  #files: Promise<ObjectBucket> | null = null;

  constructor(options: ReplicationOptions) {
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
    this.#careLater(limits.cluster_snapshot_look_ms);
  }

  #careLater(milliseconds: number): void {
    this.#cancelCare = this.#options.clock.after(milliseconds, () => {
      void this.#care()
        .catch((error: Error) => {
          this.#options.warn(`The files of organizations are not looked after: ${error.message}`);
          return limits.cluster_snapshot_look_ms;
        })
        .then((pauseMs) => {
          if (!this.#isClosed) this.#careLater(pauseMs);
        });
    });
  }

  /** @returns when to look again: a node that serves nothing yet does so soon */
  async #care(): Promise<number> {
    const { stored, owns, careForFiles } = this.#options;
    const mine = [...stored()].filter(owns);
    if (mine.length === 0) return limits.cluster_snapshot_look_ms;
    await careForFiles(mine);
    return limits.cluster_file_sweep_ms;
  }

  #connect(): Promise<Nats> {
    const { nats } = this.#options;
    this.#nats ??= connectNats({ ...nats, name: `${nats.name}-data` });
    return this.#nats;
  }

  /** Seconds since the newest snapshot of the organization whose newest one is the oldest; 0 if there is none at all. */
  get snapshotAgeS(): number {
    const { clock } = this.#options;
    const made = [...(this.#schedule?.newest.values() ?? [])].flatMap(({ newest }) => newest?.madeAt ?? []);
    return made.length === 0 ? 0 : (clock.now() - made.reduce((oldest, at) => Math.min(oldest, at))) / 1000;
  }

  filesOf(realmId: number): ClusterFiles {
    return new ClusterFiles(realmId, () => this.#openFiles());
  }

  #openFiles(): Promise<ObjectBucket> {
    this.#files ??= this.#connect().then((nats) => ObjectBucket.open(nats, filesBucket));
    // Another try may succeed.
    this.#files.catch(() => {
      this.#files = null;
    });
    return this.#files;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelCare();
    this.#schedule?.end();
    await (await this.#nats)?.close();
  }
}
