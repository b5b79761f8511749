/**
 * The checkpoint thread: writes the turns that the main thread hands over into the stores. It keeps the stores of open
 * realms open.
 */
import { parentPort } from "node:worker_threads";
import { commonLimits as limits } from "../../schemas/limits/common.ts";
import { OwnershipLost } from "../store/path-guard.ts";
import { StoreWriter } from "../store/store-writer.ts";
import { latestOf, turnsAfter } from "./checkpoint.ts";
import type { RecordedWrite } from "./record.ts";
import { unpacked } from "./record-pack.ts";

export interface CheckpointOrder {
  readonly realmId: number;
  readonly folder: string;
  /** The last turn that the store has. */
  readonly from: number;
  /** Rows that must be as they are here, or another process has taken the store over. */
  readonly guards: readonly RecordedWrite[];
  /** The row with the number of the last turn, as it will be. */
  readonly turnRow: RecordedWrite;
  /** The records (record-pack.ts). */
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

const writers = new Map<number, StoreWriter>();

/** While the process has no file descriptor left, it waits for one. */
function openWriter(folder: string): StoreWriter {
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      return new StoreWriter(folder);
    } catch (error) {
      const isOutOfDescriptors = /too many open files/i.test((error as Error).message);
      if (!isOutOfDescriptors || waitedMs >= limits.journal_descriptor_wait_ms_max) throw error;
      Atomics.wait(never, 0, 0, pauseMs);
    }
  }
}

const pauseMs = 20;
const never = new Int32Array(new SharedArrayBuffer(4));

function post(notice: CheckpointNotice): void {
  parentPort?.postMessage(notice);
}

function checkpoint({ realmId, folder, from, guards, turnRow, pack }: CheckpointOrder): void {
  const writer = writers.get(realmId);
  if (writer === undefined) throw new Error(`realm ${realmId} was not opened`);
  const rows = [...latestOf(turnsAfter(from, unpacked(pack), folder)), turnRow];
  if (writer.write(rows, guards)) post({ kind: "checkpointed", realmId });
  else post({ kind: "takenOver", folder });
}

async function handle(task: CheckpointTask): Promise<void> {
  switch (task.kind) {
    case "open":
      writers.set(task.realmId, openWriter(task.folder));
      return;
    case "checkpoint":
      checkpoint(task.order);
      return;
    case "forget":
      // Without a pause: the realm may be opened again at once.
      void writers.get(task.realmId)?.close();
      writers.delete(task.realmId);
      post({ kind: "forgotten" });
      return;
    case "end":
      for (const writer of writers.values()) await writer.close();
      parentPort?.close();
  }
}

parentPort?.on("message", (task: CheckpointTask) => {
  handle(task).catch((error: unknown) => {
    if (error instanceof OwnershipLost) post({ kind: "lost", message: error.message });
    else post({ kind: "failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  });
});

post({ kind: "ready" });
