/**
 * JSON from outside. Strings with lone surrogates are refused: they would not come back from the store as they went in
 * (MessagePack is UTF-8), and memory must never differ from the disk (M9). Deep nesting is refused before it is parsed: it takes
 * many times as long as other text of the same size, and more stack than there is to whoever walks through the value (S3).
 */
import { limits } from "./limits.ts";

/** undefined: no JSON, nested too deep, or a string in it is not well-formed. JSON itself has no undefined. */
export function parseJson(text: string): unknown {
  if (nestsTooDeep(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
  // Only an escape can bring a lone surrogate in: the text itself was decoded from UTF-8.
  return /\\u[dD][89a-fA-F]/.test(text) && !isWellFormed(value) ? undefined : value;
}

const sign = { quote: 0x22, backslash: 0x5c, openArray: 0x5b, closeArray: 0x5d, openObject: 0x7b, closeObject: 0x7d };

/** Brackets within strings do not count. */
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
