/** What a text becomes when it is written as a message, or kept as one that is not sent yet (behaviour 5.1). */
import { limits } from "../../schemas/limits.ts";
import { codePoints, truncate } from "./text.ts";

const truncationMark = "\n[message truncated]";

/** Trailing blanks go, what is too long is cut. */
export function cutContent(raw: string): string {
  const content = raw.trimEnd();
  if (codePoints(content) <= limits.message_code_points_max) return content;
  return truncate(content, limits.message_code_points_max - truncationMark.length) + truncationMark;
}
