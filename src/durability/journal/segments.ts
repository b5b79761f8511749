/**
 * The files of a journal: `<epoch>-<sequence>.journal`. A segment has its full size, written with zeros and flushed,
 * and a durable header before it gets its name, so that a flush of records changes nothing but their bytes. Spares are
 * segments without a place yet. A process writes only to files that it created: an earlier owner that still runs cannot
 * harm the files of the next one.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
  writevSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { crc32c } from "@node-rs/crc32";
import { commonLimits as limits } from "../../../schemas/limits/common.ts";
import { isOutOfDescriptors } from "../../store/descriptors.ts";
import { flushFolderSync } from "../../store/folders.ts";
import { PathGuard } from "../../store/path-guard.ts";
import type { RecordNumber } from "./journal.ts";
import { getInteger, setInteger } from "./record.ts";

export interface SegmentName {
  /** The epoch of the owner that created it. */
  readonly epoch: number;
  /** Counts the segments of an owner, from 1. */
  readonly sequence: number;
}

export interface SegmentHead extends SegmentName {
  /** Position of its first record. */
  readonly start: RecordNumber;
  /** Size of the file. */
  readonly capacity: number;
  /** Records up to here need not be kept, so the segments that held them may be gone. */
  readonly released: RecordNumber;
}

export const segmentHeadBytes = 64;
const headMark = 0xff6a_6801;
const at = { checksum: 0, mark: 4, epoch: 8, sequence: 16, start: 24, capacity: 32, released: 40 } as const;

export function encodeHead(head: SegmentHead): Uint8Array {
  const bytes = new Uint8Array(segmentHeadBytes);
  const view = new DataView(bytes.buffer);
  view.setUint32(at.mark, headMark, true);
  for (const field of ["epoch", "sequence", "start", "capacity", "released"] as const) {
    setInteger(view, at[field], head[field]);
  }
  view.setUint32(at.checksum, crc32c(bytes.subarray(at.mark)), true);
  return bytes;
}

/** @returns null if the bytes are no header */
export function decodeHead(bytes: Uint8Array): SegmentHead | null {
  if (bytes.length < segmentHeadBytes) return null;
  const head = bytes.subarray(0, segmentHeadBytes);
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (view.getUint32(at.mark, true) !== headMark) return null;
  if (view.getUint32(at.checksum, true) !== crc32c(head.subarray(at.mark))) return null;
  return {
    epoch: getInteger(view, at.epoch),
    sequence: getInteger(view, at.sequence),
    start: getInteger(view, at.start),
    capacity: getInteger(view, at.capacity),
    released: getInteger(view, at.released),
  };
}

export function segmentFile({ epoch, sequence }: SegmentName): string {
  return `${String(epoch).padStart(8, "0")}-${String(sequence).padStart(12, "0")}.journal`;
}

/** In the order in which they were written: by owner, then by sequence. */
export function listSegments(folder: string): SegmentName[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const found = /^(\d+)-(\d+)\.journal$/.exec(name);
      return found === null ? [] : [{ epoch: Number(found[1]), sequence: Number(found[2]) }];
    })
    .sort((a, b) => a.epoch - b.epoch || a.sequence - b.sequence);
}

/** Spares of earlier owners. */
export function removeSpares(folder: string): void {
  for (const name of readdirSync(folder)) if (name.endsWith(".spare")) rmSync(join(folder, name), { force: true });
}

/** The segment that is being written. */
export class OpenSegment {
  readonly path: string;
  head: SegmentHead;
  readonly #file: number;
  readonly #place: PathGuard;
  /** Descriptors for `flushBeside` that are free; null before its first call. */
  #free: number[] | null = null;
  #isClosed = false;

  /** @param file a descriptor of the file at the path */
  constructor(path: string, head: SegmentHead, file: number) {
    this.path = path;
    this.head = head;
    this.#file = file;
    this.#place = new PathGuard(path);
  }

