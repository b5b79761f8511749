/** Checks an LMDB file before it is opened: opening a torn or truncated file would kill the process. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** empty: LMDB creates a new store in it. torn: its head is not LMDB's. short: pages that it refers to are missing. */
export type FileState = "missing" | "empty" | "torn" | "short" | "whole";

/** For messages of the form: path, then this text. */
export const fileFaults: Readonly<Record<Exclude<FileState, "whole">, string>> = {
  missing: "is missing",
  empty: "is empty",
  torn: "is damaged",
  short: "is cut short",
};

const pageBytes = 4096;
/** Offsets in the first two pages, which hold LMDB's meta records. */
const at = { mark: 24, lastPage: 144, transaction: 152 } as const;
const mark = 0xbeefc0de;

export function dataFile(folder: string): string {
  return join(folder, "data.mdb");
}

export function stateOfFile(path: string): FileState {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "missing";
    throw error;
  }
  try {
    const head = Buffer.alloc(2 * pageBytes);
    const read = readSync(file, head, 0, head.length, 0);
    if (read === 0) return "empty";
    const metas = [head.subarray(0, pageBytes), head.subarray(pageBytes)];
    if (read < head.length || metas.some((meta) => meta.readUInt32LE(at.mark) !== mark)) return "torn";
    const [newest] = metas.sort((a, b) =>
      Number(b.readBigUInt64LE(at.transaction) - a.readBigUInt64LE(at.transaction)),
    );
    const pages = (newest?.readBigUInt64LE(at.lastPage) ?? 0n) + 1n;
    return BigInt(fstatSync(file).size) < pages * BigInt(pageBytes) ? "short" : "whole";
  } finally {
    closeSync(file);
  }
}

/** In a data folder: which archive continues it (src/durability/archive/base-chain.ts). A copy of the folder must not continue it, too. */
export const archiveNoteFile = "archive.json";
