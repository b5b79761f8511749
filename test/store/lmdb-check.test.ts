/**
 * Checks the pages of a store without LMDB: a file that LMDB wrote is never reported as damaged, and damage that would
 * crash LMDB is found before LMDB opens the file.
 */
import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type Lmdb, openLmdb } from "../../src/store/lmdb.ts";
import { checkPages } from "../../src/store/lmdb-check.ts";
import { Random } from "../sim/random.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";

const pageBytes = 4096;
const rounds = Number(process.env["ROUNDS"] ?? 150);

/** Writes, overwrites, removes and rolls back rows of all lengths. */
function mutate(lmdb: Lmdb, random: Random): void {
  const value = () => ({ value: "x".repeat(random.chance(0.1) ? random.below(30_000) : random.below(600)) });
  lmdb.transaction(() => {
    for (let write = 0; write < 30; write++) {
      const key = `k${random.below(1500)}`;
      if (random.chance(0.35)) lmdb.remove("meta", key);
      else lmdb.put("meta", key, value());
      if (!random.chance(0.1)) continue;
      const isRolledBack = random.chance(0.5);
      try {
        lmdb.transaction(() => {
          lmdb.put("mailbox", write, { sequence: write, command: value(), attempts: 0 });
          if (isRolledBack) throw new Error("rolled back");
        });
      } catch {
        if (!isRolledBack) throw new Error("a write failed");
      }
    }
  });
}

/** A store in which every page is in use: a compacted copy. */
const damages_max = 1000;

async function mutated(t: Test, random: Random, count: number): Promise<string> {
  const folder = temporaryFolder(t, { inMemory: true });
  const lmdb = openLmdb(folder);
  for (let round = 0; round < count; round++) mutate(lmdb, random);
  const copy = temporaryFolder(t, { inMemory: true });
  await lmdb.backup(copy);
  await lmdb.close();
  return join(copy, "data.mdb");
}

t.test("a store written by LMDB is never reported as damaged, at any moment of its life", async (t) => {
  const random = new Random(seedOf(t));
  const folder = temporaryFolder(t, { inMemory: true });
  const file = join(folder, "data.mdb");
  checkPages(file, "all-pages");
  const lmdb = openLmdb(folder);
  for (let round = 0; round < rounds; round++) {
    mutate(lmdb, random);
    checkPages(file, round % 2 === 0 ? "all-pages" : "inner-pages");
  }
  const copy = temporaryFolder(t, { inMemory: true });
  await lmdb.backup(copy);
  await lmdb.close();
  checkPages(file, "all-pages");
  checkPages(join(copy, "data.mdb"), "all-pages");
  const again = openLmdb(copy);
  mutate(again, random);
  await again.close();
  checkPages(join(copy, "data.mdb"), "all-pages");
  t.pass(`${rounds} rounds`);
});

t.test("a file truncated anywhere is rejected before LMDB opens it", async (t) => {
  const random = new Random(seedOf(t));
  const file = await mutated(t, random, 40);
  const folder = temporaryFolder(t, { inMemory: true });
  const copy = join(folder, "data.mdb");
  const pages = statSync(file).size / pageBytes;
  let refused = 0;
  for (let left = 1; left < pages; left += Math.ceil(pages / 60)) {
    copyFileSync(file, copy);
    truncateSync(copy, left * pageBytes - (left % 2) * 100);
    try {
      checkPages(copy, "inner-pages");
    } catch (error) {
      refused++;
      t.match(error, { name: "DamagedData", message: /data\.mdb is damaged: .*(missing|cut off|has no head)/ });
      t.throws(() => openLmdb(folder), { name: "DamagedData" });
      continue;
    }
    // The missing pages are free ones.
    checkPages(copy, "all-pages");
  }
  t.ok(refused > 10, `${refused} refused`);
});

t.test("a store with a damaged page is rejected, or every page that it refers to can be read", async (t) => {
  const random = new Random(seedOf(t));
  const file = await mutated(t, random, 40);
  const whole = readFileSync(file);
  const treePages = Array.from({ length: whole.length / pageBytes }, (_, page) => page).filter((page) =>
    [1, 2, 8].includes(whole.readUInt16LE(page * pageBytes + 18)),
  );
  const folder = temporaryFolder(t, { inMemory: true });
  const copy = join(folder, "data.mdb");
  let refused = 0;
  // Of 150 damages about 43 are refused: if chance refuses few, more are tried.
  for (let number = 0; number < 150 || (refused <= 30 && number < damages_max); number++) {
    const bytes = Buffer.from(whole);
    // Page headers and node lists are what LMDB trusts.
    const at = random.pick(treePages) * pageBytes + random.below(120);
    bytes[at] = (bytes[at] as number) ^ (1 + random.below(255));
    writeFileSync(copy, bytes);
    try {
      checkPages(copy, "all-pages");
    } catch (error) {
      refused++;
      if ((error as Error).name !== "DamagedData") t.fail(String(error));
      continue;
    }
    const lmdb = openLmdb(folder);
    const damaged: string[] = [];
    for (const table of ["meta", "mailbox"] as const) lmdb.verify(table, (error) => damaged.push(String(error)));
    await lmdb.close();
    t.ok(
      damaged.every((line) => line.includes("is damaged: the row")),
      `byte ${at}: ${damaged.length} damaged rows`,
    );
  }
  t.ok(refused > 30, `${refused} refused`);
});

t.test("a store whose keys are out of order is rejected, within a page and between pages", async (t) => {
  const file = await mutated(t, new Random(seedOf(t)), 40);
  const whole = readFileSync(file);
  const copy = join(temporaryFolder(t, { inMemory: true }), "data.mdb");
  const isRejected = (page: number, change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(whole);
    change(bytes.subarray(page * pageBytes, (page + 1) * pageBytes));
    writeFileSync(copy, bytes);
    try {
      checkPages(copy, "all-pages");
    } catch (error) {
      t.match(error, { name: "DamagedData", message: new RegExp(`page ${page} has keys out of order`) });
      return true;
    }
    return false;
  };
  let between = 0;
  const leaves = leavesIn(whole);
  for (const { page, first, second, last } of leaves) {
    t.ok(
      isRejected(page, (bytes) => {
        bytes.writeUInt16LE(second, nodeList);
        bytes.writeUInt16LE(first, nodeList + 2);
      }),
      `page ${page}: two nodes are swapped`,
    );
    // A key begins 8 bytes after its node.
    if (isRejected(page, (bytes) => bytes.fill(0xff, nodeList + last + 8, nodeList + last + 9))) between++;
  }
  t.ok(leaves.length > 10, `${leaves.length} leaves`);
  // Nothing follows the last leaf of a table.
  t.ok(between > leaves.length / 2, `${between} last keys above the next page`);
});

/** Where a page lists its nodes; they are counted from there, too. */
const nodeList = 24;

interface Leaf {
  readonly page: number;
  readonly first: number;
  readonly second: number;
  readonly last: number;
}

/** The leaves with at least two nodes. */
function leavesIn(file: Buffer): Leaf[] {
  const leaves: Leaf[] = [];
  for (let page = 2; page < file.length / pageBytes; page++) {
    const bytes = file.subarray(page * pageBytes, (page + 1) * pageBytes);
    const listBytes = bytes.readUInt16LE(20);
    if (bytes.readUInt16LE(18) !== 2 || listBytes < 4) continue;
    const nodeAt = (offset: number) => bytes.readUInt16LE(nodeList + offset);
    leaves.push({ page, first: nodeAt(0), second: nodeAt(2), last: nodeAt(listBytes - 2) });
  }
  return leaves;
}
