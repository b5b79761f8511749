/**
 * An answer that is a list of JSON parts. It stays in pieces: joining, encoding and copying megabytes would block the
 * event loop (S3), and a short one is copied once, by what sends it.
 */
import type { EncodedAnswer, Pieces } from "../../runtime/results.ts";

/** The JSON around the list, without the braces of the answer. */
export interface ListFrame {
  readonly start: string;
  readonly end: string;
}

const comma = Buffer.from(",");

/** @param parts the pieces of each part; buffers hold UTF-8 */
export function encodedList(parts: readonly Pieces[], { start, end }: ListFrame): EncodedAnswer {
  const pieces: (string | Buffer)[] = [start];
  for (const [index, part] of parts.entries()) {
    if (index > 0) pieces.push(comma);
    pieces.push(...part);
  }
  pieces.push(end);
  return { kind: "encoded", fields: pieces };
}
