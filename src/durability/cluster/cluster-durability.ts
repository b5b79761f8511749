/**
 * Durability in a cluster: each realm has a journal of its own in its stream, and so a gate of its own. One thread makes
 * the checkpoints of all of them, and they share the room for what the stores lack.
 */

import { type CheckpointMaker, type MakerEvents, startCheckpointThread } from "../journal/checkpoint-maker.ts";
import type { CheckpointTask } from "../journal/checkpoint-worker.ts";
import type { Durability, DurableTables, Lag, RealmTables } from "../journal/durability.ts";
import { BacklogLimit } from "../journal/durability-gate.ts";
import type { Journal } from "../journal/journal.ts";
import { JournalDurability, type JournalDurabilityOptions } from "../journal/journal-durability.ts";

export type ClusterDurabilityOptions = Omit<JournalDurabilityOptions, "journal" | "archive" | "isLocked">;

export class ClusterDurability implements Durability {
  readonly #options: ClusterDurabilityOptions;
  readonly #thread: SharedThread;
  /** The durability of each realm that this node owns. */
  readonly #realms = new Map<number, JournalDurability>();
  readonly #backlog: BacklogLimit;

  private constructor(options: ClusterDurabilityOptions, thread: SharedThread) {
    this.#options = options;
    this.#thread = thread;
    this.#backlog = new BacklogLimit(options.reportBug);
  }

  static async open(options: ClusterDurabilityOptions): Promise<ClusterDurability> {
    const thread = new SharedThread(options.fatal);
    await thread.isReady;
    return new ClusterDurability(options, thread);
  }

  get lag(): Lag {
    return this.#backlog.backlog;
  }

  /** An upper bound of the memory of everything that the stores of all realms do not have yet. */
  get memoryBytes(): number {
    return this.#backlog.memoryBytes;
  }

  /** This node owns a realm from now on. */
  add(realmId: number, journal: Journal): void {
    const made = new JournalDurability({
      ...this.#options,
      journal,
      archive: null,
      backlog: this.#backlog,
      // The stream keeps everything: other nodes may not have it yet.
      isLocked: () => Promise.resolve(true),
      startMaker: (events) => this.#thread.join(realmId, events),
    });
    this.#realms.set(realmId, made);
  }

  /** Another node will own the realm, which is closed. Resolves when its journal is. */
  async remove(realmId: number): Promise<void> {
    const removed = this.#realms.get(realmId);
    this.#realms.delete(realmId);
    await removed?.close();
  }

  adopt(realm: RealmTables): DurableTables {
    const owned = this.#realms.get(realm.id);
    if (owned === undefined) throw new Error(`Realm ${realm.id} belongs to another node.`);
    return owned.adopt(realm);
  }

  archiveMark(): () => boolean {
    return () => true;
  }

  /** The stream refuses what an earlier owner appends, and the lease ends its reads. */
  assertOwned(): void {}

  async close(): Promise<void> {
    for (const realm of this.#realms.values()) await realm.close();
    await this.#thread.end();
  }
}

/** The checkpoint thread of all realms. It does its tasks in order, so its notices about closed stores come in order. */
class SharedThread {
  readonly isReady: Promise<void>;
  readonly #maker: CheckpointMaker;
  readonly #realms = new Map<number, MakerEvents>();
  readonly #forgetting: number[] = [];

  constructor(fatal: (error: unknown) => never) {
    let ready: () => void = () => undefined;
    this.isReady = new Promise((resolve) => {
      ready = resolve;
    });
    this.#maker = startCheckpointThread({
      failed: fatal,
      noticed: (notice) => {
        if (notice.kind === "ready") ready();
        else if (notice.kind === "checkpointed") this.#realms.get(notice.realmId)?.noticed(notice);
        else if (notice.kind === "forgotten") this.#realms.get(this.#forgetting.shift() ?? 0)?.noticed(notice);
        // These errors end the process, whichever realm gets them.
        else for (const { noticed } of this.#realms.values()) noticed(notice);
      },
    });
  }

  join(realmId: number, events: MakerEvents): CheckpointMaker {
    this.#realms.set(realmId, events);
    events.noticed({ kind: "ready" });
    return {
      post: (task: CheckpointTask, transfer?: readonly ArrayBuffer[]) => {
        if (task.kind === "forget") this.#forgetting.push(realmId);
        this.#maker.post(task, transfer);
      },
      end: () => Promise.resolve(),
    };
  }

  end(): Promise<void> {
    return this.#maker.end();
  }
}
