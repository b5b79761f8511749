/**
 * The log (pino): one JSON object or, with LOG_FORMAT=pretty, text for people, on standard error or in LOG_FILE. It
 * never contains secrets (S2): requests are logged by operation, not by content.
 */
import { pino } from "pino";
import { LineWriter } from "./line-writer.ts";
import { prettyLine } from "./pretty-line.ts";

export const logFormats = ["json", "pretty"] as const;
export type LogFormat = (typeof logFormats)[number];

export type Log = ReturnType<typeof createLog>;

interface Lines {
  write(line: string): void;
}

export function dropNote(count: number): string {
  return `{"level":40,"dropped":${count},"msg":"log lines could not be written"}\n`;
}

export function createLog(level: string, format: LogFormat = "json", lines: Lines = new LineWriter(2, dropNote)) {
  const shown = format === "json" ? lines : { write: (line: string) => lines.write(prettyLine(line)) };
  return pino({ level, base: null }, shown);
}
