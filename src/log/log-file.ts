/** The file of LOG_FILE. It is opened again at SIGHUP, after a program such as logrotate has renamed it. */
import { constants, openSync } from "node:fs";
import { LineWriter } from "./line-writer.ts";
import { dropNote } from "./log.ts";

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants;
/** A pipe without a reader fails at once instead of blocking the server. */
const flags = O_APPEND | O_CREAT | O_NONBLOCK | O_WRONLY;
/** Addresses of clients are in it. */
const mode = 0o640;

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
