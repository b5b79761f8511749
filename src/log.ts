/** The log (pino): JSON lines on stderr. Secrets never come here (S2): requests are logged by operation, not by content. */
import { destination, pino } from "pino";

export type Log = ReturnType<typeof createLog>;

export function createLog(level: string) {
  return pino({ level, base: null }, destination({ fd: 2, sync: true }));
}
