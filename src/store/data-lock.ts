/**
 * Who owns a data folder: a row in the root, written in a transaction that LMDB makes exclusive across processes. An owner that
 * certainly runs is never replaced. Whether a process of another container runs, nobody can see from here: the lock of the
 * operating system tells where there is one (folder-lock.ts); beyond that the fence lets only the last owner write (fence.ts).
 */
import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

export interface Owner {
  readonly pid: number;
  /** Kernel ticks at which the process started: a reused process id has others. */
  readonly startedAt: string;
  readonly bootId: string;
  /** Where its process id means something; absent in rows of older programs. */
  readonly pidNamespace?: string;
  /** Random: no two owners share one. Absent in rows of older programs. */
  readonly token?: string;
}

export function thisProcess(): Owner {
  return {
    pid: process.pid,
    startedAt: statOf("self")?.startedAt ?? "",
    bootId: currentBootId(),
    pidNamespace: currentPidNamespace(),
    token: randomBytes(16).toString("hex"),
  };
}

/** Whether an owner is this very process, under an earlier token perhaps. */
export function isThisProcess(owner: Owner): boolean {
  return owner.pid === process.pid && isVisible(owner) && owner.startedAt === (statOf("self")?.startedAt ?? "");
}

/** Whether an owner runs for certain. */
export function isRunning(owner: Owner): boolean {
  if (!isVisible(owner)) return false;
  const stat = statOf(String(owner.pid));
  if (stat !== null) return stat.isAlive && stat.startedAt === owner.startedAt;
  return owner.startedAt === "" && answersSignal(owner.pid);
}

/** Whether its process id means the same process here. */
export function isVisible({ bootId, pidNamespace }: Owner): boolean {
  return bootId === currentBootId() && (pidNamespace ?? currentPidNamespace()) === currentPidNamespace();
}

/** Whether there is no such process here, or it was killed. Its threads may still be ending. */
export function hasEnded(pid: number): boolean {
  const stat = statOf(String(pid));
  return stat === null ? !answersSignal(pid) : !stat.isAlive;
}

/** States of /proc/<pid>/stat of a process that has ended and waits for its parent (zombie, dead). */
const endedStates = new Set(["Z", "X", "x"]);

/** null when there is no such process or no /proc. */
function statOf(pid: string): { readonly isAlive: boolean; readonly startedAt: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the program's name in parentheses and may hold blanks.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { isAlive: !endedStates.has(fields[0] ?? ""), startedAt: fields[19] ?? "" };
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

function currentPidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
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
