/**
 * The owner of a data folder: a row in the root, written in a transaction that is exclusive across processes. An owner
 * that is certainly running is never replaced. For a process in another container, the operating system's lock decides
 * if there is one (folder-lock.ts); otherwise the fence lets only the last owner write (fence.ts).
 */
import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

export interface LockHolder {
  readonly pid: number;
  /** Start time of the process in kernel ticks, which distinguishes a reused process id. */
  readonly startedAt: string;
  readonly bootId: string;
  /** The namespace of the process id. */
  readonly pidNamespace: string;
  /** A random token, unique per owner. */
  readonly token: string;
}

export function thisProcess(): LockHolder {
  return {
    pid: process.pid,
    startedAt: statOf("self")?.startedAt ?? "",
    bootId: currentBootId(),
    pidNamespace: currentPidNamespace(),
    token: randomBytes(16).toString("hex"),
  };
}

/** Whether an owner is this very process, possibly with an earlier token. */
export function isThisProcess(owner: LockHolder): boolean {
  return owner.pid === process.pid && isVisible(owner) && owner.startedAt === (statOf("self")?.startedAt ?? "");
}

/** Whether an owner is certainly running. */
export function isRunning(owner: LockHolder): boolean {
  if (!isVisible(owner)) return false;
  const stat = statOf(String(owner.pid));
  if (stat !== null) return stat.isAlive && stat.startedAt === owner.startedAt;
  return owner.startedAt === "" && answersSignal(owner.pid);
}

/** Whether its process id refers to the same process here. */
export function isVisible({ bootId, pidNamespace }: LockHolder): boolean {
  return bootId === currentBootId() && pidNamespace === currentPidNamespace();
}

/** Whether no such process exists here, or it was killed. Its threads may still be exiting. */
export function hasEnded(pid: number): boolean {
  const stat = statOf(String(pid));
  return stat === null ? !answersSignal(pid) : !stat.isAlive;
}

/** States in /proc/<pid>/stat of a process that has exited but was not reaped (zombie, dead). */
const endedStates = new Set(["Z", "X", "x"]);

/** Returns null if there is no such process, or no /proc. */
function statOf(pid: string): { readonly isAlive: boolean; readonly startedAt: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the program's name in parentheses, which may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { isAlive: !endedStates.has(fields[0] ?? ""), startedAt: fields[19] ?? "" };
  } catch {
    return null;
  }
}

export function currentBootId(): string {
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
