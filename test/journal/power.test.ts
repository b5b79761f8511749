/**
 * Power cuts and failing calls, on the record of what a real process wrote, flushed and announced. Skipped with a message
 * where strace is missing or not permitted.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
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

function startTraced(t: Test, flags: readonly string[], folder: string, openings: number, batches: number): Program {
  const command = [process.execPath, "--import=tsx", program, folder, String(openings), String(batches)];
  return new Program(t, "strace", ["-D", "-f", ...flags, ...command], {});
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
  const dataDir = temporaryFolder(t);
  const file = join(temporaryFolder(t), "trace");
  const { code, stdout, stderr } = await startTraced(t, [...diskFlags, "-o", file], join(dataDir, "journal"), 3, 40)
    .exited;
  t.equal(code, 0, stderr);
  t.match(stdout, /durable 300\n/);
  const traced = readDiskTrace([readFileSync(file, "latin1")], dataDir);
  const recording = { ...traced, wires: traced.wires.filter(({ text }) => /^(?:durable|released) /.test(text)) };
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

t.test("[M5] a flush or write that fails is the end of the journal, and announces nothing", async (t) => {
  if (obstacle(t)) return;
  for (const [call, error] of [
    ["fdatasync", "EIO"],
    ["pwrite64", "EIO"],
    ["pwrite64", "ENOSPC"],
  ] as const) {
    const folder = join(temporaryFolder(t), "journal");
    const flags = ["-o", "/dev/null", "-e", `trace=${call}`, "-e", `inject=${call}:error=${error}:when=20+`];
    const { code, stdout, stderr } = await startTraced(t, flags, folder, 1, 40).exited;
    t.equal(code, 9, stderr);
    t.match(stdout, new RegExp(`lost \\(failed\\): The journal in ${folder} cannot be written: ${error}`), call);
    const announced = Number(/.*durable (\d+)\n/s.exec(stdout)?.[1]);
    const { recovered } = new SyncJournal(folder);
    t.ok(announced > 0 && recovered.end >= announced, `${announced} were announced, ${recovered.end} are there`);
    t.notMatch(stdout.slice(stdout.indexOf("lost")), /durable/);
  }
});
