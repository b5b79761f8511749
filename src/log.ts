/**
 * The log (pino): JSON lines on stderr. It never contains secrets (S2): requests are logged by operation, not by
 * content.
 */
import { pino } from "pino";
import { LineWriter } from "./line-writer.ts";

export type Log = ReturnType<typeof createLog>;

export function createLog(level: string) {
  const note = (count: number) => `{"level":40,"dropped":${count},"msg":"log lines could not be written"}\n`;
  return pino({ level, base: null }, new LineWriter(2, note));
}
