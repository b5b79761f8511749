/**
 * Parses untrusted JSON. Strings with lone surrogates are rejected: they would not survive a round trip through the
 * store (MessagePack is UTF-8), and memory must never differ from disk (M9). Deep nesting and too many values are
 * rejected before anything is built: they take many times as long as other text of the same size, and nesting could
 * exhaust the stack of code that walks the value (S3).
 */
import { limits } from "./limits.ts";

/** How many values a request or a frame may still contain, over all its texts. Below zero it had too many. */
export interface ValueBudget {
  left: number;
}

export function newValueBudget(): ValueBudget {
  return { left: limits.json_values_max };
}

/**
 * Returns undefined if the text is not JSON, exceeds a bound, or contains an ill-formed string. JSON itself has no
 * undefined.
 */
export function parseJson(text: string, budget: ValueBudget = newValueBudget()): unknown {
  if (!fits(text, budget)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
  // The text was decoded from UTF-8, so only an escape sequence can contain a lone surrogate.
  return /\\u[dD][89a-fA-F]/.test(text) && !isWellFormed(value) ? undefined : value;
}

const sign = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  backslash: 0x5c,
  openArray: 0x5b,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
};

/**
 * Counts the signs that separate values, and ignores those within strings. Example: `[1,{"a":2}]` has five: the array,
 * 1, the object, its name and 2.
 */
function fits(text: string, budget: ValueBudget): boolean {
  let depth = 0;
  let left = budget.left - 1;
  let isInString = false;
  for (let at = 0; at < text.length && left >= 0; at++) {
    const code = text.charCodeAt(at);
    if (code === sign.quote) isInString = !isInString;
    else if (isInString) at += code === sign.backslash ? 1 : 0;
    else if (code === sign.openArray || code === sign.openObject) {
      depth++;
      left--;
      if (depth > limits.json_nesting_max) return false;
    } else if (code === sign.closeArray || code === sign.closeObject) depth--;
    else if (code === sign.comma || code === sign.colon) left--;
  }
  budget.left = left;
  return left >= 0;
}

const loneSurrogate = /\p{Cs}/u;

function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return !loneSurrogate.test(value);
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, inner]) => !loneSurrogate.test(name) && isWellFormed(inner));
}
