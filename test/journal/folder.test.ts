/** A journal's folder in a state that no owner leaves behind: what a start accepts, and what it rejects with which words. */
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import { applyJournal, journalFolder } from "../../src/durability/journal/apply-journal.ts";
import { takeOver } from "../../src/durability/journal/journal-writer.ts";
import { temporaryFolder } from "../support/server.ts";
import { describeRecord } from "./contract.ts";
import { SyncJournal } from "./sync-journal.ts";

const advice = /Put the missing files back, or restore a backup or, of an archive, a moment \(restore --to\)\.$/;

interface Filled {
  readonly folder: string;
  readonly records: readonly string[];
  /** Paths of its segments. */
  readonly segments: readonly string[];
}

/** Some records in four segments, the last of which is not full. */
function filled(t: Test, { isClosed = false } = {}): Filled {
  const folder = join(temporaryFolder(t, { inMemory: true }), "journal");
  const journal = new SyncJournal(folder);
  const records = [1, 2, 3, 4].flatMap(() => journal.write([700, 700]));
  records.push(...journal.write([10]), ...journal.write([20]));
  if (isClosed) journal.close();
  return { folder, records: records.map(describeRecord), segments: segmentsIn(folder) };
}

function segmentsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".journal"))
    .toSorted()
    .map((name) => join(folder, name));
}

async function overwrite(path: string, offset: number, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "r+");
  await file.write(bytes, 0, bytes.length, offset);
  await file.close();
}

/** A start fails with the message, and so does the next one: it must not accept what the first one rejected. */
function rejects(t: Test, folder: string, message: RegExp): void {
  for (const attempt of ["a start", "the next start"]) {
    t.throws(() => new SyncJournal(folder), { name: "JournalDamaged", message }, attempt);
    t.throws(() => new SyncJournal(folder), { message: advice }, "it says what to do");
  }
}

function accepts(t: Test, { folder, records }: Filled): void {
  const journal = new SyncJournal(folder);
  t.strictSame(journal.found.map(describeRecord), records);
  const [more] = journal.write([30]);
  t.equal(more?.position, records.length + 1);
}

t.test("[M1] damage to a record before others names the segment, the offset and what to do", async (t) => {
  const { folder, segments } = filled(t);
  const [, second = ""] = segments;
  await overwrite(second, 64 + 744 + 100, Buffer.from("damage"));
  rejects(t, folder, new RegExp(`^${second} is damaged at offset ${64 + 744}: record 4 is not whole`));
});

t.test("[M1] damage to an announced record at the end is noticed by the record after it", async (t) => {
  const { folder, segments } = filled(t);
  const last = segments.at(-1) ?? "";
  await overwrite(last, 64 + 2 * 744 + 42, Buffer.from("damage"));
  rejects(t, folder, /journal is damaged at offset 1552: record 9 is not whole, and records after it are/);
});

t.test("[M1] a start rejects a segment whose header is damaged, or that belongs elsewhere", async (t) => {
  const damaged = filled(t);
  await overwrite(damaged.segments[1] ?? "", 24, Buffer.of(77));
  rejects(t, damaged.folder, /000000000002\.journal is damaged at offset 0: its header is not whole/);
  const renamed = filled(t);
  renameSync(renamed.segments[3] ?? "", join(renamed.folder, "00000001-000000000005.journal"));
  rejects(t, renamed.folder, /000000000005\.journal is damaged at offset 0: it was 00000001-000000000004\.journal/);
});

t.test("[M1] a start rejects a segment that was emptied or is too short", async (t) => {
  for (const [bytes, message] of [
    [0, /at offset 0: its header is not whole/],
    [63, /at offset 63: it has 63 bytes and should have 2048/],
    [64, /at offset 64: it has 64 bytes and should have 2048/],
    [2047, /at offset 2047: it has 2047 bytes and should have 2048/],
  ] as const) {
    const { folder, segments } = filled(t);
    truncateSync(segments.at(-1) ?? "", bytes);
    rejects(t, folder, message);
  }
});

t.test("[M1] a start rejects a folder whose first, middle or last segment is missing", async (t) => {
  for (const [index, message] of [
    [0, /^Records 1 to 2 are missing before .*000000000002\.journal/],
    [2, /000000000002\.journal is damaged at offset 1552: the segment after it is missing/],
    [3, /000000000003\.journal is damaged at offset 1552: the segment after it is missing/],
  ] as const) {
    const { folder, segments } = filled(t);
    rmSync(segments[index] ?? "");
    rejects(t, folder, message);
  }
});

