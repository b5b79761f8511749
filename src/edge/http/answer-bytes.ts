/**
 * The body of an answer as bytes, encoded piece by piece while it is sent: a long body is never copied as a whole (S3).
 */
import { limits } from "../../../schemas/limits.ts";
import type { Pieces } from "../../runtime/results.ts";

export type AnswerBody = string | Buffer | Pieces;

/** What `write` calls after 0.3 us of choosing an encoding; the typings lack it. */
type Utf8Memory = Buffer & { utf8Write(text: string, at: number): number };

/** A UTF-16 code unit has at most three bytes in UTF-8. */
const memory = Buffer.allocUnsafeSlow(3 * limits.answer_small_bytes_max) as Utf8Memory;

/**
 * Encodes a small body in memory that all answers share: the result is valid until the next call.
 * @returns null if the body has more than `answer_small_bytes_max` bytes
 */
export function encodeSmall(body: AnswerBody): Buffer | null {
  if (Buffer.isBuffer(body)) return body.length <= limits.answer_small_bytes_max ? body : null;
  let size = 0;
  for (const piece of isPieced(body) ? body : [body]) {
    if (size + piece.length > limits.answer_small_bytes_max) return null;
    size = append(piece, size);
  }
  return size <= limits.answer_small_bytes_max ? memory.subarray(0, size) : null;
}

/** @returns the new end */
function append(piece: string | Buffer, at: number): number {
  if (typeof piece === "string") return at + memory.utf8Write(piece, at);
  memory.set(piece, at);
  return at + piece.length;
}

export class AnswerBytes {
  readonly size: number;
  readonly #pieces: readonly (string | Buffer)[];
  /** The first piece that is not yet encoded. */
  #next = 0;
  /** The last encoded chunk, and its offset. */
  #gathered: Buffer = Buffer.alloc(0);
  #start = 0;

  constructor(body: AnswerBody) {
    this.#pieces = isPieced(body) ? body : [body];
    this.size = bodySize(body);
  }

  /** Some of the bytes from `offset` on, which never decreases; null at the end. */
  from(offset: number): Buffer | null {
    while (offset >= this.#start + this.#gathered.length) {
      if (this.#next >= this.#pieces.length) return null;
      this.#start += this.#gathered.length;
      this.#gathered = this.#gather();
    }
    return this.#gathered.subarray(offset - this.#start);
  }

  #gather(): Buffer {
    const gathered: Buffer[] = [];
    let size = 0;
    while (this.#next < this.#pieces.length && size < limits.answer_piece_bytes_min) {
      const piece = this.#pieces[this.#next++] ?? "";
      const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
      gathered.push(bytes);
      size += bytes.length;
    }
    const [only] = gathered;
    return gathered.length === 1 && only !== undefined ? only : Buffer.concat(gathered, size);
  }
}

export function bodySize(body: AnswerBody): number {
  if (!isPieced(body)) return sizeOf(body);
  let size = 0;
  for (const piece of body) size += sizeOf(piece);
  return size;
}

export function isPieced(body: AnswerBody): body is Pieces {
  return Array.isArray(body);
}

export function bodyText(body: AnswerBody): string {
  return isPieced(body) ? body.join("") : String(body);
}

function sizeOf(piece: string | Buffer): number {
  return typeof piece === "string" ? Buffer.byteLength(piece) : piece.length;
}
