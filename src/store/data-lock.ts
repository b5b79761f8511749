/**
 * One process per data folder. The owner is a row in the root environment, written in a transaction that LMDB makes
 * exclusive across processes; an owner that does not run any more (by process id and its start time) is replaced.
 * Scope: processes that see each other, that is one host and one process namespace.
 */
import { readFileSync } from "node:fs";

export interface Owner {
  readonly pid: number;
  /** Kernel ticks at which the process started: a reused process id has others. */
  readonly startedAt: string;
  readonly bootId: string;
}

export function thisProcess(): Owner {
  return { pid: process.pid, startedAt: startOf(process.pid) ?? "", bootId: currentBootId() };
}

export function isRunning(owner: Owner): boolean {
  if (owner.pid === process.pid) return owner.startedAt === startOf(process.pid);
  if (owner.bootId !== currentBootId()) return false;
  const startedAt = startOf(owner.pid);
  if (startedAt !== null) return startedAt === owner.startedAt;
  return owner.startedAt === "" && answersSignal(owner.pid);
}

/** Field 22 of /proc/<pid>/stat; null when there is no such process or no /proc. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the program's name in parentheses and may hold blanks.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

function currentBootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return "";
  }
}

/** For systems without /proc. */
function answersSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
