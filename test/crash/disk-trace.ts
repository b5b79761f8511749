/**
 * Reads a trace of system calls (strace -f -xx) as disk operations: bytes written at offsets, sizes, folder entries and
 * flushes; and as network traffic, so that a response can be placed between them.
 */
import { dirname } from "node:path";
import { type Call, parseTrace } from "./trace.ts";

/** Options with which strace records calls whole (-s) and without loss (-xx). */
export const diskFlags = [
  "-xx",
  "-s",
  "1048576",
  "-e",
  "trace=openat,close,lseek,write,writev,pwrite64,pwritev,pwritev2,ftruncate,fallocate,fdatasync,fsync,sync_file_range,msync,mmap,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,recvfrom,sendto,sendmsg",
];

interface Timed {
  /** Line numbers of the trace: the call's start and its end. */
  readonly start: number;
  readonly end: number;
}

/** Files and folders have numbers, because names change. */
export type DiskOp = Timed &
  (
    | {
        readonly kind: "data";
        readonly of: number;
        readonly offset: number;
        readonly bytes: Buffer;
        readonly isSync: boolean;
      }
    | { readonly kind: "size"; readonly of: number; readonly size: number }
    /** A folder's entries, changed together; null: removed. */
    | { readonly kind: "entries"; readonly of: number; readonly changes: readonly (readonly [string, number | null])[] }
    | { readonly kind: "flush"; readonly of: number }
  );

export interface Wire extends Timed {
  /** Counts the processes of the recording. */
  readonly process: number;
  readonly fd: number;
  readonly isSent: boolean;
  readonly text: string;
}

export interface Recording {
  /** Ordered by their start. */
  readonly ops: readonly DiskOp[];
  readonly wires: readonly Wire[];
  /** Numbers of folders; the data folder is 0. */
  readonly folders: ReadonlySet<number>;
  /** The first line of each process. */
  readonly starts: readonly number[];
}

interface Opened {
  readonly file: number;
  readonly isSync: boolean;
  readonly isLock: boolean;
  offset: number;
}

/** Calls that change a file in ways that are not modelled here. None of them may touch the data folder. */
const unfollowed = new Set([
  "fallocate",
  "sync_file_range",
  "msync",
  "renameat",
  "renameat2",
  "link",
  "linkat",
  "unlinkat",
  "mkdirat",
  "pwritev2",
]);

/** Calls on files and folders only. */
const ofFiles = new Set(["pwrite64", "pwritev", "fsync", "fdatasync"]);

/**
 * @param traces of processes that ran one after the other; their lines are counted through
 * @param dataDir was empty when the first trace started
 * @throws Error for a call on the data folder that is not understood
 */
export function readDiskTrace(traces: readonly string[], dataDir: string): Recording {
  const reader = new DiskTraceReader(dataDir);
  const starts: number[] = [];
  let lines = 0;
  for (const trace of traces) {
    const first = lines;
    starts.push(first);
    reader.startProcess();
    for (const call of parseTrace(trace)) reader.take({ ...call, start: first + call.start, end: first + call.end });
    lines += trace.split("\n").length;
  }
  return {
    ops: reader.ops.sort((a, b) => a.start - b.start),
    wires: reader.wires,
    folders: reader.folders,
    starts,
  };
}

