/**
 * Removes from an archive what only times before a moment need: bases, records and uploaded files that are older than
 * the newest whole base at that moment. An interrupted removal is finished by the next one: the list of files to remove
 * is stored before the first of them is removed.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileIn } from "../../store/files.ts";
import { flushFolderSync } from "../../store/folders.ts";
import type { RecordNumber } from "../journal/journal.ts";
import { type Base, manifestFile, readBases } from "./base-manifest.ts";
import {
  archivedFiles,
  baseFolder,
  generationFolder,
  listBases,
  listGenerations,
  listRecords,
  publishJson,
  readJson,
  recordsFolder,
} from "./layout.ts";
import { readRecords } from "./record-reader.ts";
import { filesClaimedBy } from "./uploads.ts";

/** A running removal. */
interface Removal {
  /** The oldest base that stays. */
  readonly generation: number;
  readonly base: number;
  /** Its restores need the records after this one. */
  readonly from: RecordNumber;
  /** Uploaded files, as `<realm>/<name>`. */
  readonly files: readonly string[];
}

/** @throws ArchiveDamaged when a base cannot be read: nothing is removed then */
export function pruneArchive(archive: string, before: number): void {
  finish(archive);
  const bases = listGenerations(archive).flatMap((generation) => readBases(archive, generation));
  const index = bases.findLastIndex(({ isWhole, at }) => isWhole && at <= before);
  const kept = bases[index];
  // The first base stays as long as there is no later one that is old enough.
  if (kept === undefined || index === 0) return;
  const { generation, number: base, from } = kept;
  const needed = new Set(bases.slice(index).flatMap(filesOf));
  const claimed = new Set([...bases.slice(0, index).flatMap(filesOf), ...claimedBefore(archive, kept)]);
  const files = [...claimed].filter((name) => !needed.has(name));
  publishJson(noteFile(archive), { generation, base, from, files } satisfies Removal);
  finish(archive);
}

function noteFile(archive: string): string {
  return join(archive, "removing.json");
}

function filesOf({ realms }: Base): string[] {
  return realms.flatMap(({ id, files }) => files.map((name) => `${id}/${name}`));
}

/** Files that records claim which go: those that the base does not list were removed before it. */
function* claimedBefore(archive: string, kept: Base): Generator<string> {
  for (const generation of listGenerations(archive)) {
    for (const file of listRecords(archive, generation)) {
      if (!goes(generation, file.last, kept)) continue;
      for (const { realmId, bytes } of readRecords(file) ?? []) {
        for (const name of filesClaimedBy(bytes)) yield `${realmId}/${name}`;
      }
    }
  }
}

function goes(
  generation: number,
  last: RecordNumber,
  kept: { readonly generation: number; readonly from: RecordNumber },
) {
  return generation < kept.generation || last <= kept.from;
}

function finish(archive: string): void {
  const removal = readJson(noteFile(archive)) as Removal | undefined;
  if (removal === undefined) return;
  const { generation, base, files } = removal;
  const older = listGenerations(archive).filter((number) => number < generation);
  // Bases first: from now on no restore begins with what is removed.
  for (const number of older) for (const gone of listBases(archive, number)) removeBase(archive, number, gone);
  for (const gone of listBases(archive, generation)) if (gone < base) removeBase(archive, generation, gone);
  for (const file of files) {
    const slash = file.indexOf("/");
    rmSync(fileIn(archivedFiles(archive, Number(file.slice(0, slash))), file.slice(slash + 1)), { force: true });
  }
  for (const file of listRecords(archive, generation)) {
    if (goes(generation, file.last, removal)) rmSync(file.path, { force: true });
  }
  flushFolderSync(recordsFolder(archive, generation));
  for (const number of older) rmSync(generationFolder(archive, number), { recursive: true, force: true });
  rmSync(noteFile(archive));
  flushFolderSync(archive);
}

function removeBase(archive: string, generation: number, base: number): void {
  const folder = baseFolder(archive, generation, base);
  rmSync(manifestFile(folder), { force: true });
  rmSync(folder, { recursive: true, force: true });
}
