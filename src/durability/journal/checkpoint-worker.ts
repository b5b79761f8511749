/**
 * Runs the tasks of the checkpoint thread: it writes the turns that the main thread hands over into the stores. It
 * keeps the stores of open realms open.
 */
import { OwnershipLost } from "../../store/path-guard.ts";
import type { StoreWriter } from "../../store/store-writer.ts";
import { latestOf, turnsAfter } from "./checkpoint.ts";
import { type RecordedWrite, unpacked } from "./record.ts";

export interface CheckpointOrder {
  readonly realmId: number;
  readonly folder: string;
  /** The last turn that the store has. */
  readonly from: number;
  /** Rows that must be as they are here, or another process has taken the store over. */
  readonly guards: readonly RecordedWrite[];
  /** The row with the number of the last turn, as it will be. */
  readonly turnRow: RecordedWrite;
  /** The records, packed (record.ts). */
  readonly pack: readonly Uint8Array[];
}

export type CheckpointTask =
  /** A realm was opened: its store is the one that is there now. */
  | { readonly kind: "open"; readonly realmId: number; readonly folder: string }
  | { readonly kind: "checkpoint"; readonly order: CheckpointOrder }
  /** The realm is closing. */
  | { readonly kind: "forget"; readonly realmId: number }
  | { readonly kind: "end" };

export type CheckpointNotice =
  | { readonly kind: "ready" }
  | { readonly kind: "checkpointed"; readonly realmId: number }
  | { readonly kind: "forgotten" }
  | { readonly kind: "takenOver"; readonly folder: string }
  /** The store's file was removed or replaced. */
  | { readonly kind: "lost"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

export type Writer = Pick<StoreWriter, "write" | "close">;

export interface CheckpointWorkerOptions {
  readonly openWriter: (folder: string) => Writer;
  readonly post: (notice: CheckpointNotice) => void;
}

export class CheckpointWorker {
  readonly #options: CheckpointWorkerOptions;
  readonly #writers = new Map<number, Writer>();

  constructor(options: CheckpointWorkerOptions) {
    this.#options = options;
  }

  /** An error becomes a notice. Resolves once the task is done; only the last one waits for the stores to be closed. */
  async handle(task: CheckpointTask): Promise<void> {
    try {
      await this.#handle(task);
    } catch (error) {
      const { post } = this.#options;
      if (error instanceof OwnershipLost) post({ kind: "lost", message: error.message });
      else post({ kind: "failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }

  async #handle(task: CheckpointTask): Promise<void> {
    const writers = this.#writers;
    switch (task.kind) {
      case "open":
        writers.set(task.realmId, this.#options.openWriter(task.folder));
        return;
      case "checkpoint":
        this.#checkpoint(task.order);
        return;
      case "forget":
        // Without a pause: the realm may be opened again at once.
        void writers.get(task.realmId)?.close();
        writers.delete(task.realmId);
        this.#options.post({ kind: "forgotten" });
        return;
      case "end":
        for (const writer of writers.values()) await writer.close();
        return;
      default:
        task satisfies never;
    }
  }

  #checkpoint({ realmId, folder, from, guards, turnRow, pack }: CheckpointOrder): void {
    const writer = this.#writers.get(realmId);
    if (writer === undefined) throw new Error(`realm ${realmId} was not opened`);
    const rows = [...latestOf(turnsAfter(from, unpacked(pack), folder)), turnRow];
    const { post } = this.#options;
    if (writer.write(rows, guards)) post({ kind: "checkpointed", realmId });
    else post({ kind: "takenOver", folder });
  }
}
