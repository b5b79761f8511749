/**
 * What the archive costs, and how far behind it is: `node --import=tsx test/archive/cost.ts [posts] [rounds]` posts from
 * 16 clients to a server without and with an archive, in turns, and prints the CPU time of the server's process per
 * post, and how old records were when their file appeared in the archive.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { generationFolder, listGenerations, listRecords } from "../../src/durability/archive/layout.ts";
import { readRecords } from "../../src/durability/archive/record-reader.ts";
import { timeOf } from "../../src/durability/journal/record.ts";
import { startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import { isComplete, until } from "./archive-support.ts";

const [posts = 4000, rounds = 3] = process.argv.slice(2).map(Number);
const clients = 16;
const ticksPerSecond = 100;
const lookMs = 10;

const cleanUps: (() => unknown)[] = [];
const teardown = { teardown: (callback: () => unknown) => void cleanUps.push(callback) };

/** CPU time of a process with all its threads. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}

/** Notes for each new file how old its first and its last record are. */
function watchLag(archive: string): { stop(): void; readonly ages: { first: number; last: number }[] } {
  const seen = new Set<string>();
  const ages: { first: number; last: number }[] = [];
  let upTo = 0;
  const timer = setInterval(() => {
    const generation = listGenerations(archive).at(-1);
    const file = generation === undefined ? undefined : listRecords(archive, generation).at(-1);
    if (generation === undefined || file === undefined || file.last <= upTo || seen.has(file.path)) return;
    seen.add(file.path);
    const records = (readRecords(file) ?? []).filter(({ position }) => position > upTo);
    const [first, last] = [records[0], records.at(-1)];
    upTo = file.last;
    if (first === undefined || last === undefined) return;
    const now = Date.now();
    ages.push({ first: now - timeOf(first.bytes), last: now - timeOf(last.bytes) });
  }, lookMs);
  return { stop: () => clearInterval(timer), ages };
}

async function run(archive: string | null) {
  const dataDir = join(temporaryFolder(teardown), "data");
  const { program, owner } = await startProgram(teardown, dataDir, archive === null ? {} : { ARCHIVE_DIR: archive });
  if (archive !== null) await until(() => isComplete(archive, dataDir));
  const lanes = (count: number) =>
    Promise.all(
      Array.from({ length: clients }, async (_, lane) => {
        for (let left = count / clients; left > 0; left--) await owner.say("general", `lane ${lane}`, `post ${left}`);
      }),
    );
  await lanes(posts / 2);
  const lag = archive === null ? null : watchLag(archive);
  const before = cpuMs(program.pid);
  await lanes(posts);
  if (archive !== null) await until(() => isComplete(archive, dataDir));
  const perPost = ((cpuMs(program.pid) - before) * 1000) / posts;
  lag?.stop();
  await program.end("SIGTERM");
  return { perPost, ages: lag?.ages ?? [] };
}

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return `${at(0.5)} [${at(0)} - ${at(1)}]`;
}

const without: number[] = [];
const withArchive: number[] = [];
const ages: { first: number; last: number }[] = [];
for (let round = 0; round < rounds; round++) {
  without.push((await run(null)).perPost);
  const archive = temporaryFolder(teardown);
  const measured = await run(archive);
  withArchive.push(measured.perPost);
  ages.push(...measured.ages);
  rmSync(generationFolder(archive, 1), { recursive: true, force: true });
}
const ratios = withArchive.map((value, index) => Math.round((100 * value) / (without[index] ?? value)));
process.stdout.write(`CPU per post without an archive: ${spread(without)} us\n`);
process.stdout.write(`CPU per post with an archive: ${spread(withArchive)} us, ${spread(ratios)} percent\n`);
process.stdout.write(`age of a file's first record: ${spread(ages.map(({ first }) => first))} ms\n`);
process.stdout.write(`age of a file's last record: ${spread(ages.map(({ last }) => last))} ms\n`);
for (const cleanUp of cleanUps.reverse()) await cleanUp();
