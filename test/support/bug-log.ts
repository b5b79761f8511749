/** A log that keeps entries above warning level: errors that no response reports, because no client was waiting. */
import { pino } from "pino";
import type { Log } from "../../src/log.ts";

export interface BugLog {
  readonly log: Log;
  /** One JSON text per line. */
  readonly lines: readonly string[];
}

export function bugLog(): BugLog {
  const lines: string[] = [];
  const log = pino({ level: "error", base: null }, { write: (line: string) => void lines.push(line) });
  return { log, lines };
}
