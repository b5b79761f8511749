/**
 * Possible contents of a disk after a power cut: everything flushed before it, and any part of the other writes: all,
 * none, some, or writes torn between sectors. A file name is an entry of its folder, so it is durable only after the
 * folder is flushed.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DiskOp, Recording } from "./disk-trace.ts";

/** A disk never tears a sector. */
const sectorBytes = 512;

/** The fate of writes that were requested but not flushed. */
export const writeOutcomes = ["lost", "kept", "some", "torn", "last torn"] as const;
export type WriteOutcome = (typeof writeOutcomes)[number];

export interface Cut {
  /** The last line of the trace that was executed before the cut. */
  readonly line: number;
  readonly outcome: WriteOutcome;
  /** 0 to 1, for random choices. */
  readonly random: () => number;
}

interface File {
  bytes: Buffer;
  size: number;
}

/** Writes the image into an empty folder. @returns how many writes were not flushed yet */
export function layImage({ ops, folders }: Recording, { line, outcome, random }: Cut, target: string): number {
  const begun = ops.filter(({ start, kind }) => start <= line && kind !== "flush");
  const isSafe = safety(ops, line);
  const last = begun.findLast((op) => !isSafe(op));
  const files = new Map<number, File>();
  const entries = new Map<number, Map<string, number>>();
  let pending = 0;
  for (const op of begun) {
    const safe = isSafe(op);
    if (!safe) pending++;
    apply(op, safe ? "kept" : outcomeOf(op, op === last, outcome, random), { files, entries, random });
  }
  layFolder(target, 0, { files, entries, folders });
  return pending;
}

/** Whether an operation is durable: a flush started after it and ended before the cut, or it flushed itself. */
function safety(ops: readonly DiskOp[], line: number): (op: DiskOp) => boolean {
  const flushedAt = new Map<number, number>();
  for (const op of ops) {
    if (op.kind === "flush" && op.end <= line) flushedAt.set(op.of, Math.max(op.start, flushedAt.get(op.of) ?? 0));
  }
  return (op) => op.end < (flushedAt.get(op.of) ?? 0) || (op.kind === "data" && op.isSync && op.end <= line);
}

function outcomeOf(op: DiskOp, isLast: boolean, outcome: WriteOutcome, random: () => number): "lost" | "kept" | "torn" {
  const coin = random();
  if (outcome === "lost" || outcome === "kept") return outcome;
  if (outcome === "last torn") return isLast ? "torn" : "kept";
  if (outcome === "torn" && op.kind === "data") return coin < 0.3 ? "lost" : coin < 0.6 ? "kept" : "torn";
  return coin < 0.5 ? "lost" : "kept";
}

interface Disk {
  readonly files: Map<number, File>;
  readonly entries: Map<number, Map<string, number>>;
  readonly random: () => number;
}

function apply(op: DiskOp, outcome: "lost" | "kept" | "torn", { files, entries, random }: Disk): void {
  if (outcome === "lost" || op.kind === "flush") return;
  if (op.kind === "entries") {
    const folder = entries.get(op.of) ?? new Map<string, number>();
    entries.set(op.of, folder);
    for (const [name, of] of op.changes) {
      if (of === null) folder.delete(name);
      else folder.set(name, of);
    }
    return;
  }
  const file = files.get(op.of) ?? { bytes: Buffer.alloc(0), size: 0 };
  files.set(op.of, file);
  if (op.kind === "size") {
    file.bytes.fill(0, Math.min(op.size, file.bytes.length));
    file.size = op.size;
    return;
  }
  const end = op.offset + op.bytes.length;
  if (end > file.bytes.length) {
    const grown = Buffer.alloc(end * 2);
    file.bytes.copy(grown);
    file.bytes = grown;
  }
  file.size = Math.max(file.size, end);
  for (let at = op.offset; at < end; ) {
    const next = Math.min(end, (Math.floor(at / sectorBytes) + 1) * sectorBytes);
    if (outcome === "kept" || random() < 0.5) op.bytes.copy(file.bytes, at, at - op.offset, next - op.offset);
    at = next;
  }
}

type Tree = Pick<Disk, "files" | "entries"> & Pick<Recording, "folders">;

function layFolder(path: string, folder: number, tree: Tree): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const [name, of] of tree.entries.get(folder) ?? []) {
    const file = tree.files.get(of);
    if (tree.folders.has(of)) layFolder(join(path, name), of, tree);
    else writeFileSync(join(path, name), file?.bytes.subarray(0, file.size) ?? "", { mode: 0o600 });
  }
}
