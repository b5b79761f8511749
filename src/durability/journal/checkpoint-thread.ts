/** The checkpoint thread: does the tasks of the main thread, in order. */
import { parentPort } from "node:worker_threads";
import { commonLimits as limits } from "../../../schemas/limits/common.ts";
import { isOutOfDescriptors } from "../../store/descriptors.ts";
import { StoreWriter } from "../../store/store-writer.ts";
import { noteLoaded } from "../threads/thread-loading.ts";
import { WriteGate } from "../threads/write-hold.ts";
import { type CheckpointNotice, type CheckpointTask, CheckpointWorker, type Writer } from "./checkpoint-worker.ts";

/** While the process has no file descriptor left, it waits for one. */
function openWriter(folder: string, gate: WriteGate): StoreWriter {
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      return gate.during(() => new StoreWriter(folder));
    } catch (error) {
      if (!isOutOfDescriptors(error) || waitedMs >= limits.journal_descriptor_wait_ms_max) throw error;
      Atomics.wait(never, 0, 0, pauseMs);
    }
  }
}

const pauseMs = 20;
const never = new Int32Array(new SharedArrayBuffer(4));

function post(notice: CheckpointNotice): void {
  parentPort?.postMessage(notice);
}

function openGatedWriter(folder: string, gate: WriteGate): Writer {
  const writer = openWriter(folder, gate);
  return {
    write: (rows, guards) => gate.during(() => writer.write(rows, guards)),
    close: () => writer.close(),
  };
}

noteLoaded();
// The first message starts it. A prepared thread gets this message when it is needed.
parentPort?.once("message", (memory: SharedArrayBuffer) => {
  const gate = new WriteGate(memory);
  const worker = new CheckpointWorker({ openWriter: (folder) => openGatedWriter(folder, gate), post });
  parentPort?.on("message", async (task: CheckpointTask) => {
    await worker.handle(task);
    if (task.kind === "end") parentPort?.close();
  });
  post({ kind: "ready" });
});
