/**
 * Power cuts and failing calls, on the record of what a real process wrote, flushed and announced. Skipped with a message
 * where strace is missing or not permitted.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { compileNative } from "../../bench/lib/native.ts";
import { seededRandom } from "../../bench/lib/statistics.ts";
import { JournalDamaged, type RecordNumber } from "../../src/durability/journal/journal.ts";
import { layImage, writeOutcomes } from "../crash/disk-image.ts";
import { diskFlags, type Recording, readDiskTrace } from "../crash/disk-trace.ts";
import { Program } from "../support/process.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";
import { tracingObstacle } from "../support/strace.ts";
import { describeRecord } from "./contract.ts";
import { programRecord } from "./program-records.ts";
import { SyncJournal } from "./sync-journal.ts";

const program = fileURLToPath(new URL("journal-program.ts", import.meta.url));
const cuts = Number(process.env["CUTS"] ?? 100);

/** @returns null where tracing is impossible */
function obstacle(t: Test): boolean {
  const reason = tracingObstacle();
  if (reason !== null) t.pass(`not traced: ${reason}`, { skip: reason });
  return reason !== null;
}

interface Work {
  readonly openings: number;
  readonly batches: number;
  /** Records that may be appended while earlier ones are not durable. */
  readonly ahead?: number;
  readonly segmentBytes?: number;
}

function startTraced(t: Test, flags: readonly string[], folder: string, work: Work): Program {
  const { openings, batches, ahead = 0, segmentBytes = 8192 } = work;
  const options = [folder, openings, batches, ahead, segmentBytes].map(String);
  const command = [process.execPath, "--import=tsx", program, ...options];
  return new Program(t, "strace", ["-D", "-f", ...flags, ...command], {});
}

async function record(t: Test, flags: readonly string[], work: Work): Promise<Recording> {
  const dataDir = temporaryFolder(t);
  const file = join(temporaryFolder(t), "trace");
  const traced = [...diskFlags, ...flags, "-o", file];
  const { code, stdout, stderr } = await startTraced(t, traced, join(dataDir, "journal"), work).exited;
  t.equal(code, 0, stderr);
  t.match(stdout, /durable 300\n/);
  const recording = readDiskTrace([readFileSync(file, "latin1")], dataDir);
  return { ...recording, wires: recording.wires.filter(({ text }) => /^(?:durable|released) /.test(text)) };
}

interface Cut {
  readonly recording: Recording;
  readonly line: number;
  readonly random: () => number;
}

/** What the process had said before the cut. */
function saidBy({ recording, line }: Cut, what: RegExp): RecordNumber {
  const said = recording.wires.filter(({ start }) => start <= line).flatMap(({ text }) => what.exec(text)?.[1] ?? []);
  return Number(said.at(-1) ?? 0);
}

/** @returns null, or how the image breaks the promise */
function judge(root: string, cut: Cut): string | null {
  const announced = saidBy(cut, /^durable (\d+)/);
  const released = saidBy(cut, /^released (\d+)/);
  const folder = join(root, "journal");
  try {
    const first = new SyncJournal(folder);
    const { end } = first.recovered;
    if (end < announced) return `${announced} were announced, the journal ends with ${end}`;
    const from = first.found[0]?.position ?? end + 1;
    if (from > released + 1) return `${released} were released, the journal begins with ${from}`;
    const wrong = first.found.find((one) => describeRecord(one) !== describeRecord(programRecord(one.position)));
    if (wrong !== undefined) return `${describeRecord(wrong)} was not written`;
    if (first.found.length !== end - from + 1) return `${first.found.length} records from ${from} to ${end}`;
    // What was found once is found again, and more after it.
    first.write([10]);
    const again = new SyncJournal(folder).recovered.end;
    return again === end + 1 ? null : `${end + 1} records became ${again}`;
  } catch (error) {
    if (error instanceof JournalDamaged) return error.message;
    throw error;
  }
}

/** Cuts at random moments, and returns what was found wrong. */
function cutOften(t: Test, recording: Recording, count: number, seed: number): string[] {
  const random = seededRandom(seed);
  const moments = recording.ops.flatMap(({ start, end }) => [start - 1, start, end]);
  moments.push(...recording.wires.map(({ start }) => start));
  const root = temporaryFolder(t, { inMemory: true });
  const faults: string[] = [];
  for (let index = 0; index < count; index++) {
    const line = moments[Math.floor(random() * moments.length)] ?? 0;
    const outcome = writeOutcomes[index % writeOutcomes.length] ?? "lost";
    const image = join(root, String(index));
    layImage(recording, { line, outcome, random }, image);
    const fault = judge(image, { recording, line, random });
    rmSync(image, { recursive: true });
    if (fault !== null) faults.push(`cut ${index} at line ${line}, ${outcome}: ${fault}`);
  }
  return faults;
}

