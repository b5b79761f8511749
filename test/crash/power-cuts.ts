/** Recording a day of the server, cutting the power in it, and asking what the disk still holds. */
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
import { type Cut, type Fate, fates, layImage } from "./disk-image.ts";
import { diskFlags, type Recording, readDiskTrace } from "./disk-trace.ts";
import type { Question, Report } from "./power-checker.ts";
import { type Day, expectedAt, liveThroughDay, promisedBy, type Timeline, timelineOf } from "./power-workload.ts";

export interface RecordedDay {
  readonly recording: Recording;
  readonly day: Day;
  readonly timeline: Timeline;
}

/** Room that is kept for nobody: no ballast is laid, which would be most of a trace. */
function withoutBallast(): Record<string, string> {
  const { bavail, bsize } = statfsSync(tmpdir());
  return { STORE_FREE_BYTES_MIN: String(Math.floor(bavail * bsize * 0.6)) };
}

/** A new organization's first minutes: founded, used, stopped. @param cwd the checkout, where it is another than this one */
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
  const day = await liveThroughDay(owner, seededRandom(seed));
  const { code } = await program.end("SIGTERM");
  if (code !== 0) throw new Error(`the recorded server ended with ${code}: ${program.stderr}`);
  const recording = readDiskTrace(readFileSync(file, "latin1"), dataDir);
  rmSync(file);
  return { recording, day, timeline: timelineOf(recording, day) };
}

/** Right before, in the midst of and right after a flush; right after an answer: moments at which a promise may break. */
function moments({ recording, timeline }: RecordedDay): number[] {
  const atFlushes = recording.ops.flatMap((op) => {
    const isFlush = op.kind === "flush" || (op.kind === "data" && op.isSync);
    return isFlush ? [op.start - 1, op.start, op.end] : [op.end];
  });
  return [
    ...atFlushes,
    ...timeline.answered.values(),
    ...timeline.told.values(),
    timeline.foundedAt,
    timeline.registeredAt,
  ];
}

/** So many cuts come before the organization is founded. */
const earlyShare = 0.15;

/** Fates by weight: what nobody flushed is mostly gone. */
const weighted: readonly Fate[] = ["lost", "lost", "lost", "some", "some", "some", "torn", "torn", "last torn", "kept"];

export interface CutResult extends Report {
  readonly cut: Cut;
  /** Writes that were not flushed. */
  readonly pending: number;
  readonly acknowledged: number;
  /** Where the image lies, when something is wrong with it. */
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

  /** @param fate otherwise by chance */
  async cut(recorded: RecordedDay, fate?: Fate): Promise<CutResult> {
    const { recording, day, timeline } = recorded;
    // The first moments are few, and have their own ways to go wrong.
    const isEarly = this.#random() < earlyShare;
    const candidates = moments(recorded).filter((line) => !isEarly || line <= timeline.foundedAt);
    const line = candidates[Math.floor(this.#random() * candidates.length)] ?? 0;
    const chosen = fate ?? weighted[Math.floor(this.#random() * weighted.length)] ?? fates[0];
    const cut = { line, fate: chosen, random: this.#random };
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

  /** null: it died over it. */
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
