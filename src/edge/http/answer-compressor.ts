/**
 * Compresses long JSON answers for clients that accept it (D262). zlib works on threads of the pool; the event loop only
 * encodes the body as UTF-8, a block at a time. Beyond the bounds an answer leaves as it is (S3).
 */

import { constants, createBrotliCompress, createGzip } from "node:zlib";
import { limits } from "../../../schemas/limits.ts";
import { type Coding, chooseCoding } from "./accepted-encoding.ts";
import { type AnswerBody, AnswerBytes, isPieced } from "./answer-bytes.ts";
import { type Header, type HttpReply, varies } from "./reply.ts";

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
  return body.some((piece) => {
    length += piece.length;
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
    const pieces: Buffer[] = [];
    let isWanted = true;
    const finish = (compressed: HttpReply | null) => {
      if (isWanted) onEnd(compressed);
    };
    encoder.on("data", (piece: Buffer) => pieces.push(piece));
    encoder.once("end", () => finish(compressedReply(reply, coding, pieces)));
    encoder.once("error", () => finish(null));
    encoder.once("close", () => {
      this.#answers--;
      this.#bytes -= bytes.size;
    });
    feed(encoder, bytes, () => isWanted);
    // A thread may be inside zlib, so an answer that nobody waits for counts until the end of the block.
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
  const pieces: Buffer[] = [];
  let size = 0;
  while (size < limits.compression_block_bytes) {
    const piece = bytes.from(offset + size);
    if (piece === null) break;
    pieces.push(piece);
    size += piece.length;
  }
  const [only] = pieces;
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces, size);
}

/** A strong tag would promise the same bytes as the plain answer has (RFC 9110, 8.8.1). */
function compressedReply(reply: HttpReply, coding: Coding, body: readonly Buffer[]): HttpReply {
  const headers = reply.headers.map(([name, value]): Header => [name, name === "ETag" ? weak(value) : value]);
  return { ...reply, body, headers: [...headers, ["Content-Encoding", coding]] };
}

function weak(tag: string): string {
  return tag.startsWith("W/") ? tag : `W/${tag}`;
}
