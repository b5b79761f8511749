/** A log that keeps entries above warning level: errors that no response reports, because no client was waiting. */
import { pino } from "pino";
import type { Log } from "../../src/log/log.ts";

export interface BugLog {
  readonly log: Log;
  /** One JSON text per line. */
  readonly lines: readonly string[];
}

export function bugLog(): BugLog {
  const lines: string[] = [];
  const write = (line: string) => {
    // Each request that a fault answered has a line with its id, beside the line of the fault.
    if (!line.includes('"msg":"a request was answered with 500')) lines.push(line);
  };
  const log = pino({ level: "error", base: null }, { write });
  return { log, lines };
}
