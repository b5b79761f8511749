/** A log that keeps what is worse than a warning: faults that no answer tells of, because nobody waited for one. */
import { pino } from "pino";
import type { Log } from "../../src/log.ts";

export interface BugLog {
  readonly log: Log;
  /** One JSON text each. */
  readonly lines: readonly string[];
}

export function bugLog(): BugLog {
  const lines: string[] = [];
  const log = pino({ level: "error", base: null }, { write: (line: string) => void lines.push(line) });
  return { log, lines };
}
