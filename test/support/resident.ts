/** The memory of a process, as the kernel counts it. */
import { readFileSync } from "node:fs";

/** Resident memory without files, in MiB. */
export function residentMib(pid: number): number {
  const found = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  if (found === null) throw new Error(`no RssAnon of process ${pid}`);
  return Number(found[1]) / 1024;
}
