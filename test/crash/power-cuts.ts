/** Records a session of the server, cuts the power in it, and checks what the disk still contains. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { seededRandom } from "../../bench/lib/statistics.ts";
import type { Breakage } from "../support/broken-checkout.ts";
import { type Teardown, temporaryFolder } from "../support/server.ts";
import { startTraced } from "../support/strace.ts";
import { type Cut, layImage, type WriteOutcome, writeOutcomes } from "./disk-image.ts";
import { diskFlags, type Recording, readDiskTrace } from "./disk-trace.ts";
import type { Question, Report } from "./power-checker.ts";
import { type Day, digestOf, expectedAt, promisedBy, type Timeline, timelineOf, Workload } from "./power-workload.ts";

export interface RecordedDay {
  readonly recording: Recording;
  readonly day: Day;
  readonly timeline: Timeline;
}

/** Disables the reserve and the reserved space, which would be most of the trace. */
function withoutReservedSpace(): Record<string, string> {
  const { bavail, bsize } = statfsSync(tmpdir());
  return { STORE_FREE_BYTES_MIN: String(Math.floor(bavail * bsize * 0.6)) };
}

/** Steps of each lane until the server is killed, and at the end. */
const stepsBeforeKill = 14;
const stepsAtEnd = 20;

/** The kill follows after so many answers, while the lanes still have work. */
const answersBeforeKill = { min: 50, max: 75 } as const;

/** The program with segments so small that a day fills several, and uses some again. */
export const smallSegments: Breakage = {
  file: "schemas/limits/common.ts",
  from: "journal_segment_bytes: 4 * 1024 * 1024,",
  to: "journal_segment_bytes: 32 * 1024,",
};

/**
 * Records a new organization: created, used, killed, recovered by the next start, used again, stopped.
 * @param cwd the checkout of the server
 */
export async function recordDay(t: Teardown, seed: number, cwd: string): Promise<RecordedDay> {
  const dataDir = temporaryFolder(t);
  const traces = temporaryFolder(t);
  const start = (file: string) =>
    startTraced(t, { dataDir, file, flags: diskFlags, environment: withoutReservedSpace(), cwd });
  const random = seededRandom(seed);
  const day = new Workload(random);
  const files = [join(traces, "killed"), join(traces, "stopped")] as const;

  const killed = await start(files[0]);
  await day.connect(killed.owner);
  const { min, max } = answersBeforeKill;
  const kill = day.answered(min + Math.floor(random() * (max - min))).then(async () => {
    day.losesServer();
    await standStill(killed.program.pid, () => killed.program.signal("SIGSTOP"), files[0]);
    await killed.program.end("SIGKILL");
  });
  await Promise.all([day.live(killed.owner, stepsBeforeKill), kill]);
  await day.lostServer();
  requireWholeRecord(t, files[0], dataDir);

  const stopped = await start(files[1]);
  await day.connect(stopped.owner);
  await day.live(stopped.owner, stepsAtEnd);
  await day.finish();
  const { code } = await stopped.program.end("SIGTERM");
  if (code !== 0) throw new Error(`the recorded server ended with ${code}: ${stopped.program.stderr}`);
  const recording = readDiskTrace(
    files.map((file) => readFileSync(file, "latin1")),
    dataDir,
  );
  rmSync(traces, { recursive: true });
  return { recording, day, timeline: timelineOf(recording, day) };
}

/**
 * Stops a traced process between two system calls of each thread: a kill during a call would leave out of the trace
 * what the call has done, and the next start may read it.
 */
