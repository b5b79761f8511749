/**
 * The body of an answer as bytes, encoded piece by piece while it is sent: a long body is never copied as a whole (S3).
 */
import { limits } from "../../schemas/limits.ts";
import type { AnswerBody } from "./calls.ts";
import type { Pieces } from "./results.ts";

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
