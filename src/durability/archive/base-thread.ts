/** The thread of a base: runs for one base, and ends. Copying large stores must delay neither requests nor records. */
import { parentPort, workerData } from "node:worker_threads";
import { noteLoaded } from "../threads/thread-loading.ts";
import { type BaseOrder, type BaseTime, copyBase } from "./base-copy.ts";
import type { BaseNote } from "./base-manifest.ts";

export type BaseNotice =
  /** The stores are copied: the main thread says what is durable now. */
  | { readonly kind: "copied" }
  | { readonly kind: "made"; readonly generation: number; readonly base: BaseNote }
  | { readonly kind: "failed"; readonly message: string };

function post(notice: BaseNotice): void {
  parentPort?.postMessage(notice);
}

/** While the process is stopping there may be no answer: the process ends then. */
function ask(): Promise<BaseTime> {
  return new Promise((resolve) => {
    parentPort?.once("message", (time: BaseTime) => resolve(time));
    post({ kind: "copied" });
  });
}

async function run(order: BaseOrder): Promise<void> {
  try {
    post({ kind: "made", generation: order.generation, base: await copyBase(order, ask) });
  } catch (error) {
    post({ kind: "failed", message: (error as Error).message });
  } finally {
    parentPort?.close();
  }
}

noteLoaded();
void run(workerData as BaseOrder);
