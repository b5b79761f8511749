/**
 * Sends a part of a file, piece by piece: the next piece is read when the client took the one before, so that a slow reader holds
 * `download_chunk_bytes` and one that takes nothing for `download_stall_ms_max` is let go (S3, E3).
 */
import type { HttpResponse } from "uWebSockets.js";
import { limits } from "../../schemas/limits.ts";
import type { FileSlice } from "../runtime/calls.ts";
import type { Clock } from "../runtime/clock.ts";
import { StallWatch } from "./stall-watch.ts";

export class FileSender {
  readonly #response: HttpResponse;
  readonly #file: FileSlice;
  readonly #clock: Clock;
  #isOver = false;
  /** Wakes the sender that waits for its client. */
  #wake: () => void = () => undefined;

  constructor(response: HttpResponse, file: FileSlice, clock: Clock) {
    this.#response = response;
    this.#file = file;
    this.#clock = clock;
  }

  /** The client hung up: nothing may be sent any more. */
  abort(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Resolves when all is sent or the client is gone. */
  async send(): Promise<void> {
    const { start, length } = this.#file;
    try {
      let sent = 0;
      while (!this.#isOver) {
        const piece = await this.#file.read(start + sent, Math.min(limits.download_chunk_bytes, length - sent));
        if (piece.length === 0 && !this.#isOver) this.#response.close();
        if (!this.#isOver) await this.#sendPiece(piece, sent);
        sent += piece.length;
      }
    } catch (error) {
      if (!this.#isOver) this.#response.close();
      throw error;
    } finally {
      await this.#file.close();
    }
  }

  async #sendPiece(piece: Buffer, before: number): Promise<void> {
    let taken = false;
    this.#response.cork(() => {
      taken = this.#offer(piece);
    });
    if (taken || this.#isOver) return;
    const watch = new StallWatch(this.#clock, limits.download_stall_ms_max, () => {
      if (!this.#isOver) this.#response.close();
    });
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#response.onWritable((offset) => {
        watch.restart();
        const isTaken = this.#offer(piece.subarray(offset - before));
        if (isTaken) resolve();
        return isTaken;
      });
    });
    watch.stop();
  }

  /** @returns whether the client has taken all that came before */
  #offer(bytes: Buffer): boolean {
    const [isTaken, isDone] = this.#response.tryEnd(bytes, this.#file.length);
    if (isDone) this.#isOver = true;
    return isTaken || isDone;
  }
}
