/**
 * An answer that is a list of JSON parts. A short one is joined into one string. A long one stays in pieces: joining,
 * encoding and copying megabytes would block the event loop (S3).
 */
import { limits } from "../../schemas/limits.ts";
import type { EncodedAnswer, Pieces } from "./results.ts";

/** The JSON around the list, without the braces of the answer. */
export interface ListFrame {
  readonly start: string;
  readonly end: string;
}

/** @param parts parts that are buffers hold UTF-8 */
export function encodedList(parts: Pieces, { start, end }: ListFrame): EncodedAnswer {
  let length = 0;
  for (const part of parts) length += part.length;
  if (length <= limits.answer_small_bytes_max) {
    return { kind: "encoded", fields: `${start}${parts.join(",")}${end}` };
  }
  const separated = parts.flatMap((part, index) => (index === 0 ? part : [",", part]));
  return { kind: "encoded", fields: [start, ...separated, end] };
}
