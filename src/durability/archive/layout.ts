/**
 * The files of an archive (docs/operations.md, Archive and point in time). Everything in it is written under another
 * name, flushed and renamed, so that a reader never meets half of a file:
 *
 *   colloquy-archive.json                        the data folder that the archive belongs to
 *   owners/<owner>                               the processes that have written it, by number; the last one may write
 *   generations/<generation>/bases/<number>/     copies of organizations
 *   generations/<generation>/records/            records of the journal since then, without a gap
 *   files/<realm>/<folder>/<name>                uploaded files
 *   erased/<realm>                               organizations that were erased: later times do not have them
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { flushFolderSync } from "../../store/folders.ts";
import { folderOf } from "../../store/realm-folders.ts";
import type { RecordNumber } from "../journal/journal.ts";

export const draftSuffix = ".draft";

/** The identity that is stored in an archive. */
export interface ArchiveIdentity {
  /** See store/migrations.ts. */
  readonly format: string;
  /** The id of its data folder. */
  readonly id: string;
}

export function identityFile(archive: string): string {
  return join(archive, "colloquy-archive.json");
}

export function ownersFolder(archive: string): string {
  return join(archive, "owners");
}

function generationsFolder(archive: string): string {
  return join(archive, "generations");
}

export function generationFolder(archive: string, generation: number): string {
  return join(generationsFolder(archive), numbered(generation));
}

export function recordsFolder(archive: string, generation: number): string {
  return join(generationFolder(archive, generation), "records");
}

export function basesFolder(archive: string, generation: number): string {
  return join(generationFolder(archive, generation), "bases");
}

export function baseFolder(archive: string, generation: number, base: number): string {
  return join(basesFolder(archive, generation), numbered(base));
}

/** How a generation begins. */
export interface GenerationStart {
  /** It has the records after this one. */
  readonly after: RecordNumber;
  /** The store version of the program that wrote the records. */
  readonly storeVersion: number;
}

export function startFile(archive: string, generation: number): string {
  return join(generationFolder(archive, generation), "start.json");
}

/** The archived files of an organization. */
export function archivedFiles(archive: string, realmId: number): string {
  return join(archive, "files", folderOf(realmId));
}

/** An organization that was removed for ever. */
export interface ErasedNote {
  readonly id: number;
  readonly at: number;
}

export function erasedFile(archive: string, realmId: number): string {
  return join(erasedFolder(archive), folderOf(realmId));
}

export function erasedFolder(archive: string): string {
  return join(archive, "erased");
}

export function readErased(archive: string): ErasedNote[] {
  const ids = numbersIn(erasedFolder(archive)).filter((id) => id > 0);
  return ids.map((id) => ({ ...(readJson(erasedFile(archive, id)) as ErasedNote), id }));
}

/** Ascending. */
export function listGenerations(archive: string): number[] {
  return numbersIn(generationsFolder(archive));
}

/** Ascending. */
export function listBases(archive: string, generation: number): number[] {
  return numbersIn(basesFolder(archive, generation));
}

/** Ascending. */
export function listOwners(archive: string): number[] {
  return numbersIn(ownersFolder(archive));
}

/** @throws Error for what is no number: it could lead outside the folder */
export function numbered(number: number): string {
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`${JSON.stringify(number)} is not a number`);
  return String(number).padStart(8, "0");
}

/** A file with some records in a row. */
export interface RecordsFile {
  readonly path: string;
  readonly first: RecordNumber;
  readonly last: RecordNumber;
  readonly owner: number;
  readonly bytes: number;
}

export function recordsFile(folder: string, { first, last, owner }: Pick<RecordsFile, "first" | "last" | "owner">) {
  const [from, to] = [first, last].map((position) => String(position).padStart(15, "0"));
  return join(folder, `${from}-${to}.${numbered(owner)}.records`);
}

/** In the order of their first records. */
export function listRecords(archive: string, generation: number): RecordsFile[] {
  const folder = recordsFolder(archive, generation);
  return namesIn(folder)
    .flatMap((name) => {
      const found = /^(\d+)-(\d+)\.(\d+)\.records$/.exec(name);
      if (found === null) return [];
      const path = join(folder, name);
      const size = statSync(path, { throwIfNoEntry: false })?.size;
      if (size === undefined) return [];
      const [first = 0, last = 0, owner = 0] = found.slice(1).map(Number);
      return [{ path, first, last, owner, bytes: size }];
    })
    .sort((one, other) => one.first - other.first || other.last - one.last);
}

function numbersIn(folder: string): number[] {
  return namesIn(folder)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((one, other) => one - other);
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Makes a file with this content appear as a whole, durably. */
export function publish(path: string, parts: readonly Uint8Array[]): void {
  publishAs(path, (draft) => {
    const file = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      for (const part of parts) for (let done = 0; done < part.length; ) done += writeSync(file, part, done);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  });
}

/** The same for a copy of another file. */
export function publishCopy(path: string, from: string): void {
  publishAs(path, (draft) => {
    copyFileSync(from, draft);
    flushFolderSync(draft);
  });
}

function publishAs(path: string, write: (draft: string) => void): void {
  const draft = `${path}.${randomBytes(6).toString("hex")}${draftSuffix}`;
  try {
    write(draft);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  flushFolderSync(dirname(path));
}

/** Creates a folder of the archive, but never the archive: where it is missing, its disk may not be mounted. */
export function makeFolder(archive: string, folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
  if (folder !== archive && dirname(folder) !== archive) makeFolder(archive, dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
  flushFolderSync(dirname(folder));
}

/** Removes what a process left that was killed while it wrote. */
export function removeDrafts(folder: string): void {
  for (const name of namesIn(folder))
    if (name.endsWith(draftSuffix)) rmSync(join(folder, name), { recursive: true, force: true });
}

export function publishJson(path: string, value: unknown): void {
  publish(path, [Buffer.from(`${JSON.stringify(value)}\n`)]);
}

/** @returns undefined if there is no such file */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
