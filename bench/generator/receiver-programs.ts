// The programs that read the events of a run's sockets: one in C, or several in Node that share the sockets. They tell
// when every socket of theirs has seen a post. Their clock is that of this process (CLOCK_MONOTONIC).

import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { DeliveriesJob } from "../lib/job.ts";
import { CHILD_OUTPUT_BYTES_MAX, RECEIVER_PROGRAMS, RECEIVER_REPORT_WAIT_MS } from "../lib/limits.ts";
import {
  formatConfig,
  type ReceiverConfig,
  type ReceiverRecord,
  type ReceiverReport,
  RecordReader,
  STOP,
} from "../lib/receiver-protocol.ts";
import { deleteQueues } from "./receiver-pool.ts";

const NANOSECONDS_PER_MS = 1_000_000;
const NODE_PROGRAM = fileURLToPath(new URL("receivers.mjs", import.meta.url));

/** The programs of a job, for the report. */
export function receiverName({ receiverProgram }: DeliveriesJob): string {
  return receiverProgram === undefined ? `${RECEIVER_PROGRAMS} programs in Node` : "bench/native/receiver.c";
}

/** Called when all sockets of one program have seen a post, with the times at which they did (`performance.now()`). */
export type OnSeen = (post: number, arrivedAt: readonly number[]) => void;

export class ReceiverPrograms {
  readonly #job: DeliveriesJob;
  readonly #programs: ReceiverProgram[];
  readonly #onFailed: (error: Error) => void;
  /** Rejects when a program ends although nobody asked it to; never resolves. */
  readonly failed: Promise<never>;

  constructor(job: DeliveriesJob, onSeen: OnSeen) {
    this.#job = job;
    let onFailed: (error: Error) => void = () => undefined;
    this.failed = new Promise((_resolve, reject) => {
      onFailed = reject;
    });
    // Between two races there is no listener, which must not count as an unhandled rejection.
    this.failed.catch(() => undefined);
    this.#onFailed = onFailed;
    this.#programs = shares(job).map((config) => new ReceiverProgram(config, job.receiverProgram ?? null, onSeen));
  }

  /** Number of programs: each reports a post for its own sockets. */
  get count(): number {
    return this.#programs.length;
  }

  /** Resolves when every socket is registered. */
  async open(): Promise<void> {
    for (const program of this.#programs) program.failed.catch(this.#onFailed);
    await Promise.race([Promise.all(this.#programs.map(({ ready }) => ready)), this.failed]);
  }

  /** Ends the programs, deletes the queues of their sockets, and adds their counts. */
  async close(): Promise<ReceiverReport> {
    const stopped = Promise.all(this.#programs.map((program) => program.stop()));
    const reports = await Promise.race([stopped, this.failed]);
    await this.#deleteQueues(reports);
    return {
      frames: sumOf(reports, ({ frames }) => frames),
      bytes: sumOf(reports, ({ bytes }) => bytes),
      duplicates: sumOf(reports, ({ duplicates }) => duplicates),
      open: Math.max(...reports.map(({ open }) => open)),
      lost: sumOf(reports, ({ lost }) => lost),
      firstClose: reports.find(({ firstClose }) => firstClose !== "")?.firstClose ?? "",
      samples: reports[0]?.samples ?? [],
      queues: [],
    };
  }

  async #deleteQueues(reports: readonly ReceiverReport[]): Promise<void> {
    const { authorizations } = this.#job.receivers;
    const queues = reports.flatMap((report) =>
      report.queues.map(([socket, queueId]) => ({
        queueId,
        authorization: authorizations[socket % authorizations.length] ?? "",
      })),
    );
    await deleteQueues(this.#job.address, queues);
  }
}

function sumOf(reports: readonly ReceiverReport[], pick: (report: ReceiverReport) => number): number {
  return reports.reduce((sum, report) => sum + pick(report), 0);
}

/** The program in C takes all sockets, programs in Node share them. */
function shares({ address, firstMarker, decoder, receivers, receiverProgram }: DeliveriesJob): ReceiverConfig[] {
  const programs = receiverProgram === undefined ? Math.min(RECEIVER_PROGRAMS, receivers.count) : 1;
  return Array.from({ length: programs }, (_, index) => {
    const firstSocket = Math.floor((index * receivers.count) / programs);
    const count = Math.floor(((index + 1) * receivers.count) / programs) - firstSocket;
    return { address, firstMarker, decoder, receivers: { ...receivers, count, firstSocket } };
  });
}

class ReceiverProgram {
  readonly #child: ChildProcess;
  readonly #sockets: number;
  readonly #onSeen: OnSeen;
  /** `performance.now()` counts from the start of this process. */
  readonly #originMs = Number(process.hrtime.bigint()) / NANOSECONDS_PER_MS - performance.now();
  readonly ready: Promise<void>;
  readonly failed: Promise<never>;
  #onReady: () => void = () => undefined;
  #onFailed: (error: Error) => void = () => undefined;
  #onReport: (report: ReceiverReport) => void = () => undefined;
  #isStopping = false;

  constructor(config: ReceiverConfig, nativeProgram: string | null, onSeen: OnSeen) {
    this.#onSeen = onSeen;
    this.#sockets = config.receivers.count;
    this.ready = new Promise((resolve) => {
      this.#onReady = resolve;
    });
    this.failed = new Promise((_resolve, reject) => {
      this.#onFailed = reject;
    });
    const [command, parameters] = nativeProgram === null ? [process.execPath, [NODE_PROGRAM]] : [nativeProgram, []];
    this.#child = spawn(command, parameters, { stdio: ["pipe", "pipe", "pipe"] });
    this.#listen();
    this.#child.stdin?.write(formatConfig(config));
  }

  stop(): Promise<ReceiverReport> {
    this.#isStopping = true;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#child.kill("SIGKILL");
        reject(new Error("a receiver gave no report"));
      }, RECEIVER_REPORT_WAIT_MS);
      this.#onReport = (report) => {
        clearTimeout(timer);
        resolve(report);
      };
      this.#child.stdin?.write(STOP);
    });
  }

  #listen(): void {
    let errors = "";
    const kill = (): void => {
      this.#child.kill("SIGKILL");
    };
    const reader = new RecordReader(this.#sockets, (record) => this.#onRecord(record));
    this.#child.stdout?.on("data", (chunk: Buffer) => reader.push(chunk));
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      errors = (errors + chunk.toString("utf8")).slice(-CHILD_OUTPUT_BYTES_MAX);
    });
    // It ends on its own when it has failed; what it says on stderr is the reason.
    this.#child.stdin?.on("error", () => undefined);
    this.#child.once("error", (error) => this.#onFailed(error));
    process.once("exit", kill);
    this.#child.once("close", (code, signal) => {
      process.off("exit", kill);
      if (this.#isStopping && code === 0) return;
      this.#onFailed(new Error(`a receiver ended with ${signal ?? `code ${code}`}: ${errors.trim()}`));
    });
  }

  #onRecord(record: ReceiverRecord): void {
    switch (record.kind) {
      case "ready":
        this.#onReady();
        break;
      case "report":
        this.#onReport(record.report);
        break;
      case "post": {
        const firstMs = Number(record.firstNs) / NANOSECONDS_PER_MS - this.#originMs;
        const arrivedAt = Array.from(record.laterUs, (us) => firstMs + us / 1000);
        this.#onSeen(record.post, arrivedAt);
      }
    }
  }
}
