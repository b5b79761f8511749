/** URLs that users enter: links in profiles, targets of outgoing webhooks. */
import { limits } from "../schemas/limits.ts";
import { codePoints } from "./text.ts";

/** Whether it is a complete http or https URL of at most `url_code_points_max`. */
export function isWebAddress(text: string): boolean {
  // The parser tolerates spaces, line breaks and missing slashes; clients that open the link may not.
  if (!/^https?:\/\/[^\s\\/]/i.test(text) || /[\s\p{Cc}]/u.test(text)) return false;
  return codePoints(text) <= limits.url_code_points_max && URL.canParse(text);
}
