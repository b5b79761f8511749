/** Holds fail closed: where the server cannot see whether a backup runs, it removes nothing (architecture, Files). */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { journalFolder, journalPorts } from "../../src/durability/journal/apply-journal.ts";
import { areFilesLocked, lockFiles } from "../../src/store/file-hold.ts";
import { temporaryFolder } from "../support/server.ts";

const now = 1_000_000;

t.test("a folder that cannot be read counts as held, a missing one does not", async (t) => {
  const folder = temporaryFolder(t);
  t.notOk(await areFilesLocked(folder, now));
  t.notOk(await areFilesLocked(join(folder, "missing"), now));
  const file = join(folder, "file");
  writeFileSync(file, "");
  t.ok(await areFilesLocked(file, now), "it is no folder");
});

t.test("a backup that cannot hold the journal is rejected; files only warn", async (t) => {
  const dataDir = temporaryFolder(t);
  const warnings: string[] = [];
  const holder = { now: () => now, warn: (line: string) => warnings.push(line) };
  writeFileSync(journalFolder(dataDir), "no folder");
  t.ok(existsSync(journalFolder(dataDir)));
  await t.rejects(journalPorts(dataDir, holder).lockJournal(), { code: "ENOTDIR" });
  t.strictSame(warnings, []);
  await lockFiles(journalFolder(dataDir), holder);
  t.equal(warnings.length, 1);
});
