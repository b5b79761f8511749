// Resources of a process, read from /proc: CPU seconds, PSS and RSS, open-file limit, kernel socket memory. Linux only;
// elsewhere every value is null, reported as "not measured". CPU time has the kernel's resolution of 10 ms.

import { readdirSync, readFileSync } from "node:fs";

/** USER_HZ, the unit of /proc/<pid>/stat: 100 for user space on every Linux architecture that Node runs on. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;
/** The unit of /proc/<pid>/task/<thread>/schedstat. */
const NANOSECONDS_PER_SECOND = 1_000_000_000;

export interface MemoryUse {
  readonly pssBytes: number;
  readonly rssBytes: number;
  /** Without mapped files, such as the pages of a store. */
  readonly anonBytes: number;
}

/**
 * Fields of /proc/<pid>/stat, counted from the process's state: CPU time of the process, and of its children that have
 * exited.
 */
const CPU_FIELDS = { own: [11, 12], ended: [13, 14] } as const;

/** User and system CPU time of all threads of the process so far, in seconds. */
export function readCpuSeconds(pid: number): number | null {
  return readStatSeconds(pid, CPU_FIELDS.own);
}

/** The same of the thread that a program begins with. Node runs JavaScript on it. */
export function readMainThreadSeconds(pid: number): number | null {
  return readStatSeconds(`${pid}/task/${pid}`, CPU_FIELDS.own);
}

/**
 * The same for a process and its descendants (a database has one process per connection). The CPU time of an exited
 * process is added to the parent that waited for it, so the sum never decreases. Null if the process itself has exited.
 */
export function readTreeCpuSeconds(pid: number): number | null {
  const own = readStatSeconds(pid, [...CPU_FIELDS.own, ...CPU_FIELDS.ended]);
  if (own === null) return null;
  return childrenOf(pid).reduce((sum, child) => sum + (readTreeCpuSeconds(child) ?? 0), own);
}

/**
 * Seconds that each thread of a process and of its descendants has wanted a core so far: it ran, or it waited because
 * others ran. Keys name a thread. Empty if the kernel does not tell.
 */
export function readThreadSeconds(pid: number, seconds = new Map<string, number>()): Map<string, number> {
  for (const thread of listThreads(pid)) {
    const times = readText(`/proc/${pid}/task/${thread}/schedstat`);
    if (times === null) continue;
    const [ran = 0, waited = 0] = times.split(" ").map(Number);
    seconds.set(`${pid}/${thread}`, (ran + waited) / NANOSECONDS_PER_SECOND);
  }
  for (const child of childrenOf(pid)) readThreadSeconds(child, seconds);
  return seconds;
}

/** Children that the process's first thread has started, which are all in a program of Node. */
function childrenOf(pid: number): readonly number[] {
  const children = readText(`/proc/${pid}/task/${pid}/children`) ?? "";
  return children
    .split(" ")
    .filter((text) => text !== "")
    .map(Number);
}

function listThreads(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** @param process its folder in /proc */
function readStatSeconds(process: number | string, wanted: readonly number[]): number | null {
  const stat = readText(`/proc/${process}/stat`);
  if (stat === null) return null;
  // The second field is the program's name in parentheses and may contain spaces: count fields after the last
  // parenthesis.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return wanted.reduce((ticks, index) => ticks + Number(fields[index]), 0) / TICKS_PER_SECOND;
}

/** Non-idle CPU time of the whole machine so far, in seconds over all cores. */
export function readMachineCpuSeconds(): number | null {
  const line = readText("/proc/stat")?.split("\n")[0];
  if (line === undefined) return null;
  // cpu user nice system idle iowait irq softirq steal guest guest_nice; guest time is included in user.
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND;
}

/**
 * Proportional and resident memory of the process. Reading walks its page tables: never do it inside a measured window.
 */
export function readMemory(pid: number): MemoryUse | null {
  const rollup = readText(`/proc/${pid}/smaps_rollup`);
  if (rollup === null) return null;
  const bytesOf = (name: string) => kilobytesOf(rollup, name) * 1024;
  return { pssBytes: bytesOf("Pss"), rssBytes: bytesOf("Rss"), anonBytes: bytesOf("Anonymous") };
}

/** TCP buffer memory of the whole machine (both ends of every loopback socket, other programs included). */
export function readKernelSocketBytes(): number | null {
  const sockstat = readText("/proc/net/sockstat");
  const pages = sockstat === null ? undefined : /^TCP:.* mem (\d+)$/m.exec(sockstat)?.[1];
  return pages === undefined ? null : Number(pages) * PAGE_BYTES;
}

/** How many files and sockets the process has open. */
export function countOpenFiles(pid: number): number | null {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return null;
  }
}

/** How many files and sockets this process may have open. */
export function readOpenFilesMax(): number | null {
  const limits = readText("/proc/self/limits");
  const soft = limits === null ? undefined : /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? null : Number(soft);
}

function kilobytesOf(rollup: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(rollup)?.[1] ?? Number.NaN);
}

/**
 * A missing file means that the value cannot be measured here (another system, another account's process, an exited
 * process).
 */
function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
