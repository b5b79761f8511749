/** For tests of the archive: when it has everything, and what it has. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Base, readBases } from "../../src/durability/archive/base-manifest.ts";
import { listGenerations, listRecords, type RecordsFile } from "../../src/durability/archive/layout.ts";
import { lastWithoutGap } from "../../src/durability/archive/record-reader.ts";
import { journalFolder } from "../../src/durability/journal/apply-journal.ts";
import { recoverJournal } from "../../src/durability/journal/recovery.ts";
import { checkout, type Exited, Program } from "../support/process.ts";
import type { Teardown } from "../support/server.ts";

const pollMs = 20;

/** Waits for a condition of something that tells nobody: files of another process. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resume) => setTimeout(resume, pollMs));
}

export function generationsOf(archive: string): number[] {
  return listGenerations(archive);
}

/** The bases of the last generation. */
export function basesOf(archive: string): Base[] {
  const generation = listGenerations(archive).at(-1);
  return generation === undefined ? [] : readBases(archive, generation);
}

/** The files with records of the last generation. */
export function recordsOf(archive: string): RecordsFile[] {
  const generation = listGenerations(archive).at(-1);
  return generation === undefined ? [] : listRecords(archive, generation);
}

/** Whether the archive has a whole base, and every record of the journal of a server that is not asked for anything. */
export function isComplete(archive: string, dataDir: string): boolean {
  const base = basesOf(archive).findLast(({ isWhole }) => isWhole);
  if (base === undefined) return false;
  const last = lastWithoutGap(recordsOf(archive), base.from + 1);
  try {
    return last >= base.upTo && last >= recoverJournal(journalFolder(dataDir), null).end;
  } catch {
    // The server is writing.
    return false;
  }
}

/** The command line with more variables than runCli has. */
export function restoreTo(t: Teardown, archive: string, dataDir: string, time: string): Promise<Exited> {
  const args = ["colloquy.mjs", "restore", "--to", time, archive];
  return new Program(t, process.execPath, args, { DATA_DIR: dataDir }, checkout).exited;
}

export function now(): string {
  return new Date().toISOString();
}

/** A time that no record has: the next record is later. */
export async function pauseAfter(time: number): Promise<void> {
  await until(() => Date.now() > time);
}

/** Every file with its size and content, to see that nothing was changed. */
export function pictureOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      return statSync(path).isDirectory() ? name : `${name} ${readFileSync(path).toString("base64")}`;
    });
}
