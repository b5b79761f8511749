/**
 * The owner of a journal's folder: a file `owner.<epoch>`. A new owner takes the folder over by renaming it to the next
 * epoch, which only one process can do; from then on the earlier owner does not find its file and stops (M5). The file
 * says how far its owner got, so that the next one notices when segments are missing.
 */
import {
  closeSync,
  constants,
  existsSync,
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
import { join } from "node:path";
import { takenOver } from "../../store/fence.ts";
import { flushFoldersTo } from "../../store/folders.ts";
import { removed } from "../../store/path-guard.ts";
import { JournalLost, type RecordNumber } from "./journal.ts";
import { listSegments } from "./segments.ts";

/** Written when its owner has created its first segment, or removes older ones. It stays when a later owner cannot start. */
export interface JournalWriterNote {
  readonly epoch: number;
  /** Present if it ended in order: its last record. */
  readonly endedAt?: RecordNumber;
  /** Present until it has created its first segment: older ones may be missing, because the stores have their records. */
  readonly appliedUpTo?: RecordNumber;
}

const noteBytes = 128;

export class JournalWriter {
  readonly folder: string;
  readonly epoch: number;
  readonly #path: string;

  constructor(folder: string, epoch: number) {
    this.folder = folder;
    this.epoch = epoch;
    this.#path = ownerFile(folder, epoch);
  }

  /** @throws JournalLost when another process is the owner by now */
  verify(): void {
    if (statSync(this.#path, { throwIfNoEntry: false }) !== undefined) return;
    const isTakenOver = existsSync(this.folder) && ownerEpochs(this.folder).some((epoch) => epoch > this.epoch);
    const { message } = isTakenOver ? takenOver(this.folder) : removed(this.#path);
    throw new JournalLost("takenOver", message);
  }

  /** The stores have all records up to here. */
  noteApplied(appliedUpTo: RecordNumber): void {
    this.#note({ epoch: this.epoch, appliedUpTo });
  }

  /** Its first segment is durable. */
  noteStart(): void {
    this.#note({ epoch: this.epoch });
  }

  /** All its records are durable, and it writes no more. */
  noteEnd(endedAt: RecordNumber): void {
    this.#note({ epoch: this.epoch, endedAt });
  }

  #note(note: JournalWriterNote): void {
    const file = openSync(this.#path, constants.O_WRONLY);
    try {
      // All notes have one length, so that the disk replaces a note as a whole.
      writeSync(file, `${JSON.stringify(note).padEnd(noteBytes - 1)}\n`, 0);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}

/**
 * Makes this process the owner, durably. The folder is created if it is missing.
 * @returns the owner, and the note of the last one that started; null if there was none or its note is not readable
 */
export function takeOver(folder: string): {
  readonly writer: JournalWriter;
  readonly before: JournalWriterNote | null;
} {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Another process may take the folder over at the same moment. Each attempt meets a newer epoch, so this ends.
  for (;;) {
    const epochs = ownerEpochs(folder);
    const last = epochs.at(-1) ?? null;
    const epoch = 1 + Math.max(last ?? 0, ...listSegments(folder).map((segment) => segment.epoch));
    const claimed = claim(folder, last, epoch);
    if (claimed === null) continue;
    for (const older of epochs.slice(0, -1)) rmSync(ownerFile(folder, older), { force: true });
    flushFoldersTo(folder);
    return { writer: new JournalWriter(folder, epoch), ...claimed };
  }
}

function ownerFile(folder: string, epoch: number): string {
  return join(folder, `owner.${epoch}`);
}

function ownerEpochs(folder: string): number[] {
  return readdirSync(folder)
    .flatMap((name) => /^owner\.(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** @returns null if another process was faster */
function claim(
  folder: string,
  last: number | null,
  epoch: number,
): { readonly before: JournalWriterNote | null } | null {
  const path = ownerFile(folder, epoch);
  try {
    if (last === null) {
      closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
      return { before: null };
    }
    // Opened first, because yet another process may rename it at once.
    const file = openSync(ownerFile(folder, last), "r");
    try {
      renameSync(ownerFile(folder, last), path);
      return { before: parseNote(readFileSync(file, "utf8")) };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === (last === null ? "EEXIST" : "ENOENT")) return null;
    throw error;
  }
}

/** @returns null if the text is no note */
function parseNote(text: string): JournalWriterNote | null {
  try {
    return JSON.parse(text) as JournalWriterNote;
  } catch {
    return null;
  }
}
