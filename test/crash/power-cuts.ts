/** Records a session of the server, cuts the power in it, and checks what the disk still contains. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { seededRandom } from "../../bench/lib/statistics.ts";
import { type Teardown, temporaryFolder } from "../support/server.ts";
import { startTraced } from "../support/strace.ts";
import { type Cut, layImage, type WriteOutcome, writeOutcomes } from "./disk-image.ts";
import { diskFlags, type Recording, readDiskTrace } from "./disk-trace.ts";
import type { Question, Report } from "./power-checker.ts";
import { type Day, expectedAt, promisedBy, runWorkload, type Timeline, timelineOf } from "./power-workload.ts";

export interface RecordedDay {
  readonly recording: Recording;
  readonly day: Day;
  readonly timeline: Timeline;
}

/** Disables reserves and ballast, which would be most of the trace. */
function withoutBallast(): Record<string, string> {
  const { bavail, bsize } = statfsSync(tmpdir());
  return { STORE_FREE_BYTES_MIN: String(Math.floor(bavail * bsize * 0.6)) };
}

/** Records a new organization: created, used, stopped. @param cwd the checkout, if it is another than this one */
export async function recordDay(t: Teardown, seed: number, cwd?: string): Promise<RecordedDay> {
  const dataDir = temporaryFolder(t);
  const file = join(temporaryFolder(t), "trace");
  const environment = withoutBallast();
  const { program, owner } = await startTraced(t, {
    dataDir,
    file,
    flags: diskFlags,
    environment,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const day = await runWorkload(owner, seededRandom(seed));
  const { code } = await program.end("SIGTERM");
  if (code !== 0) throw new Error(`the recorded server ended with ${code}: ${program.stderr}`);
  const recording = readDiskTrace(readFileSync(file, "latin1"), dataDir);
  rmSync(file);
  return { recording, day, timeline: timelineOf(recording, day) };
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

/** Share of the cuts that fall before the organization is created. */
const earlyShare = 0.15;

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
  /** Number of unflushed writes. */
  readonly pending: number;
  readonly acknowledged: number;
  /** The folder of the image, if it is faulty. */
  readonly image: string;
}

export class PowerCuts {
  readonly #random: () => number;
  readonly #environment = withoutBallast();
  #checker: Checker | null = null;

  constructor(t: Teardown, seed: number) {
    this.#random = seededRandom(seed);
    t.teardown(() => this.#checker?.end());
  }

  /** @param fate drawn at random by default */
  async cut(recorded: RecordedDay, outcome?: WriteOutcome): Promise<CutResult> {
    const { recording, day, timeline } = recorded;
    // Creating writes more often than the day after it, where flushes are shared: each part has its own share of the cuts.
    const isEarly = this.#random() < earlyShare;
    const candidates = moments(recorded).filter((line) => line <= timeline.createdAt === isEarly);
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
    return { ...report, cut, pending, acknowledged, image };
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
