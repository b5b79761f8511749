/**
 * An answer that is a list of parts, each of them JSON. A short one is one text. A long one stays in pieces: to join megabytes, to encode
 * them as UTF-8 and to copy them would hold the loop each time (S3).
 */
import { limits } from "../../schemas/limits.ts";
import type { EncodedAnswer, PiecedAnswer, Pieces } from "./calls.ts";

/** What stands around the list, without the braces of the answer. */
export interface ListFrame {
  readonly start: string;
  readonly end: string;
}

/** @param parts those in a buffer are UTF-8 */
export function encodedList(parts: Pieces, { start, end }: ListFrame): EncodedAnswer | PiecedAnswer {
  let length = 0;
  for (const part of parts) length += part.length;
  if (length <= limits.answer_small_bytes_max) {
    return { kind: "encoded", fields: `${start}${parts.join(",")}${end}` };
  }
  return {
    kind: "pieced",
    pieces: [start, ...parts.flatMap((part, index) => (index === 0 ? part : [",", part])), end],
  };
}