t.test("[M1] a start rejects a folder without any segment of its last owner", async (t) => {
  const { folder, segments } = filled(t);
  for (const path of segments) rmSync(path);
  rejects(t, folder, /journal has no segment of its last owner, 1\./);
});

t.test("[M1] a start rejects records that are missing after an end in order", async (t) => {
  const { folder, segments } = filled(t, { isClosed: true });
  // The last record and the mark behind it, as if they had never been written.
  await overwrite(segments.at(-1) ?? "", 1552 + 56, Buffer.alloc(200));
  rejects(t, folder, /ends with record 9 and should end with record 10/);
});

t.test("[M1] a start after a crash accepts an owner file that is empty, unreadable or gone", async (t) => {
  for (const happen of [
    (path: string) => truncateSync(path),
    (path: string) => writeFileSync(path, "{ not a note"),
    (path: string) => writeFileSync(path, "null"),
    (path: string) => rmSync(path),
  ]) {
    const given = filled(t);
    happen(join(given.folder, "owner.1"));
    accepts(t, given);
    const found = readdirSync(given.folder).filter((name) => name.startsWith("owner"));
    t.strictSame(found, ["owner.2"], "the epoch of the segments counts, too");
  }
});

t.test("[S3] a start removes spares of earlier owners, whole or not, and ignores other files", async (t) => {
  const given = filled(t);
  writeFileSync(join(given.folder, "1-7.spare"), "");
  writeFileSync(join(given.folder, "1-8.spare"), Buffer.alloc(2048));
  writeFileSync(join(given.folder, "notes.txt"), "of an operator");
  accepts(t, given);
  const names = readdirSync(given.folder);
  t.notOk(names.includes("1-7.spare") || names.includes("1-8.spare"));
  t.ok(names.includes("notes.txt"));
});

t.test("[M1] an owner that ended before its first segment leaves nothing to miss", async (t) => {
  const given = filled(t);
  renameSync(join(given.folder, "owner.1"), join(given.folder, "owner.9"));
  accepts(t, given);
  t.ok(readdirSync(given.folder).includes("owner.10"));
  const fresh = join(temporaryFolder(t, { inMemory: true }), "journal");
  mkdirSync(fresh);
  writeFileSync(join(fresh, "owner.1"), "");
  accepts(t, { folder: fresh, records: [], segments: [] });
});

t.test(
  "[M5] a folder without permission is named",
  { skip: process.getuid?.() === 0 && "root may do all" },
  async (t) => {
    const { folder } = filled(t);
    chmodSync(folder, 0o500);
    t.throws(() => new SyncJournal(folder), { code: "EACCES", message: new RegExp(folder) });
    chmodSync(folder, 0o700);
  },
);

t.test(
  "[M1] whichever of the segments that a start was removing a power cut leaves, the next start goes on",
  async (t) => {
    for (const left of [[0], [2], [0, 3], [1, 2], [3], []]) {
      const { folder, records, segments } = filled(t);
      // As openFileJournal does when the stores have everything.
      const { writer } = takeOver(folder);
      writer.noteApplied(records.length);
      for (const [index, path] of segments.entries()) if (!left.includes(index)) rmSync(path);
      const journal = new SyncJournal(folder);
      const [more] = journal.write([30]);
      t.equal(more?.position, records.length + 1, `segments ${left.join(", ")}`);
    }
  },
);

t.test("[M5] a tool that settles a folder takes it over: an earlier owner that still runs stops", async (t) => {
  const dataDir = temporaryFolder(t, { inMemory: true });
  const earlier = new SyncJournal(journalFolder(dataDir));
  earlier.write([10]);
  await applyJournal(dataDir);
  t.throws(() => earlier.write([20]), { name: "JournalLost", reason: "takenOver" });
});

t.test("[M1] a tool that settles a folder rejects one whose last owner had more records", async (t) => {
  const dataDir = temporaryFolder(t, { inMemory: true });
  const folder = journalFolder(dataDir);
  const journal = new SyncJournal(folder);
  for (let count = 0; count < 4; count++) journal.write([700, 700]);
  journal.close();
  rmSync(segmentsIn(folder).at(-1) ?? "");
  await t.rejects(applyJournal(dataDir), { name: "JournalDamaged", message: advice });
});
