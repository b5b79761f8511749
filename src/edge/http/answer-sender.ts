/**
 * Sends the rest of an answer as fast as the client reads. The bytes stay here, because uWebSockets.js would buffer
 * any number of answers of a connection: while one is unsent, the next request on the connection closes it (pitfalls
 * 2.2).
 *
 * Compresses long JSON answers for clients that accept it (D262). zlib works on threads of the pool; the event loop
 * only encodes the body as UTF-8, a block at a time. Beyond the bounds an answer leaves as it is (S3).
 */

import { constants, createBrotliCompress, createGzip } from "node:zlib";
import { limits } from "../../../schemas/limits.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { TransportResponse } from "../transport/transport.ts";
import { type Coding, chooseCoding } from "./accepted-encoding.ts";
import {
  type AnswerBody,
  AnswerBytes,
  type FileSlice,
  type Header,
  type HttpReply,
  isPieced,
  varies,
} from "./reply.ts";

type Encoder = ReturnType<typeof createBrotliCompress | typeof createGzip>;

const chunkSize = limits.compressed_piece_bytes;

/** The fastest levels: further ones take several times the time, to save a fifth of the bytes at most. */
const encoders: Readonly<Record<Coding, () => Encoder>> = {
  br: () => createBrotliCompress({ chunkSize, params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  gzip: () => createGzip({ chunkSize, level: 1 }),
};

/** Brotli first: at its fastest it makes a JSON answer smaller than gzip does, in less time. */
const offered: readonly Coding[] = ["br", "gzip"];

/** Whether it is long and JSON: files, pages and pictures have a type of their own. */
export function isCompressible({ body, contentType, file }: HttpReply): boolean {
  return isLong(body) && contentType === undefined && file === undefined;
}

function isLong(body: AnswerBody): boolean {
  if (!isPieced(body)) return body.length >= limits.compressed_length_min;
  let length = 0;
  return body.some((part) => {
    length += part.length;
    return length >= limits.compressed_length_min;
  });
}

/** The answer of a resource whose form depends on the request. */
export function varied(reply: HttpReply): HttpReply {
  return { ...reply, headers: [...reply.headers, varies] };
}

/** @returns null if the client gets the plain answer */
export function codingFor(accepted: string): Coding | null {
  return chooseCoding(accepted, offered);
}

export class AnswerCompressor {
  readonly #answersMax: number;
  readonly #bytesMax: number;
  #answers = 0;
  #bytes = 0;

  constructor(answersMax: number = limits.compressions_max, bytesMax: number = limits.compression_bytes_max) {
    this.#answersMax = answersMax;
    this.#bytesMax = bytesMax;
  }

  /** How many answers are being compressed. */
  get count(): number {
    return this.#answers;
  }

  /**
   * @param onEnd called once, later, unless the returned function was called; null: zlib failed
   * @returns stops the work; null: the answer leaves as it is
   */
  begin(reply: HttpReply, accepted: string, onEnd: (compressed: HttpReply | null) => void): (() => void) | null {
    if (this.#answers >= this.#answersMax) return null;
    const coding = codingFor(accepted);
    if (coding === null) return null;
    const bytes = new AnswerBytes(reply.body);
    if (this.#bytes + bytes.size > this.#bytesMax) return null;
    this.#answers++;
    this.#bytes += bytes.size;
    const encoder = encoders[coding]();
    const chunks: Buffer[] = [];
    let isWanted = true;
    const finish = (compressed: HttpReply | null) => {
      if (isWanted) onEnd(compressed);
    };
    encoder.on("data", (chunk: Buffer) => chunks.push(chunk));
    encoder.once("end", () => finish(compressedReply(reply, coding, chunks)));
    encoder.once("error", () => finish(null));
    encoder.once("close", () => {
      this.#answers--;
      this.#bytes -= bytes.size;
    });
    feed(encoder, bytes, () => isWanted);
    // A thread may be inside zlib, so an answer that no client awaits counts until the end of the block.
    return () => {
      isWanted = false;
    };
  }
}

/** Gives the next block when the one before it is compressed. */
function feed(encoder: Encoder, bytes: AnswerBytes, isWanted: () => boolean, offset = 0): void {
  const block = blockAt(bytes, offset);
  const next = offset + block.length;
  if (block.length === 0 || next >= bytes.size) {
    encoder.end(block);
    return;
  }
  encoder.write(block, () => {
    if (!isWanted()) encoder.destroy();
    else if (!encoder.destroyed) feed(encoder, bytes, isWanted, next);
  });
}

function blockAt(bytes: AnswerBytes, offset: number): Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  while (size < limits.compression_block_bytes) {
    const chunk = bytes.from(offset + size);
    if (chunk === null) break;
    chunks.push(chunk);
    size += chunk.length;
  }
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, size);
}

/** A strong tag would promise the same bytes as the plain answer has (RFC 9110, 8.8.1). */
function compressedReply(reply: HttpReply, coding: Coding, body: readonly Buffer[]): HttpReply {
  const headers = reply.headers.map(([name, value]): Header => [name, name === "ETag" ? weak(value) : value]);
  return { ...reply, body, headers: [...headers, ["Content-Encoding", coding]] };
}

function weak(tag: string): string {
  return tag.startsWith("W/") ? tag : `W/${tag}`;
}

/**
 * Sends a part of a file in chunks: the next chunk is read when the client has read the previous one. A slow reader
 * holds
 * `download_chunk_bytes`, and one that reads nothing for `download_stall_ms_max` is disconnected (S3, E3).
 */
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
        const chunk = await this.#file.read(start + sent, Math.min(limits.download_chunk_bytes, length - sent));
        if (chunk.length === 0 && !this.#isOver) this.#response.close();
        if (!this.#isOver) await this.#sendChunk(chunk, sent);
        sent += chunk.length;
      }
    } catch (error) {
      if (!this.#isOver) this.#response.close();
      throw error;
    } finally {
      await this.#file.close();
    }
  }

  async #sendChunk(chunk: Buffer, before: number): Promise<void> {
    let taken = false;
    this.#response.cork(() => {
      taken = this.#offer(chunk);
    });
    if (taken || this.#isOver) return;
    const watch = new StallWatch(this.#clock, limits.download_stall_ms_max, () => {
      if (!this.#isOver) this.#response.close();
    });
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#response.onWritable((offset) => {
        watch.restart();
        const isTaken = this.#offer(chunk.subarray(offset - before));
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

/** Closes the connection of a client that reads too little of its answer in a given time (S3, E3). */
export class StallWatch {
  readonly #clock: Clock;
  readonly #milliseconds: number;
  readonly #onStall: () => void;
  #cancel: () => void;

  constructor(clock: Clock, milliseconds: number, onStall: () => void) {
    this.#clock = clock;
    this.#milliseconds = milliseconds;
    this.#onStall = onStall;
    this.#cancel = clock.after(milliseconds, onStall);
  }

  /** The client has read something: restart the time-out. */
  restart(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(this.#milliseconds, this.#onStall);
  }

  stop(): void {
    this.#cancel();
  }
}

export interface SendingOptions {
  readonly response: TransportResponse;
  readonly bytes: AnswerBytes;
  /** Whether the client has read everything it was given so far. */
  readonly isTaken: boolean;
  readonly clock: Clock;
  /** Called once: when everything was read, or the connection is closed. */
  readonly onEnd: () => void;
}

export class AnswerSender {
  readonly #watch: StallWatch;
  readonly #onEnd: () => void;
  #isOver = false;

  constructor({ response, bytes, isTaken, clock, onEnd }: SendingOptions) {
    this.#onEnd = onEnd;
    this.#watch = new StallWatch(clock, limits.unsent_stall_ms_max, () => {
      if (!this.#isOver) response.close();
    });
    let mark = 0;
    const goOn = (offset: number): boolean => {
      if (offset - mark >= limits.unsent_progress_bytes_min) {
        mark = offset;
        this.#watch.restart();
      }
      const { isTaken, isDone } = offer(response, bytes, offset);
      if (isDone) this.end();
      else if (isTaken) soon();
      return isTaken || isDone;
    };
    // A client that reads everything at once gets more in a later iteration of the event loop.
    const soon = () =>
      clock.soon(() => {
        if (!this.#isOver) response.cork(() => void goOn(response.getWriteOffset()));
      });
    response.onWritable(goOn);
    if (isTaken) soon();
  }

  /** The client disconnected or has everything: nothing may be sent any more. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watch.stop();
    this.#onEnd();
  }
}

/** Offered when everything was offered before and the client has read it since. */
const nothing = Buffer.alloc(0);

/** Sends bytes from `offset` on, as many as the client takes and one iteration of the event loop may send. */
export function offer(response: TransportResponse, bytes: AnswerBytes, offset: number) {
  let at = offset;
  const end = offset + limits.answer_bytes_per_pass_max;
  let isTaken = true;
  let isDone = false;
  while (isTaken && !isDone && at < end) {
    const chunk = bytes.from(at) ?? nothing;
    [isTaken, isDone] = response.tryEnd(chunk, bytes.size);
    at += chunk.length;
  }
  return { isTaken, isDone };
}
