/**
 * The writer of the archive against a model: a journal and its archive over many owners, with copies that are torn,
 * lost or left over, and records that the journal forgot. Whatever is read back is exactly what was written.
 */
import { appendFileSync, existsSync, mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { seededRandom } from "../../bench/lib/statistics.ts";
import { ArchiveTaken, ArchiveWriter } from "../../src/durability/archive/archive-writer.ts";
import { breakChain } from "../../src/durability/archive/base-chain.ts";
import {
  type ArchiveIdentity,
  type GenerationStart,
  identityFile,
  listGenerations,
  listRecords,
  readJson,
  startFile,
} from "../../src/durability/archive/layout.ts";
import { archivedRecords, lastWithoutGap, validFiles } from "../../src/durability/archive/record-reader.ts";
import { planRestore } from "../../src/durability/archive/restore-plan.ts";
import { storeVersion } from "../../src/store/migrations.ts";
import { seedOf } from "../support/seed.ts";
import { archiveSizes, recordOf, World } from "./archived-journal.ts";

const runs = Number(process.env["RUNS"] ?? 40);
const steps = 60;
/** What went wrong with the archive after the last copy: its disk did not keep what it had acknowledged. */
const faults: readonly ((path: string) => void)[] = [
  (path) => truncateSync(path, 40),
  (path) => truncateSync(path, 0),
  (path) => appendFileSync(path, Buffer.alloc(16)),
  (path) => rmSync(path),
  (path) => writeFileSync(`${path}.0123.draft`, "half"),
];

function step(world: World, random: () => number): void {
  const choice = random();
  if (choice < 0.4) world.write(1 + Math.floor(random() * 6));
  else if (choice < 0.75) world.copy();
  else if (choice < 0.85) world.release(world.archived);
  else if (choice < 0.9) world.restart();
  else if (choice < 0.93) {
    // As after a gap: the journal forgot records that the archive lacks.
    world.release(world.end);
    world.isFresh = random() < 0.5;
  } else if (choice < 0.95) {
    breakChain(world.dataDir);
    world.restart();
  } else {
    const generation = listGenerations(world.archive).at(-1);
    const last = generation === undefined ? undefined : listRecords(world.archive, generation).at(-1);
    const fault = faults[Math.floor(random() * faults.length)];
    if (last !== undefined) fault?.(last.path);
    world.restart();
  }
}

/** @returns null, or what is wrong with the archive */
function judge(world: World): string | null {
  for (const generation of listGenerations(world.archive)) {
    const isLast = generation === listGenerations(world.archive).at(-1);
    const start = readJson(startFile(world.archive, generation)) as GenerationStart;
    let last = start.after;
    try {
      for (const { position, realmId, bytes } of archivedRecords(world.archive, generation, start.after + 1)) {
        if (position !== last + 1) return `after record ${last} comes ${position}`;
        if (realmId !== 1 + (position % 3) || Buffer.compare(bytes, recordOf(position)) !== 0) {
          return `record ${position} differs`;
        }
        last = position;
      }
    } catch (error) {
      // What a fault damaged in an earlier generation stays damaged, and is named.
      if (isLast || (error as Error).name !== "ArchiveDamaged") return String(error);
      continue;
    }
    if (isLast && last !== world.archived) return `it ends with ${last}, and said that it has ${world.archived}`;
    const files = listRecords(world.archive, generation);
    if (lastWithoutGap(files, start.after + 1) !== last) return `the names say another end than ${last}`;
    const small = validFiles(files).filter(({ bytes }) => bytes < archiveSizes.fileBytes);
    if (isLast && small.length > archiveSizes.smallFilesMax + 1)
      return `${small.length} small files: ${files.map(({ first, last, owner, bytes }) => `${first}-${last}.${owner}:${bytes}`)}`;
  }
  return null;
}

t.test("an archive has exactly the records that it says, over torn copies, gaps and owners", async (t) => {
  const seed = seedOf(t);
  for (let run = 0; run < runs; run++) {
    const random = seededRandom(seed + run);
    const world = new World(t);
    for (let count = 0; count < steps; count++) step(world, random);
    world.copy();
    const wrong = judge(world);
    if (wrong !== null) t.fail(`SEED=${seed + run}: ${wrong}`);
  }
  t.pass(`${runs} runs`);
});

t.test("a process that meets a newer owner of its archive writes no more", async (t) => {
  const world = new World(t);
  world.write(3);
  world.copy();
  const earlier = world.writer;
  world.restart();
  world.write(2);
  world.copy();
  world.write(1);
  t.throws(() => earlier.copy(world.end, false, () => undefined), ArchiveTaken);
  t.equal(judge(world), null);
});

t.test("what an earlier owner wrote after it had been replaced does not count", async (t) => {
  const world = new World(t);
  world.copy();
  world.write(3);
  world.copy();
  const [file] = listRecords(world.archive, 1);
  world.restart();
  world.write(2);
  world.copy();
  // Records 4 to 9 of the first owner: it was writing when it was replaced.
  writeFileSync(
    file?.path.replace("000000000000001-000000000000003", "000000000000004-000000000000009") ?? "",
    "other",
  );
  t.equal(judge(world), null);
  world.restart();
  world.write(2);
  world.copy();
  t.equal(judge(world), null);
});

t.test("an archive is neither made in a folder with other files, nor shared, nor made where none is", async (t) => {
  const [one, other] = [new World(t), new World(t)];
  const copyTo = (world: World, archive: string) => () =>
    new ArchiveWriter({ archive, dataDir: world.dataDir, journal: world.journalFolder }).copy(
      0,
      false,
      () => undefined,
    );
  one.copy();
  t.throws(copyTo(other, one.archive), { name: "ArchiveTaken", message: /is the archive of another data folder/ });
  t.throws(copyTo(other, one.dataDir), { name: "ArchiveTaken", message: /is not empty and is not an archive/ });
  const missing = join(other.archive, "missing");
  t.throws(copyTo(other, missing), { message: `there is no folder ${missing}` });
  t.notOk(existsSync(missing));
  rmSync(one.archive, { recursive: true });
  mkdirSync(one.archive);
  t.throws(() => one.copy(), { message: /is not the archive that this process writes: is its disk mounted\?/ });
});

t.test(
  "an archive of a newer program, or from before the first release, is neither continued nor restored",
  async (t) => {
    const world = new World(t);
    world.write(1);
    world.copy();
    const file = identityFile(world.archive);
    const identity = readJson(file) as ArchiveIdentity;
    world.restart();
    for (const [format, message] of [
      [1, /was written before the first release/],
      [undefined, /was written before the first release/],
      [`colloquy-${storeVersion + 1}`, /use the newer program/],
    ] as const) {
      writeFileSync(file, JSON.stringify({ ...identity, format }));
      t.throws(() => world.copy(), { name: "UnknownFormat", message });
      t.throws(() => planRestore(world.archive, "latest"), { name: "UnknownFormat", message });
    }
    writeFileSync(file, JSON.stringify(identity));
    world.copy();
    t.equal(judge(world), null);
  },
);
