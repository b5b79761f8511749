/** Where the checkpointer has its checkpoints made: a thread of its own, except in the simulation. */
import { once } from "node:events";
import { startPrepared } from "../threads/start-thread.ts";
import { writeGate } from "../threads/write-hold.ts";
import type { CheckpointNotice, CheckpointTask } from "./checkpoint-worker.ts";

/** Its thread. */
export const checkpointProgram = "durability/journal/checkpoint-thread";

export interface CheckpointMaker {
  /** Tasks are done in order, each after this has returned. @param transfer memory that the sender no longer uses */
  post(task: CheckpointTask, transfer?: readonly ArrayBuffer[]): void;
  /** Resolves when all tasks are done and the stores are closed. */
  end(): Promise<void>;
}

export interface MakerEvents {
  readonly noticed: (notice: CheckpointNotice) => void;
  /** It cannot go on. */
  readonly failed: (error: unknown) => void;
}

export type StartMaker = (events: MakerEvents) => CheckpointMaker;

export const startCheckpointThread: StartMaker = ({ noticed, failed }) => {
  const thread = startPrepared(checkpointProgram, writeGate.memory);
  let isEnding = false;
  thread.on("message", noticed);
  thread.on("error", failed);
  thread.on("exit", () => {
    if (!isEnding) failed(new Error("the checkpoint thread ended"));
  });
  return {
    post: (task, transfer = []) => thread.postMessage(task, transfer),
    async end() {
      isEnding = true;
      const ended = once(thread, "exit");
      thread.postMessage({ kind: "end" } satisfies CheckpointTask);
      await ended;
    },
  };
};
