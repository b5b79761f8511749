/** Addresses on the web that people type in: links in profiles, where outgoing webhooks post to. */
import { limits } from "../../schemas/limits.ts";
import { codePoints } from "./text.ts";

/** Whether it is an absolute http or https address, written out, of at most `url_code_points_max`. */
export function isWebAddress(text: string): boolean {
  // The parser forgives blanks, line breaks and missing slashes; whoever follows the link later may not.
  if (!/^https?:\/\/[^\s\\/]/i.test(text) || /[\s\p{Cc}]/u.test(text)) return false;
  return codePoints(text) <= limits.url_code_points_max && URL.canParse(text);
}
