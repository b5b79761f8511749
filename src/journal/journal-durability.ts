/**
 * Durability by the journal: one journal for all realms of the process, an overlay of rows for each realm, and a thread
 * that brings durable records into the stores. docs/adr/0009-journal.md has the drawing.
 */
import { limits } from "../../schemas/limits.ts";
import { storedName } from "../../schemas/records.ts";
import { environmentOf } from "../store/environment.ts";
import { nameOfKey } from "../store/key-encoding.ts";
import { PathGuard } from "../store/path-guard.ts";
import { turnKey, turnNumberIn } from "../store/turn-number.ts";
import type { StartMaker } from "./checkpoint-maker.ts";
import { Checkpointer } from "./checkpointer.ts";
import type { Durability, DurableTables, RealmTables } from "./durability.ts";
import { Gates, onceDurable } from "./gate.ts";
import type { Journal } from "./journal.ts";
import { OverlayTables } from "./overlay-tables.ts";

export interface JournalDurabilityOptions {
  readonly journal: Journal;
  /** The token of the process that owns the data folder; null if no other process can write. */
  readonly owner: string | null;
  readonly clock: { now(): number; after(milliseconds: number, callback: () => void): () => void };
  /** Whether a backup is copying the journal: then nothing of it may be forgotten. */
  readonly isHeld: () => Promise<boolean>;
  /** Whether the disk has space for a checkpoint. */
  readonly hasSpace: () => boolean;
  /** A checkpoint failed (M5). Must not return. */
  readonly fatal: (error: unknown) => never;
  readonly reportBug: (error: unknown) => void;
  readonly startMaker?: StartMaker;
}

export class JournalDurability implements Durability {
  readonly #options: JournalDurabilityOptions;
  readonly #journal: Journal;
  readonly #gates: Gates;
  readonly #checkpointer: Checkpointer;

  constructor(options: JournalDurabilityOptions) {
    this.#options = options;
    this.#journal = options.journal;
    this.#gates = new Gates({
      journal: options.journal,
      hasRoom: () => this.#hasRoom(),
      reportBug: options.reportBug,
    });
    this.#checkpointer = new Checkpointer({
      owner: options.owner,
      after: (milliseconds, callback) => options.clock.after(milliseconds, callback),
      hasSpace: options.hasSpace,
      fatal: options.fatal,
      onProgress: () => this.#stored(),
      ...(options.startMaker === undefined ? {} : { startMaker: options.startMaker }),
    });
    this.#checkpointer.durableUpTo(options.journal.durable);
    options.journal.onDurable(() => {
      this.#checkpointer.durableUpTo(this.#journal.durable);
      this.#gates.advanced();
    });
  }

  get isReady(): Promise<void> {
    return this.#checkpointer.isReady;
  }

  adopt({ id, folder, tables }: RealmTables): DurableTables {
    const turn = turnNumberIn(environmentOf(tables));
    const gate = this.#gates.open();
    const place = new PathGuard(tables.file);
    const overlay = new OverlayTables({
      tables,
      turn,
      now: () => this.#options.clock.now(),
      reads: gate.reads,
      append: (record, written) => {
        // The store would not get the turn if its file is gone, so nothing may be acknowledged (M1).
        place.verify();
        const position = this.#journal.append(id, record);
        this.#checkpointer.add(id, position, written.turn, record);
        gate.appended(position, written.tables);
      },
    });
    const turnRow = { table: storedName("meta"), key: nameOfKey(turnKey), bytes: tables.get("meta", turnKey) ?? null };
    const onCheckpointed = (upTo: number) => overlay.checkpointed(upTo);
    this.#checkpointer.adopt({ id, folder, turn, turnRow, onCheckpointed });
    const checkpointer = this.#checkpointer;
    return {
      tables: overlay,
      gate,
      get isSettled() {
        return gate.isOpen && checkpointer.isSettled(id);
      },
      async close() {
        if (!gate.isOpen) await onceDurable(gate);
        await checkpointer.release(id);
      },
    };
  }

  #hasRoom(): boolean {
    return (
      this.#journal.unflushedBytes < limits.journal_unflushed_bytes_max &&
      this.#checkpointer.waitingBytes < limits.overlay_bytes_max
    );
  }

  /** The stores have more than before. */
  #stored(): void {
    this.#gates.advanced();
    this.#release().catch(this.#options.reportBug);
  }

  /** What was stored before a backup began is in its copy of the stores. */
  async #release(): Promise<void> {
    const upTo = this.#checkpointer.storedUpTo;
    if (!(await this.#options.isHeld())) this.#journal.release(upTo);
  }

  async close(): Promise<void> {
    await this.#checkpointer.end();
    await this.#release();
    await this.#journal.close();
  }
}