t.test("[M1] a power cut at any moment loses no record that was announced", async (t) => {
  if (obstacle(t)) return;
  const recording = await record(t, [], { openings: 3, batches: 40 });
  const seed = seedOf(t);
  t.strictSame(cutOften(t, recording, cuts, seed), []);

  const flushes = new Set(recording.ops.filter(({ kind }) => kind === "flush"));
  t.ok(flushes.size > 100, `${flushes.size} flushes`);
  const unflushed = { ...recording, ops: recording.ops.filter((op) => !flushes.has(op)) };
  const found = cutOften(t, unflushed, 50, seed).length;
  t.ok(found > 10, `positive control: a journal that does not flush is found in ${found} of 50 cuts`);
  const early = recording.wires.map((wire) => ({ ...wire, start: wire.start - 8 }));
  t.ok(cutOften(t, { ...recording, wires: early }, cuts, seed).length > 0, "positive control: so are early notices");
});

/**
 * Options of strace for a disk whose flushes take 3 ms longer, so that they overlap.
 * @returns null without a compiler
 */
function slowDisk(t: Test): readonly string[] | null {
  const library = compileNative("slow-flush", temporaryFolder(t));
  if (library === null) t.pass("no compiler", { skip: "it needs a compiler of C (Debian package build-essential)" });
  return library === null ? null : ["-E", `LD_PRELOAD=${library}`, "-E", "FLUSH_DELAY_US=3000"];
}

/** Whether a flush ended after a later one of the same file. */
function hasOvertaken({ ops }: Recording): boolean {
  const flushes = ops.filter(({ kind }) => kind === "flush");
  return flushes.some((one) =>
    flushes.some((other) => other.of === one.of && other.start > one.start && other.end < one.end),
  );
}

const recordings_max = 8;
const overlapping: Work = { openings: 1, batches: 120, ahead: 24, segmentBytes: 32_768 };

t.test("[M1] flushes that overlap and end in any order lose no record that was announced", async (t) => {
  if (obstacle(t)) return;
  const slow = slowDisk(t);
  if (slow === null) return;
  // Some flushes of each thread take longer than several others.
  const unequal = ["-e", "inject=fdatasync:delay_enter=50000:when=3+6"];
  let recording = await record(t, [...slow, ...unequal], overlapping);
  // On a busy machine the records may come too slowly for two flushes at a time.
  for (let tries = 1; tries < recordings_max && !hasOvertaken(recording); tries++) {
    recording = await record(t, [...slow, ...unequal], overlapping);
  }
  t.ok(hasOvertaken(recording), "a flush ended after a later one");
  const seed = seedOf(t);
  t.strictSame(cutOften(t, recording, cuts, seed), []);
  const early = recording.wires.map((wire) => ({ ...wire, start: wire.start - 8 }));
  t.ok(cutOften(t, { ...recording, wires: early }, cuts, seed).length > 0, "positive control: early notices are found");
});

t.test("[M5] a flush that fails while others succeed is the end of the journal, and announces nothing", async (t) => {
  if (obstacle(t)) return;
  const slow = slowDisk(t);
  if (slow === null) return;
  const folder = join(temporaryFolder(t), "journal");
  // The fifth flush of a thread of the pool: others run beside it, and end well.
  const flags = [...slow, "-o", "/dev/null", "-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO:when=5"];
  const { code, stdout, stderr } = await startTraced(t, flags, folder, overlapping).exited;
  t.equal(code, 9, stderr);
  t.match(stdout, `lost (failed): The journal in ${folder} cannot be written: EIO`);
  t.notMatch(stdout.slice(stdout.indexOf("lost")), /durable/);
});

t.test("[M5] an owner whose folder is taken over between two flushes announces nothing from then on", async (t) => {
  if (obstacle(t)) return;
  const slow = slowDisk(t);
  if (slow === null) return;
  const folder = join(temporaryFolder(t), "journal");
  const flags = [...slow, "-o", "/dev/null", "-e", "trace=fdatasync"];
  // In one large segment, so that nothing but its flushes tells it.
  const owner = startTraced(t, flags, folder, { ...overlapping, batches: 100_000, segmentBytes: 1024 * 1024 });
  await owner.printed(/durable \d{3}\n/);
  const { end } = new SyncJournal(folder).recovered;
  const { code, stdout } = await owner.exited;
  t.equal(code, 9);
  t.match(stdout, "lost (takenOver)");
  const announced = Number(/.*durable (\d+)\n/s.exec(stdout)?.[1]);
  t.ok(announced <= end, `${announced} were announced, the next owner found ${end}`);
});

t.test("[M5] a flush or write that fails is the end of the journal, and announces nothing", async (t) => {
  if (obstacle(t)) return;
  for (const [call, error] of [
    ["fdatasync", "EIO"],
    ["pwrite64", "EIO"],
    ["pwrite64", "ENOSPC"],
  ] as const) {
    const folder = join(temporaryFolder(t), "journal");
    const flags = ["-o", "/dev/null", "-e", `trace=${call}`, "-e", `inject=${call}:error=${error}:when=20+`];
    const { code, stdout, stderr } = await startTraced(t, flags, folder, { openings: 1, batches: 40 }).exited;
    t.equal(code, 9, stderr);
    t.match(stdout, new RegExp(`lost \\(failed\\): The journal in ${folder} cannot be written: ${error}`), call);
    const announced = Number(/.*durable (\d+)\n/s.exec(stdout)?.[1]);
    const { recovered } = new SyncJournal(folder);
    t.ok(announced > 0 && recovered.end >= announced, `${announced} were announced, ${recovered.end} are there`);
    t.notMatch(stdout.slice(stdout.indexOf("lost")), /durable/);
  }
});
