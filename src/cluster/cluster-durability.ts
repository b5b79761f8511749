/**
 * Durability in a cluster: each realm has a journal of its own in its stream, and so a gate of its own. One thread makes
 * the checkpoints of all of them, and they share the room for what the stores lack.
 */
import { type CheckpointMaker, type MakerEvents, startCheckpointThread } from "../journal/checkpoint-maker.ts";
import type { CheckpointTask } from "../journal/checkpoint-worker.ts";
import type { Durability, DurableTables, Lag, RealmTables } from "../journal/durability.ts";
import type { Journal } from "../journal/journal.ts";
import { JournalDurability, type JournalDurabilityOptions } from "../journal/journal-durability.ts";
import { Room } from "../journal/room.ts";
import { ClusterUnusable } from "./cluster-unusable.ts";

export interface ClusterDurabilityOptions extends Omit<JournalDurabilityOptions, "journal" | "archive" | "isHeld"> {
  /** Of the realms that this node owns. */
  readonly journals: ReadonlyMap<number, Journal>;
}

export class ClusterDurability implements Durability {
  readonly #options: ClusterDurabilityOptions;
  readonly #thread: SharedThread;
  readonly #realms = new Map<number, JournalDurability>();
  readonly #room: Room;

  private constructor(options: ClusterDurabilityOptions, thread: SharedThread) {
    this.#options = options;
    this.#thread = thread;
    this.#room = new Room(options.reportBug);
  }

  static async open(options: ClusterDurabilityOptions): Promise<ClusterDurability> {
    const thread = new SharedThread(options.fatal);
    await thread.isReady;
    return new ClusterDurability(options, thread);
  }

  get lag(): Lag {
    return this.#room.lacking;
  }

  /** An upper bound of the memory of everything that the stores of all realms do not have yet. */
  get memoryBytes(): number {
    return this.#room.memoryBytes;
  }

  adopt(realm: RealmTables): DurableTables {
    return this.#of(realm.id).adopt(realm);
  }

  #of(realmId: number): JournalDurability {
    const known = this.#realms.get(realmId);
    if (known !== undefined) return known;
    const { journals, ...options } = this.#options;
    const journal = journals.get(realmId);
    if (journal === undefined) {
      throw new ClusterUnusable(
        `Organization ${realmId} is not in the cluster yet: restart this node, so that it joins.`,
      );
    }
    const made = new JournalDurability({
      ...options,
      journal,
      archive: null,
      room: this.#room,
      // The stream keeps everything: other nodes may not have it yet.
      isHeld: () => Promise.resolve(true),
      startMaker: (events) => this.#thread.join(realmId, events),
    });
    this.#realms.set(realmId, made);
    return made;
  }

  archiveMark(): () => boolean {
    return () => true;
  }

  async close(): Promise<void> {
    for (const realm of this.#realms.values()) await realm.close();
    for (const [id, journal] of this.#options.journals) if (!this.#realms.has(id)) await journal.close();
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
        // These end the process, whoever is told.
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
