/**
 * Sends a part of a file in chunks: the next chunk is read when the client has read the previous one. A slow reader
 * holds
 * `download_chunk_bytes`, and one that reads nothing for `download_stall_ms_max` is disconnected (S3, E3).
 */

import { limits } from "../../../schemas/limits.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { TransportResponse } from "../transport/transport.ts";
import type { FileSlice } from "./reply.ts";
import { StallWatch } from "./stall-watch.ts";

export class FileSender {
  readonly #response: TransportResponse;
  readonly #file: FileSlice;
  readonly #clock: Clock;
  #isOver = false;
  /** Wakes the sender that waits for its client. */
  #wake: () => void = () => undefined;

  constructor(response: TransportResponse, file: FileSlice, clock: Clock) {
    this.#response = response;
    this.#file = file;
    this.#clock = clock;
  }

  /** The client disconnected: nothing may be sent any more. */
  abort(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Resolves when everything was sent or the client is gone. */
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

  /** @returns whether the client has read everything sent before */
  #offer(bytes: Buffer): boolean {
    const [isTaken, isDone] = this.#response.tryEnd(bytes, this.#file.length);
    if (isDone) this.#isOver = true;
    return isTaken || isDone;
  }
}
