/**
 * Writes an archive: copies durable records, and the uploaded files that they claim, from a data folder. It works
 * synchronously, in a thread of its own (archive-thread.ts). After an error it can be asked again: what was published
 * stays, and nothing else counts.
 */
import { closeSync, constants, existsSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { archiveLimits as limits } from "../../../schemas/limits/archive.ts";
import { flushFolderSync } from "../../store/folders.ts";
import { formatMark, requireMark, storeVersion } from "../../store/migrations.ts";
import { JournalDamaged, type RecordNumber } from "../journal/journal.ts";
import { SegmentTail } from "../journal/segment-tail.ts";
import { type BaseChain, readChain, writeChain } from "./base-chain.ts";
import { type BaseNote, readBaseNotes } from "./base-manifest.ts";
import {
  type ArchiveIdentity,
  basesFolder,
  type ErasedNote,
  erasedFile,
  erasedFolder,
  type GenerationStart,
  identityFile,
  listGenerations,
  listOwners,
  listRecords,
  makeFolder,
  namesIn,
  numbered,
  ownersFolder,
  publish,
  publishJson,
  type RecordsFile,
  readJson,
  recordsFile,
  recordsFolder,
  removeDrafts,
  startFile,
} from "./layout.ts";
import {
  ArchiveDamaged,
  isWhole,
  lastWithoutGap,
  recordsIn,
  superfluousFiles,
  validFiles,
  wholeBytes,
} from "./record-reader.ts";
import { archiveUpload, filesClaimedBy } from "./uploads.ts";

/** This process must not write the archive any more, or never could. */
export class ArchiveTaken extends Error {
  override readonly name = "ArchiveTaken";
}

export interface ArchivePlaces {
  readonly archive: string;
  readonly dataDir: string;
  readonly journal: string;
}

export interface ArchiveSizes {
  readonly fileBytes: number;
  readonly smallFilesMax: number;
}

const usualSizes: ArchiveSizes = {
  fileBytes: limits.archive_file_bytes,
  smallFilesMax: limits.archive_small_files_max,
};

/** How far the archive is. */
export interface ArchiveProgress {
  readonly owner: number;
  readonly generation: number;
  /** The generation has the records after this one. */
  readonly start: RecordNumber;
  readonly upTo: RecordNumber;
}

interface Generation {
  readonly number: number;
  readonly start: RecordNumber;
}

const ignored = new Set(["lost+found"]);

export class ArchiveWriter {
  readonly #places: ArchivePlaces;
  readonly #sizes: ArchiveSizes;
  readonly #tail: SegmentTail;
  /** Null until this process has claimed the archive. */
  #chain: BaseChain | null = null;
  #generation: Generation | null = null;
  #upTo: RecordNumber = 0;
  /** The last files, which are small: many of them are replaced by one. */
  #small: RecordsFile[] = [];

  constructor(places: ArchivePlaces, sizes = usualSizes) {
    this.#places = places;
    this.#sizes = sizes;
    this.#tail = new SegmentTail(places.journal);
  }

  /**
   * Copies the records up to a position, or begins a generation after it if there is one missing.
   * @param isFresh whether the journal has forgotten records that the archive does not have
   * @param onProgress called after each file
   * @throws ArchiveTaken, or Error when the archive cannot be written now
   */
  copy(upTo: RecordNumber, isFresh: boolean, onProgress: (progress: ArchiveProgress) => void): ArchiveProgress {
    const chain = this.#claimed();
    this.verify();
    if (isFresh || this.#generation === null || this.#upTo > upTo) return this.#begin(chain, upTo);
    while (this.#upTo < upTo) {
      try {
        this.#copyOnce(upTo);
      } catch (error) {
        // The journal does not have them any more, or the archive is damaged: what follows needs new bases.
        if (error instanceof JournalDamaged || error instanceof ArchiveDamaged) return this.#begin(chain, upTo);
        throw error;
      }
      onProgress(this.progress);
    }
    return this.progress;
  }

  /**
   * Later times do not have these organizations.
   * @throws as `copy` does
   */
  noteErased(erased: readonly ErasedNote[]): void {
    const { archive } = this.#places;
    this.#claimed();
    this.verify();
    const missing = erased.filter(({ id }) => !existsSync(erasedFile(archive, id)));
    if (missing.length > 0) makeFolder(archive, erasedFolder(archive));
    for (const { id, at } of missing) publishJson(erasedFile(archive, id), { id, at } satisfies ErasedNote);
  }

  /** Only after a `copy`. */
  get progress(): ArchiveProgress {
    const { number, start } = this.#generation as Generation;
    return { owner: this.#chain?.owner ?? 0, generation: number, start, upTo: this.#upTo };
  }

  /** The bases of the present generation. */
  bases(): BaseNote[] {
    return this.#generation === null ? [] : readBaseNotes(this.#places.archive, this.#generation.number);
  }

  /** @throws ArchiveTaken when another process writes the archive by now */
  verify(): void {
    const { archive } = this.#places;
    const owners = listOwners(archive);
    const own = this.#chain?.owner ?? 0;
    const newest = owners.at(-1) ?? 0;
    if (newest > own) throw new ArchiveTaken(`another process writes ${archive} by now`);
    if (newest < own) throw new Error(`${archive} is not the archive that this process writes: is its disk mounted?`);
  }

  #claimed(): BaseChain {
    if (this.#chain !== null) return this.#chain;
    const { archive, dataDir } = this.#places;
    if (statSync(archive, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new Error(`there is no folder ${archive}`);
    }
    const before = readChain(dataDir);
    this.#identify(before);
    const last = listOwners(archive).at(-1) ?? 0;
    const owner = this.#takeNumber(last);
    const generation = last === before.owner ? this.#generationOf(before) : null;
    const chain = { id: before.id, owner, generation: generation?.number ?? null, storeVersion };
    writeChain(dataDir, chain);
    this.#generation = generation;
    if (generation !== null) this.#continue(generation);
    this.#chain = chain;
    return chain;
  }

  #identify(before: BaseChain): void {
    const { archive, dataDir } = this.#places;
    removeDrafts(archive);
    const known = readJson(identityFile(archive)) as ArchiveIdentity | undefined;
    if (known !== undefined) {
      requireMark(archive, known.format);
      if (known.id === before.id) return;
      throw new ArchiveTaken(`${archive} is the archive of another data folder: choose an empty folder`);
    }
    if (namesIn(archive).some((name) => !ignored.has(name))) {
      throw new ArchiveTaken(`${archive} is not empty and is not an archive: choose an empty folder`);
    }
    writeChain(dataDir, before);
    publishJson(identityFile(archive), { format: formatMark, id: before.id } satisfies ArchiveIdentity);
  }

  /** Numbers the owners; each number is taken once. */
  #takeNumber(last: number): number {
    const folder = ownersFolder(this.#places.archive);
    makeFolder(this.#places.archive, folder);
    const owner = last + 1;
    const file = openSync(
      join(folder, numbered(owner)),
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
      0o600,
    );
    try {
      writeSync(file, `${JSON.stringify({ pid: process.pid })}\n`);
    } finally {
      closeSync(file);
    }
    flushFolderSync(folder);
    for (const older of listOwners(this.#places.archive)) {
      if (older < owner) rmSync(join(folder, numbered(older)), { force: true });
    }
    return owner;
  }

  #generationOf(before: BaseChain): Generation | null {
    const { archive } = this.#places;
    const last = listGenerations(archive).at(-1);
    if (last === undefined || last !== before.generation || before.storeVersion !== storeVersion) return null;
    const found = readJson(startFile(archive, last)) as GenerationStart | undefined;
    return found === undefined ? null : { number: last, start: found.after };
  }

  #continue({ number, start }: Generation): void {
    const { archive } = this.#places;
    removeDrafts(recordsFolder(archive, number));
    removeDrafts(basesFolder(archive, number));
    for (const { path } of superfluousFiles(listRecords(archive, number))) rmSync(path, { force: true });
    const files = validFiles(listRecords(archive, number));
    this.#upTo = lastWithoutGap(files, start + 1);
    const last = files.find((file) => file.last === this.#upTo);
    if (last !== undefined && !isWhole(last)) {
      // Its records are copied again, into a file of this owner, which counts instead of it.
      this.#upTo = last.first - 1;
      files.splice(files.indexOf(last));
    }
    const large = files.findLastIndex((file) => file.bytes >= this.#sizes.fileBytes);
    this.#small = files.slice(large + 1);
  }

  #begin(chain: BaseChain, upTo: RecordNumber): ArchiveProgress {
    const { archive, dataDir } = this.#places;
    const number = (listGenerations(archive).at(-1) ?? 0) + 1;
    makeFolder(archive, recordsFolder(archive, number));
    makeFolder(archive, basesFolder(archive, number));
    publishJson(startFile(archive, number), { after: upTo, storeVersion } satisfies GenerationStart);
    this.#chain = { ...chain, generation: number };
    writeChain(dataDir, this.#chain);
    this.#generation = { number, start: upTo };
    this.#upTo = upTo;
    this.#small = [];
    return this.progress;
  }

  #copyOnce(upTo: RecordNumber): void {
    const { archive, dataDir } = this.#places;
    const { number } = this.#generation as Generation;
    const { bytes, first, last } = this.#tail.read(this.#upTo + 1, upTo, this.#sizes.fileBytes);
    const owner = this.#chain?.owner ?? 0;
    const file = { first, last, owner, bytes: bytes.length };
    const path = recordsFile(recordsFolder(archive, number), file);
    for (const { realmId, bytes: record } of recordsIn(bytes, { path, first })) {
      for (const name of filesClaimedBy(record)) archiveUpload(archive, dataDir, realmId, name);
    }
    this.verify();
    publish(path, [bytes]);
    this.#upTo = last;
    this.#small.push({ ...file, path });
    this.#join();
  }

  /** Replaces the small files by one, so that the archive has few of them. */
  #join(): void {
    const small = this.#small;
    const bytes = small.reduce((sum, file) => sum + file.bytes, 0);
    const { fileBytes, smallFilesMax } = this.#sizes;
    if (small.length < 2 || (small.length < smallFilesMax && bytes < fileBytes)) return;
    const { archive } = this.#places;
    const [first] = small as [RecordsFile];
    const owner = this.#chain?.owner ?? 0;
    const parts = small.map((file) => wholeBytes(file));
    const joined = { first: first.first, last: this.#upTo, owner, bytes };
    const path = recordsFile(recordsFolder(archive, this.#generation?.number ?? 0), joined);
    publish(path, parts);
    for (const file of small) rmSync(file.path, { force: true });
    this.#small = bytes < fileBytes ? [{ ...joined, path }] : [];
  }
}
