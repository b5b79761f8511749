/**
 * File descriptors for connections and for the files of requests (D43). Their numbers stay below a bound, so those above
 * it remain for everything else: journal, stores, the admin listener, mail. The kernel hands out the lowest free number,
 * so the next one shows whether all below the bound are in use.
 */
import { closeSync, openSync, readFileSync } from "node:fs";
import { commonLimits as limits } from "../../schemas/limits/common.ts";

export class Descriptors {
  /** How many the process may have. */
  readonly limit: number;
  /** The first number of the reserve. */
  readonly bound: number;

  constructor(limit: number = softLimit()) {
    this.limit = Math.min(limit, limits.descriptors_max);
    const share = Math.ceil(this.limit * limits.descriptors_reserved_share);
    this.bound = this.limit - Math.min(limits.descriptors_reserved, share);
  }

  /**
   * Whether a file of a request may take one. Costs a few microseconds.
   * @param taken one, if a connection has just taken its own: the lowest that was free
   */
  hasRoom(taken: 0 | 1 = 0): boolean {
    try {
      const next = openSync("/dev/null", "r");
      closeSync(next);
      return next - taken < this.bound;
    } catch (error) {
      // The process or the system has none left. Any other failure says nothing about descriptors.
      return !isOutOfDescriptors(error);
    }
  }
}

/** Those of this process. Node has raised the soft limit to the hard one when it started. */
export const descriptors = new Descriptors();

/** The process, or the system, has no file descriptor left: a passing state, not a fault of the disk. */
export function isOutOfDescriptors(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  // LMDB has no codes.
  return code === "EMFILE" || code === "ENFILE" || (code === undefined && /too many open files/i.test(message));
}

function softLimit(): number {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"));
    return found === null ? Number.POSITIVE_INFINITY : Number(found[1]);
  } catch {
    // Not Linux.
    return Number.POSITIVE_INFINITY;
  }
}
