/**
 * The log (pino): one JSON object or, with LOG_FORMAT=pretty, text for people, on standard error or in LOG_FILE. It
 * never contains secrets (S2): requests are logged by operation, not by content.
 */

import { constants, openSync } from "node:fs";
import { pino } from "pino";
import { LineWriter } from "./line-writer.ts";

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants;
/** A pipe without a reader fails at once instead of blocking the server. */
const flags = O_APPEND | O_CREAT | O_NONBLOCK | O_WRONLY;
/** Addresses of clients are in it. */
const mode = 0o640;

/** The file of LOG_FILE. It is opened again at SIGHUP, after a program such as logrotate has renamed it. */
export class LogFile {
  readonly #path: string;
  #writer: LineWriter;

  /** @throws Error of the system when the file cannot be opened */
  constructor(path: string) {
    this.#path = path;
    this.#writer = writerTo(path);
  }

  write(line: string): void {
    this.#writer.write(line);
  }

  /**
   * The former file stays in use if the new one cannot be opened.
   * @throws Error of the system
   */
  reopen(): void {
    const former = this.#writer;
    this.#writer = writerTo(this.#path);
    former.close();
  }
}

function writerTo(path: string): LineWriter {
  return new LineWriter(openSync(path, flags, mode), dropNote);
}

/** A line of the log for people (LOG_FORMAT=pretty): time, level, message, other fields, and the stack of an error below. */

const levels: Readonly<Record<number, string>> = {
  10: "TRACE",
  20: "DEBUG",
  30: "INFO",
  40: "WARN",
  50: "ERROR",
  60: "FATAL",
};
const levelWidth = 5;

/** @param line JSON, as pino writes it */
export function prettyLine(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const at = typeof time === "number" ? `${new Date(time).toISOString()} ` : "";
  const name = (levels[Number(level)] ?? String(level)).padEnd(levelWidth);
  const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${shown(value)}`);
  return `${at}${name} ${plain(String(msg ?? ""))}${rest.join("")}${stackOf(err)}\n`;
}

function shown(value: unknown): string {
  return typeof value === "string" && /^[\w.:/@%+*(){}-]+$/.test(value) ? value : plain(JSON.stringify(value));
}

function stackOf(error: unknown): string {
  const { stack, message } = (error ?? {}) as { readonly stack?: unknown; readonly message?: unknown };
  const text = stack ?? message;
  if (text === undefined) return "";
  return String(text)
    .split("\n")
    .map((line) => `\n    ${plain(line.trim())}`)
    .join("");
}

/** A terminal would obey control characters. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

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
