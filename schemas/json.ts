/**
 * Parses untrusted JSON. Strings with lone surrogates are rejected: they would not survive a round trip through the
 * store (MessagePack is UTF-8), and memory must never differ from disk (M9). Deep nesting is rejected before parsing,
 * because it takes many times as long as other text of the same size and could exhaust the stack of code that walks the
 * value (S3).
 */
import { limits } from "./limits.ts";

/**
 * Returns undefined if the text is not JSON, nests too deeply, or contains an ill-formed string. JSON itself has no
 * undefined.
 */
export function parseJson(text: string): unknown {
  if (nestsTooDeep(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
  // The text was decoded from UTF-8, so only an escape sequence can contain a lone surrogate.
  return /\\u[dD][89a-fA-F]/.test(text) && !isWellFormed(value) ? undefined : value;
}

const sign = { quote: 0x22, backslash: 0x5c, openArray: 0x5b, closeArray: 0x5d, openObject: 0x7b, closeObject: 0x7d };

/** Ignores brackets within strings. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === sign.quote) isInString = !isInString;
    else if (isInString) at += code === sign.backslash ? 1 : 0;
    else if (code === sign.openArray || code === sign.openObject) {
      depth++;
      if (depth > limits.json_nesting_max) return true;
    } else if (code === sign.closeArray || code === sign.closeObject) depth--;
  }
  return false;
}

const loneSurrogate = /\p{Cs}/u;

function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return !loneSurrogate.test(value);
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, inner]) => !loneSurrogate.test(name) && isWellFormed(inner));
}
