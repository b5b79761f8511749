/**
 * Decides when a node makes a snapshot of an organization: when its messages since the last one have grown to a size, or
 * after a time. Nodes that follow an organization come first: its owner, which has more to do, waits for half as long
 * again.
 */
import { limits } from "../../../schemas/limits.ts";
import type { Nats } from "./connection.ts";
import { RealmLog } from "./realm-log.ts";
import { requested } from "./request.ts";
import type { Snapshot, Snapshots } from "./snapshots.ts";
import type { Streams } from "./streams.ts";

export interface SnapshotScheduleOptions {
  readonly nats: Nats;
  readonly streams: Streams;
  readonly snapshots: Snapshots;
  readonly clock: {
    now(): number;
    after(milliseconds: number, callback: () => void): () => void;
  };
  /** Messages of an organization since its last snapshot that make one due. */
  readonly bytes: number;
  readonly ageMs: number;
  /** Whether this node serves it. */
  readonly owns: (realmId: number) => boolean;
  /** Organizations whose stores this node has. */
  readonly stored: () => Iterable<number>;
  /** Makes one. Never rejects. */
  readonly run: (realmId: number) => Promise<void>;
  readonly warn: (line: string) => void;
}

interface Seen {
  /** The newest one that the node knows; null if there was none. */
  readonly newest: Snapshot | null;
  /** When it was made, or when the node saw that there was none. */
  readonly at: number;
}

const ownerPatience = 1.5;

export class SnapshotSchedule {
  readonly #options: SnapshotScheduleOptions;
  readonly #seen = new Map<number, Seen>();
  #cancel: () => void = () => undefined;
  #isEnded = false;

  constructor(options: SnapshotScheduleOptions) {
    this.#options = options;
    this.#wait();
  }

  /** The newest snapshot of each organization that the node has looked at. */
  get newest(): ReadonlyMap<number, { readonly newest: Snapshot | null }> {
    return this.#seen;
  }

  end(): void {
    this.#isEnded = true;
    this.#cancel();
  }

  #wait(): void {
    if (this.#isEnded) return;
    this.#cancel = this.#options.clock.after(limits.cluster_snapshot_look_ms, () => {
      void this.look()
        .catch((error: Error) => this.#options.warn(`No snapshots are made: ${error.message}`))
        .then(() => this.#wait());
    });
  }

  /** Makes the snapshots that are due, one after the other. */
  async look(): Promise<void> {
    const { streams, stored } = this.#options;
    const mine = [...stored()];
    for (const { name, subjects } of streams.all) {
      const realms = mine.filter((id) => streams.nameOf(id) === name);
      if (realms.length > 0) await this.#lookAt(name, subjects, realms);
    }
  }

  async #lookAt(name: string, subjects: string, realms: readonly number[]): Promise<void> {
    const { nats, streams } = this.#options;
    const { state } = await requested(nats, () => nats.manager.streams.info(name, { subjects_filter: subjects }));
    const { messages: all, last_seq, bytes } = state;
    for (const realmId of realms) {
      if (this.#isEnded) return;
      const messages = state.subjects?.[streams.subjectOf(realmId)] ?? 0;
      const seen = this.#seen.get(realmId) ?? (await this.#see(realmId));
      // The organizations of a stream share its numbers, and its bytes by their messages.
      const since = seen.newest === null ? messages : ((last_seq - seen.newest.sequence) * messages) / Math.max(1, all);
      const isDue = this.#isDue(realmId, seen, (Math.min(since, messages) * bytes) / Math.max(1, all));
      if (isDue) await this.#make(realmId, seen);
    }
  }

  #isDue(realmId: number, { at }: Seen, bytesSince: number): boolean {
    const { clock, owns, bytes, ageMs } = this.#options;
    const patience = owns(realmId) ? ownerPatience : 1;
    return bytesSince >= bytes * patience || (bytesSince > 0 && clock.now() - at >= ageMs * patience);
  }

  async #make(realmId: number, known: Seen): Promise<void> {
    const { nats, streams, run } = this.#options;
    const { newest } = await this.#see(realmId);
    // Another node has made one.
    if (newest?.object !== known.newest?.object) return;
    const last = await new RealmLog(nats, streams, realmId).last();
    if (last === null || last.sequence <= (newest?.sequence ?? 0)) return;
    await run(realmId);
    await this.#see(realmId);
  }

  async #see(realmId: number): Promise<Seen> {
    const { snapshots, clock } = this.#options;
    const [newest = null] = (await snapshots.of(realmId)).snapshots;
    const at = newest?.madeAt ?? this.#seen.get(realmId)?.at ?? clock.now();
    const seen = { newest, at };
    this.#seen.set(realmId, seen);
    return seen;
  }
}
