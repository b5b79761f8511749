/**
 * Writes lines to a file descriptor so that nothing at the other end can stop the server: a full disk, a reader that is
 * gone, or one that never reads. Lines that cannot be written are dropped and counted, and the count is written as soon
 * as possible.
 */
import { closeSync, fstatSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { limits } from "../../schemas/limits.ts";

export class LineWriter {
  readonly #fd: number;
  readonly #dropNote: (count: number) => string;
  /**
   * null until the first write. A pipe is written without waiting for its reader; everything else is written
   * synchronously.
   */
  #pipe: Socket | "none" | "gone" | null = null;
  #dropped = 0;

  /** @param dropNote builds the line that reports how many lines were dropped before it */
  constructor(fd: number, dropNote: (count: number) => string) {
    this.#fd = fd;
    this.#dropNote = dropNote;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Closes the descriptor. Lines that wait for a reader are lost. */
  close(): void {
    if (this.#pipe instanceof Socket) this.#pipe.destroy();
    else closeSync(this.#fd);
    this.#pipe = "gone";
  }

  /** @param line ends with a line break */
  write(line: string): void {
    const count = this.#dropped;
    if (count > 0 && this.#offer(this.#dropNote(count))) this.#dropped -= count;
    if (!this.#offer(line)) this.#dropped++;
  }

  /** @returns false if the line cannot be written now */
  #offer(line: string): boolean {
    this.#pipe ??= this.#open();
    if (this.#pipe === "gone") return false;
    if (this.#pipe === "none") return this.#writeNow(line);
    const waiting = this.#pipe.writableLength + Buffer.byteLength(line);
    if (waiting > limits.log_waiting_bytes_max) return false;
    this.#pipe.write(line);
    return true;
  }

  #writeNow(line: string): boolean {
    try {
      writeSync(this.#fd, line);
      return true;
    } catch {
      return false;
    }
  }

  #open(): Socket | "none" | "gone" {
    try {
      const status = fstatSync(this.#fd);
      if (!status.isFIFO() && !status.isSocket()) return "none";
      const pipe = new Socket({ fd: this.#fd, readable: false, writable: true });
      pipe.on("error", () => {
        this.#pipe = "gone";
      });
      // A reader that never reads must not keep the process alive.
      pipe.unref();
      return pipe;
    } catch {
      return "gone";
    }
  }
}