class DiskTraceReader {
  readonly ops: DiskOp[] = [];
  readonly wires: Wire[] = [];
  readonly folders = new Set([0]);
  readonly #dataDir: string;
  readonly #numbers = new Map<string, number>();
  readonly #opened = new Map<number, Opened>();
  /** Descriptors of files and folders outside the data folder. */
  readonly #openedElsewhere = new Set<number>();
  #count = 0;
  #processes = 0;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#numbers.set(dataDir, 0);
  }

  /** Nothing is open. */
  startProcess(): void {
    this.#processes++;
    this.#opened.clear();
    this.#openedElsewhere.clear();
  }

  take(call: Call): void {
    const result = Number(/\) += (-?\d+)[^=]*$/.exec(call.text.slice(-200))?.[1] ?? -1);
    if (result < 0) return;
    const fd = Number(/^\d+/.exec(call.text)?.[0] ?? -1);
    const opened = this.#opened.get(fd);
    if (opened !== undefined) this.#onFile(call, opened, result);
    else if (call.name === "mmap") this.#map(call.text);
    else if (ofFiles.has(call.name) && !this.#openedElsewhere.has(fd))
      throw new Error(`${call.name} on descriptor ${fd}, which nothing is known about`);
    else if (["recvfrom", "sendto", "sendmsg", "write", "writev"].includes(call.name)) this.#onWire(call, fd);
    else this.#onPath(call, result);
    if (call.name === "close") {
      this.#opened.delete(fd);
      this.#openedElsewhere.delete(fd);
    }
  }

  #onFile(call: Call, opened: Opened, result: number): void {
    const { start, end, name, text } = call;
    const write = (offset: number) => {
      const bytes = Buffer.concat(stringsOf(text)).subarray(0, result);
      if (bytes.length !== result) throw new Error(`${name} of ${result} bytes shows ${bytes.length}`);
      if (!opened.isLock)
        this.ops.push({ kind: "data", of: opened.file, offset, bytes, isSync: opened.isSync, start, end });
      return offset + result;
    };
    if (name === "write" || name === "writev") opened.offset = write(opened.offset);
    else if (name === "pwrite64" || name === "pwritev") write(Number(/, (\d+)\) += \d+$/.exec(text.slice(-60))?.[1]));
    else if (name === "lseek") opened.offset = result;
    else if (name === "fsync" || name === "fdatasync") this.ops.push({ kind: "flush", of: opened.file, start, end });
    else if (name === "ftruncate") {
      this.ops.push({ kind: "size", of: opened.file, size: Number(/, (\d+)\)/.exec(text)?.[1]), start, end });
    } else if (name !== "close") throw new Error(`${name} on a file of the data folder is not understood`);
  }

  /** LMDB writes by calls, not through memory: writes to a mapping appear in no trace. */
  #map(text: string): void {
    const fd = Number(/, (\d+), [^,]*\) += /.exec(text)?.[1] ?? -1);
    const opened = this.#opened.get(fd);
    if (opened !== undefined && !opened.isLock && text.includes("PROT_WRITE") && text.includes("MAP_SHARED")) {
      throw new Error("a file of the data folder is mapped for writing");
    }
  }

  #onWire({ name, text, start, end }: Call, fd: number): void {
    const bytes = Buffer.concat(stringsOf(text)).toString("latin1");
    this.wires.push({ fd, process: this.#processes, isSent: name !== "recvfrom", text: bytes, start, end });
  }

  #onPath(call: Call, result: number): void {
    const { name, text, start, end } = call;
    const paths = stringsOf(text).map((bytes) => bytes.toString("utf8"));
    const [path = "", other = ""] = paths;
    if (!paths.some((each) => each === this.#dataDir || each.startsWith(`${this.#dataDir}/`))) {
      if (name === "openat") this.#openedElsewhere.add(result);
      return;
    }
    if (unfollowed.has(name)) throw new Error(`${name} in the data folder is not understood`);
    if (name === "openat") this.#open(call, path, result);
    else if (name === "mkdir") this.folders.add(this.#enter(path, start, end));
    else if (name === "unlink" || name === "rmdir") {
      this.#changeEntries(dirname(path), [[nameOf(path), null]], start, end);
      this.#numbers.delete(path);
    } else if (name === "rename") {
      if (dirname(path) !== dirname(other)) throw new Error("a rename into another folder is not understood");
      const moved = this.#numberOf(path);
      this.#changeEntries(
        dirname(path),
        [
          [nameOf(path), null],
          [nameOf(other), moved],
        ],
        start,
        end,
      );
      this.#numbers.delete(path);
      this.#numbers.set(other, moved);
      this.#moveWithin(path, other);
    }
  }

  /** A folder's contents move with it. */
  #moveWithin(folder: string, other: string): void {
    for (const [path, number] of [...this.#numbers]) {
      if (!path.startsWith(`${folder}/`)) continue;
      this.#numbers.delete(path);
      this.#numbers.set(other + path.slice(folder.length), number);
    }
  }

  #open({ text, start, end }: Call, path: string, fd: number): void {
    const flags = /, (O_[A-Z_|]+)/.exec(text)?.[1] ?? "";
    let file = this.#numbers.get(path);
    if (file === undefined) file = this.#enter(path, start, end);
    else if (flags.includes("O_TRUNC")) this.ops.push({ kind: "size", of: file, size: 0, start, end });
    const isLock = path.endsWith("/lock.mdb");
    this.#opened.set(fd, { file, isSync: /O_D?SYNC/.test(flags), isLock, offset: 0 });
  }

  #enter(path: string, start: number, end: number): number {
    const made = ++this.#count;
    this.#numbers.set(path, made);
    this.#changeEntries(dirname(path), [[nameOf(path), made]], start, end);
    return made;
  }

  #changeEntries(
    folder: string,
    changes: readonly (readonly [string, number | null])[],
    start: number,
    end: number,
  ): void {
    this.ops.push({ kind: "entries", of: this.#numberOf(folder), changes, start, end });
  }

  #numberOf(path: string): number {
    const found = this.#numbers.get(path);
    if (found === undefined) throw new Error("a path of the data folder was never created");
    return found;
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Every string of a call, as bytes. @throws Error when strace truncated one */
function stringsOf(text: string): Buffer[] {
  const found: Buffer[] = [];
  for (const match of text.matchAll(/"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?/g)) {
    if (match[2] !== undefined) throw new Error("the trace shows a text only in part");
    found.push(Buffer.from((match[1] ?? "").replaceAll("\\x", ""), "hex"));
  }
  return found;
}

/** Segments of the journal that got their place, and how many of these files had been a segment before. */
export function countSegments({ ops }: Recording): { readonly filled: number; readonly reused: number } {
  const used = new Set<number>();
  let filled = 0;
  let reused = 0;
  for (const op of ops) {
    if (op.kind !== "entries") continue;
    for (const [name, of] of op.changes) {
      if (of === null || !name.endsWith(".journal")) continue;
      filled++;
      if (used.has(of)) reused++;
      used.add(of);
    }
  }
  return { filled, reused };
}