async function standStill(pid: number, stop: () => void, trace: string): Promise<void> {
  const from = statSync(trace).size;
  stop();
  for (;;) {
    const stopped = new Set(
      Array.from(readFrom(trace, from).matchAll(/^(\d+) +--- stopped by SIGSTOP ---$/gm), ([, id]) => id),
    );
    if (readdirSync(`/proc/${pid}/task`).every((id) => stopped.has(id))) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** The next start reads what the killed process wrote: a write that the trace lacks would look like a fault. */
function requireWholeRecord(t: Teardown, trace: string, dataDir: string): void {
  const image = temporaryFolder(t);
  const recording = readDiskTrace([readFileSync(trace, "latin1")], dataDir);
  layImage(recording, { line: Number.POSITIVE_INFINITY, outcome: "kept", random: () => 0 }, image);
  const digests = (folder: string) => {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
    return names.flatMap((name) => {
      const path = join(folder, name);
      const isWritten = statSync(path).isFile() && !name.endsWith("lock.mdb");
      return isWritten ? [`${name} ${digestOf(readFileSync(path))}`] : [];
    });
  };
  const recorded = new Set(digests(image));
  const different = digests(dataDir).filter((line) => !recorded.delete(line));
  if (different.length + recorded.size > 0) {
    throw new Error(`the trace does not explain ${different}, and says ${[...recorded]}`);
  }
  rmSync(image, { recursive: true });
}

function readFrom(file: string, offset: number): string {
  const bytes = Buffer.alloc(statSync(file).size - offset);
  const descriptor = openSync(file, "r");
  readSync(descriptor, bytes, 0, bytes.length, offset);
  closeSync(descriptor);
  return bytes.toString("latin1");
}

/** Moments at which a promise may break: just before, during and just after a flush, and just after a response. */
function moments({ recording, timeline }: RecordedDay): number[] {
  const atFlushes = recording.ops.flatMap((op) => {
    const isFlush = op.kind === "flush" || (op.kind === "data" && op.isSync);
    return isFlush ? [op.start - 1, op.start, op.end] : [op.end];
  });
  return [
    ...atFlushes,
    ...timeline.answered.values(),
    ...timeline.received.values(),
    timeline.createdAt,
    timeline.registeredAt,
  ];
}

/** A part of a day and its share of the cuts: a start writes more often than the time after it, where flushes are shared. */
const parts = [
  { name: "creation", share: 0.15 },
  { name: "recovery", share: 0.35 },
  { name: "use", share: 0.5 },
] as const;
export type Part = (typeof parts)[number]["name"];

function partOf(line: number, { createdAt, restartedAt, servesAgainAt }: Timeline): Part {
  if (line <= createdAt) return "creation";
  return line >= restartedAt && line <= servesAgainAt ? "recovery" : "use";
}

/** Fates by weight: unflushed writes are mostly lost. */
const weighted: readonly WriteOutcome[] = [
  "lost",
  "lost",
  "lost",
  "some",
  "some",
  "some",
  "torn",
  "torn",
  "last torn",
  "kept",
];

export interface CutResult extends Report {
  readonly cut: Cut;
  readonly part: Part;
  /** Number of unflushed writes. */
  readonly pending: number;
  readonly acknowledged: number;
  /** The folder of the image, if it is faulty. */
  readonly image: string;
}

export class PowerCuts {
  readonly #random: () => number;
  readonly #environment = withoutReservedSpace();
  #checker: Checker | null = null;

  constructor(t: Teardown, seed: number) {
    this.#random = seededRandom(seed);
    t.teardown(() => this.#checker?.end());
  }

  /** Draws what is not given. */
  async cut(recorded: RecordedDay, outcome?: WriteOutcome, part: Part = this.#part()): Promise<CutResult> {
    const { recording, day, timeline } = recorded;
    const candidates = moments(recorded).filter((line) => partOf(line, timeline) === part);
    const line = candidates[Math.floor(this.#random() * candidates.length)] ?? 0;
    const chosen = outcome ?? weighted[Math.floor(this.#random() * weighted.length)] ?? writeOutcomes[0];
    const cut = { line, outcome: chosen, random: this.#random };
    const image = mkdtempSync(join(tmpdir(), "colloquy-test-"));
    const pending = layImage(recording, cut, image);
    const expected = expectedAt(line, day, timeline);
    const report = await this.#examine({ dataDir: image, environment: this.#environment, expected });
    const isGood = report.lost.length + report.damaged.length === 0;
    if (isGood) rmSync(image, { recursive: true, force: true });
    const acknowledged = expected.posts.filter(({ id }) => id !== 0).length + expected.uploads.length;
    return { ...report, cut, part, pending, acknowledged, image };
  }

  #part(): Part {
    const drawn = this.#random();
    let sum = 0;
    for (const { name, share } of parts) {
      sum += share;
      if (drawn < sum) return name;
    }
    return "use";
  }

  async #examine(question: Question): Promise<Report> {
    this.#checker ??= new Checker();
    const report = await this.#checker.ask(question);
    if (report !== null) return report;
    this.#checker = null;
    return { lost: promisedBy(question.expected), damaged: ["the process that opened it died"] };
  }
}

class Checker {
  readonly #process: ChildProcess;
  readonly #lines: Interface;
  readonly #over: Promise<null>;

  constructor() {
    const program = fileURLToPath(new URL("power-checker.ts", import.meta.url));
    this.#process = spawn(process.execPath, ["--import=tsx", program], { stdio: ["pipe", "pipe", "ignore"] });
    this.#process.stdin?.on("error", () => undefined);
    this.#lines = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream });
    this.#over = once(this.#process, "close").then(() => null);
  }

  /** null: the process died. */
  ask(question: Question): Promise<Report | null> {
    const answer = once(this.#lines, "line").then(([line]) => JSON.parse(line as string) as Report);
    this.#process.stdin?.write(`${JSON.stringify(question)}\n`);
    return Promise.race([answer, this.#over]);
  }

  async end(): Promise<void> {
    this.#process.stdin?.end();
    await this.#over;
  }
}
