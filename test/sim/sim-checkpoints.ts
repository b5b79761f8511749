/**
 * The checkpoint thread of a simulated machine: the server's own work on the server's own stores, at times and with
 * faults from the seed. A crash within a checkpoint leaves nothing of it (M2), one after it leaves it unannounced.
 */
import type { CheckpointMaker, MakerEvents, StartMaker } from "../../src/durability/journal/checkpoint-maker.ts";
import {
  type CheckpointNotice,
  type CheckpointTask,
  CheckpointWorker,
  type Writer,
} from "../../src/durability/journal/checkpoint-worker.ts";
import { type StoredRow, StoreWriter } from "../../src/store/store-writer.ts";
import { type CheckpointFault, type FaultPlan, MachineDown } from "./faults.ts";

export interface SimCheckpointsOptions {
  readonly plan: FaultPlan;
  /** On the disk's own time. */
  readonly after: (milliseconds: number, callback: () => void) => void;
  readonly isDown: () => boolean;
  /** The machine goes down. */
  readonly crash: () => void;
  /** The process gets to know that a write failed. */
  readonly failed: () => void;
  /** Deliberate bug, between the thread and the store. */
  readonly flawed: (writer: Writer) => Writer;
}

/** Milliseconds that a checkpoint takes, and until the process is told. */
const delays = { work: [0, 1, 5, 40], notice: [0, 1, 200] } as const;

export class SimCheckpoints implements CheckpointMaker {
  readonly #options: SimCheckpointsOptions;
  readonly #worker: CheckpointWorker;
  readonly #tasks: CheckpointTask[] = [];
  readonly #notices: CheckpointNotice[] = [];
  #events: MakerEvents | null = null;
  #isBusy = false;
  #fault: CheckpointFault | null = null;
  #hasEnded = false;

  constructor(options: SimCheckpointsOptions) {
    this.#options = options;
    this.#worker = new CheckpointWorker({
      openWriter: (folder) => options.flawed(this.#faulty(new StoreWriter(folder))),
      post: (notice) => this.#notify(notice),
    });
  }

  readonly start: StartMaker = (events) => {
    this.#events = events;
    this.#notify({ kind: "ready" });
    return this;
  };

  post(task: CheckpointTask): void {
    this.#tasks.push(task);
    if (!this.#isBusy) this.#next();
  }

  /** Also after a crash: then only the stores are closed. */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    await this.#worker.handle({ kind: "end" });
  }

  #after(choices: readonly number[], callback: () => void): void {
    this.#options.after(choices[this.#options.plan.below(choices.length)] ?? 0, callback);
  }

  #next(): void {
    const task = this.#tasks.shift();
    this.#isBusy = task !== undefined;
    if (task === undefined) return;
    const { plan, after } = this.#options;
    this.#fault = task.kind === "checkpoint" ? plan.draw("checkpoint") : null;
    const work = () => {
      // Without a pause up to its end, so nothing else happens on the machine meanwhile.
      void this.#worker.handle(task);
      if (this.#options.isDown()) throw new MachineDown();
      this.#next();
    };
    if (task.kind !== "checkpoint") after(0, work);
    else if (this.#fault?.kind === "slow checkpoint") {
      plan.met(this.#fault);
      after(this.#fault.ms, work);
    } else this.#after(delays.work, work);
  }

  #notify(notice: CheckpointNotice): void {
    if (this.#options.isDown()) return;
    this.#notices.push(notice);
    // In order, each later than this moment.
    this.#after(delays.notice, () => {
      const next = this.#notices.shift();
      if (next?.kind === "failed") this.#options.failed();
      if (next !== undefined) this.#events?.noticed(next);
    });
  }

  #faulty(inner: Writer): Writer {
    return {
      write: (rows, guards) => {
        const fault = this.#fault;
        this.#fault = null;
        if (fault === null || fault.kind === "slow checkpoint") return inner.write(rows, guards);
        this.#options.plan.met(fault);
        if (fault.kind === "crash before checkpoint") this.#goDown();
        const isWritten = inner.write(this.#broken(rows, fault), guards);
        if (fault.kind === "crash after checkpoint") this.#goDown();
        return isWritten;
      },
      close: () => inner.close(),
    };
  }

  *#broken(rows: Iterable<StoredRow>, fault: CheckpointFault): Iterable<StoredRow> {
    let left = fault.kind === "crash in checkpoint" ? fault.rows : Number.POSITIVE_INFINITY;
    for (const row of rows) {
      if (left-- <= 0) this.#goDown();
      yield row;
    }
    if (fault.kind === "crash in checkpoint") this.#goDown();
    if (fault.kind === "failed checkpoint") throw new Error("Input/output error");
  }

  #goDown(): never {
    this.#options.crash();
    throw new MachineDown();
  }
}
