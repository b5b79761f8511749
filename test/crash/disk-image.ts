/**
 * What a disk may hold after a power cut: everything that was flushed before, and of the rest whatever the disk got to: all,
 * nothing, some writes and not others, writes torn between sectors. Names of files are entries of their folder: they are safe when
 * the folder was flushed, no sooner.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DiskOp, Recording } from "./disk-trace.ts";

/** What no disk tears: pages are written in these. */
const sectorBytes = 512;

/** What becomes of what was asked for and not flushed. */
export const fates = ["lost", "kept", "some", "torn", "last torn"] as const;
export type Fate = (typeof fates)[number];

export interface Cut {
  /** The line of the trace after which nothing happens any more. */
  readonly line: number;
  readonly fate: Fate;
  /** 0 to 1, for what is left to chance. */
  readonly random: () => number;
}

interface File {
  bytes: Buffer;
  size: number;
}

/** Writes into an empty folder. @returns how many writes were not flushed yet */
export function layImage({ ops, folders }: Recording, { line, fate, random }: Cut, target: string): number {
  const begun = ops.filter(({ start, kind }) => start <= line && kind !== "flush");
  const isSafe = safety(ops, line);
  const last = begun.findLast((op) => !isSafe(op));
  const files = new Map<number, File>();
  const entries = new Map<number, Map<string, number>>();
  let pending = 0;
  for (const op of begun) {
    const safe = isSafe(op);
    if (!safe) pending++;
    apply(op, safe ? "kept" : fateOf(op, op === last, fate, random), { files, entries, random });
  }
  layFolder(target, 0, { files, entries, folders });
  return pending;
}

/** Flushed: by a flush that began when it was done and ended before the cut, or by itself. */
function safety(ops: readonly DiskOp[], line: number): (op: DiskOp) => boolean {
  const flushedAt = new Map<number, number>();
  for (const op of ops) {
    if (op.kind === "flush" && op.end <= line) flushedAt.set(op.of, Math.max(op.start, flushedAt.get(op.of) ?? 0));
  }
  return (op) => op.end < (flushedAt.get(op.of) ?? 0) || (op.kind === "data" && op.isSync && op.end <= line);
}

function fateOf(op: DiskOp, isLast: boolean, fate: Fate, random: () => number): "lost" | "kept" | "torn" {
  const coin = random();
  if (fate === "lost" || fate === "kept") return fate;
  if (fate === "last torn") return isLast ? "torn" : "kept";
  if (fate === "torn" && op.kind === "data") return coin < 0.3 ? "lost" : coin < 0.6 ? "kept" : "torn";
  return coin < 0.5 ? "lost" : "kept";
}

interface Disk {
  readonly files: Map<number, File>;
  readonly entries: Map<number, Map<string, number>>;
  readonly random: () => number;
}

function apply(op: DiskOp, fate: "lost" | "kept" | "torn", { files, entries, random }: Disk): void {
  if (fate === "lost" || op.kind === "flush") return;
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
    if (fate === "kept" || random() < 0.5) op.bytes.copy(file.bytes, at, at - op.offset, next - op.offset);
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
