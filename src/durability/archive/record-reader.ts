/**
 * Reads the records of a generation of an archive. Names say which records a file has, so a missing or short file is
 * noticed. Where files overlap, those of the newest owner count: an earlier owner may have continued to write after it
 * had been replaced.
 */
import { readFileSync } from "node:fs";
import type { Recorded, RecordNumber } from "../journal/journal.ts";
import { frameBytes, frameHeaderBytes, frameMemory, readFrame } from "../journal/record.ts";
import { listRecords, type RecordsFile } from "./layout.ts";

/** Archived data cannot be read back, or was never archived. The message is the line to print. */
export class ArchiveDamaged extends Error {
  override readonly name = "ArchiveDamaged";
}

/** Files whose last records count only up to `last`, without those that do not count at all; in order. */
export function validFiles(files: readonly RecordsFile[]): RecordsFile[] {
  const starts = new Map<number, RecordNumber>();
  for (const { owner, first } of files) starts.set(owner, Math.min(first, starts.get(owner) ?? first));
  return files.flatMap((file) => {
    let last = file.last;
    for (const [owner, start] of starts) if (owner > file.owner) last = Math.min(last, start - 1);
    return last < file.first ? [] : [{ ...file, last }];
  });
}

/** Files that do not count, or whose records are all in another file: a process that was killed left them. */
export function superfluousFiles(files: readonly RecordsFile[]): RecordsFile[] {
  const valid = new Map(validFiles(files).map((file) => [file.path, file]));
  const counted = [...valid.values()];
  return files.filter((file) => {
    const own = valid.get(file.path);
    return own === undefined || counted.some((other) => other.path !== own.path && contains(other, own));
  });
}

function contains(one: RecordsFile, other: RecordsFile): boolean {
  const isSame = one.first === other.first && one.last === other.last;
  return isSame ? one.owner > other.owner : one.first <= other.first && one.last >= other.last;
}

/** The last record up to which nothing is missing. */
export function lastWithoutGap(files: readonly RecordsFile[], from: RecordNumber): RecordNumber {
  let last = from - 1;
  for (const file of validFiles(files)) if (file.first <= last + 1) last = Math.max(last, file.last);
  return last;
}

/** A running server may replace files by one that has the records of all of them. */
const attempts_max = 20;

/**
 * The records from a position on, in order.
 * @throws ArchiveDamaged when one is missing or damaged
 */
export function* archivedRecords(archive: string, generation: number, from: RecordNumber): Generator<Recorded> {
  let next = from;
  let attempts = 0;
  let files = validFiles(listRecords(archive, generation));
  for (;;) {
    const file = fileWith(files, next);
    if (file === undefined) {
      const after = files.find(({ first }) => first > next);
      if (after === undefined) return;
      // The list may be older than a file that replaced others.
      if (attempts++ === 0) {
        files = validFiles(listRecords(archive, generation));
        continue;
      }
      throw new ArchiveDamaged(
        `Records ${next} to ${after.first - 1} are missing before ${after.path}. Put the missing files back, or choose another time.`,
      );
    }
    const records = readRecords(file);
    if (records === null) {
      if (++attempts > attempts_max) throw damaged(file, 0, "it disappears again and again");
      files = validFiles(listRecords(archive, generation));
      continue;
    }
    attempts = 0;
    for (const record of records) if (record.position >= next && record.position <= file.last) yield record;
    next = file.last + 1;
  }
}

function fileWith(files: readonly RecordsFile[], position: RecordNumber): RecordsFile | undefined {
  const having = files.filter(({ first, last }) => first <= position && last >= position);
  return having.reduce<RecordsFile | undefined>(
    (best, file) => (best === undefined || file.last > best.last ? file : best),
    undefined,
  );
}

/**
 * All records of a file.
 * @returns null if the file is gone
 * @throws ArchiveDamaged
 */
export function readRecords(file: Pick<RecordsFile, "path" | "first">): Recorded[] | null {
  const bytes = bytesOf(file);
  return bytes === null ? null : recordsIn(bytes, file);
}

/** @throws ArchiveDamaged when the bytes are not the frames that the file's name says */
export function recordsIn(bytes: Uint8Array, file: Pick<RecordsFile, "path" | "first">): Recorded[] {
  const last = Number(/-(\d+)\.\d+\.records$/.exec(file.path)?.[1]);
  const memory = frameMemory(bytes);
  const records: Recorded[] = [];
  let offset = 0;
  for (let position = file.first; position <= last; position++) {
    const frame = readFrame(memory, offset);
    if (frame?.kind !== "record" || frame.position !== position) {
      throw damaged(file, offset, `record ${position} is not whole`);
    }
    const start = offset + frameHeaderBytes;
    records.push({ position, realmId: frame.realmId, bytes: bytes.subarray(start, start + frame.recordBytes) });
    offset += frameBytes(frame.recordBytes);
  }
  if (offset !== bytes.length) throw damaged(file, offset, `${bytes.length - offset} bytes are left over`);
  return records;
}

/**
 * The bytes of a file that must be there.
 * @throws ArchiveDamaged
 */
export function wholeBytes(file: RecordsFile): Uint8Array {
  const bytes = bytesOf(file);
  if (bytes === null) throw damaged(file, 0, "it is missing");
  recordsIn(bytes, file);
  return bytes;
}

export function isWhole(file: RecordsFile): boolean {
  try {
    wholeBytes(file);
    return true;
  } catch (error) {
    if (error instanceof ArchiveDamaged) return false;
    throw error;
  }
}

function bytesOf(file: Pick<RecordsFile, "path">): Uint8Array | null {
  try {
    return readFileSync(file.path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw damaged(file, 0, `it cannot be read (${(error as Error).message})`);
  }
}

function damaged({ path }: Pick<RecordsFile, "path">, offset: number, what: string): ArchiveDamaged {
  return new ArchiveDamaged(
    `${path} is damaged at offset ${offset}: ${what}. Put the file back, or choose an earlier time.`,
  );
}