  write(parts: readonly Uint8Array[], offset: number): void {
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    const written = writevSync(this.#file, parts, offset);
    if (written !== bytes) throw new Error(`${written} of ${bytes} bytes could be written to ${this.path}`);
  }

  flush(): void {
    fdatasyncSync(this.#file);
  }

  /**
   * Flushes what is written, in libuv's pool, beside at most `journal_flushes_max` - 1 others. Each has a descriptor of
   * its own, because the kernel reports a failed write once to each: a flush that ends well covers all that was written
   * before it began, whatever another one reports. Without free descriptors it flushes at once.
   */
  async flushBeside(): Promise<void> {
    this.#free ??= this.#openMore(limits.journal_flushes_max);
    const file = this.#free?.pop();
    if (file === undefined) {
      this.flush();
      return;
    }
    try {
      await flushFile(file);
    } finally {
      if (this.#isClosed) closeSync(file);
      else this.#free?.push(file);
    }
  }

  /** All before the first is used: one that is opened after an error was reported does not report it. */
  #openMore(count: number): number[] | null {
    const files: number[] = [];
    try {
      while (files.length < count) files.push(openSync(this.path, constants.O_RDWR));
      this.verify();
      return files;
    } catch (error) {
      for (const file of files) closeSync(file);
      if (isOutOfDescriptors(error)) return null;
      throw error;
    }
  }

  noteReleased(released: RecordNumber): void {
    this.head = { ...this.head, released };
    this.write([encodeHead(this.head)], 0);
    this.flush();
  }

  /** @throws OwnershipLost when the file is not the one at its path any more */
  verify(): void {
    this.#place.verify();
  }

  close(): void {
    this.#isClosed = true;
    for (const file of [this.#file, ...(this.#free ?? [])]) closeSync(file);
  }
}

const flushFile = promisify(fdatasync);

export interface PoolSizes {
  readonly segmentBytes: number;
  readonly sparesMax: number;
  readonly spareStepBytes: number;
}

/** Creates segments, and keeps released ones as spares. */
export class SegmentPool {
  readonly #folder: string;
  readonly #epoch: number;
  readonly #sizes: PoolSizes;
  readonly #spares: string[] = [];
  #unfinished: ZeroedFile | null = null;
  /** The disk or the process had no room for a spare: none is made until the next segment is opened. */
  #isOutOfRoom = false;
  #names = 0;

  constructor(folder: string, epoch: number, sizes: PoolSizes) {
    this.#folder = folder;
    this.#epoch = epoch;
    this.#sizes = sizes;
  }

  /** Makes an empty segment, durably. While the process has no file descriptor left, it waits for one. */
  open(head: SegmentHead): OpenSegment {
    this.#isOutOfRoom = false;
    for (let waitedMs = 0; ; waitedMs += descriptorPauseMs) {
      try {
        return this.#open(head);
      } catch (error) {
        if (!isOutOfDescriptors(error) || waitedMs >= limits.journal_descriptor_wait_ms_max) throw error;
        pause(descriptorPauseMs);
      }
    }
  }

  #open(head: SegmentHead): OpenSegment {
    const spare = this.#emptyFile(head.capacity);
    let file: number | null = null;
    try {
      file = openSync(spare, constants.O_RDWR);
      const header = encodeHead(head);
      writeSync(file, header, 0, header.length, 0);
      fdatasyncSync(file);
      const path = join(this.#folder, segmentFile(head));
      renameSync(spare, path);
      flushFolderSync(this.#folder);
      return new OpenSegment(path, head, file);
    } catch (error) {
      if (file !== null) closeSync(file);
      rmSync(spare, { force: true });
      throw error;
    }
  }

  /** Whether `prepareStep` has something to do. */
  get lacksSpare(): boolean {
    return this.#spares.length === 0 && !this.#isOutOfRoom;
  }

  /** Writes a part of a spare. On a full disk this ends until the next segment is opened: no record waits for a spare. */
  prepareStep(): void {
    try {
      this.#unfinished ??= this.#createFile(this.#sizes.segmentBytes);
      if (!this.#unfinished.step(this.#sizes.spareStepBytes)) return;
      this.#spares.push(this.#unfinished.path);
      this.#unfinished = null;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOSPC" && code !== "EDQUOT" && !isOutOfDescriptors(error)) throw error;
      this.#unfinished?.remove();
      this.#unfinished = null;
      this.#isOutOfRoom = true;
    }
  }

  /** Takes a segment back that holds nothing of use. The caller flushes the folder before the next `open`. */
  recycle({ epoch, sequence, capacity }: SegmentHead): void {
    const path = join(this.#folder, segmentFile({ epoch, sequence }));
    const isOurs = epoch === this.#epoch && capacity === this.#sizes.segmentBytes;
    if (!isOurs || this.#spares.length >= this.#sizes.sparesMax) rmSync(path);
    else {
      const spare = this.#spareName();
      renameSync(path, spare);
      this.#spares.push(spare);
    }
  }

  close(): void {
    this.#unfinished?.remove();
    this.#unfinished = null;
  }

  #emptyFile(capacity: number): string {
    const isUsual = capacity === this.#sizes.segmentBytes;
    const spare = isUsual ? this.#spares.pop() : undefined;
    if (spare !== undefined) return spare;
    const file = (isUsual ? this.#unfinished : null) ?? this.#createFile(capacity);
    if (file === this.#unfinished) this.#unfinished = null;
    file.step(capacity);
    return file.path;
  }

  #createFile(capacity: number): ZeroedFile {
    return new ZeroedFile(this.#spareName(), capacity);
  }

  #spareName(): string {
    return join(this.#folder, `${this.#epoch}-${++this.#names}.spare`);
  }
}

/** A file that is filled with zeros and flushed in steps, so that each delays the next flush of records only a little. */
class ZeroedFile {
  readonly path: string;
  readonly #file: number;
  readonly #capacity: number;
  #written = 0;

  constructor(path: string, capacity: number) {
    this.path = path;
    this.#capacity = capacity;
    this.#file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  }

  /** @returns whether it has its full size, and is closed */
  step(bytes: number): boolean {
    const end = Math.min(this.#capacity, this.#written + bytes);
    const zeros = new Uint8Array(Math.min(end - this.#written, zerosBytes));
    while (this.#written < end)
      this.#written += writeSync(this.#file, zeros, 0, Math.min(zeros.length, end - this.#written));
    fdatasyncSync(this.#file);
    const isWritten = this.#written === this.#capacity;
    if (isWritten) closeSync(this.#file);
    return isWritten;
  }

  remove(): void {
    closeSync(this.#file);
    rmSync(this.path, { force: true });
  }
}

const zerosBytes = 1024 * 1024;

const descriptorPauseMs = 20;

/** Blocks this thread, which has nothing else to do. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
