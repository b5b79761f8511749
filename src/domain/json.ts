/**
 * JSON from outside. Strings with lone surrogates are refused: they would not come back from the store as they went in
 * (MessagePack is UTF-8), and memory must never differ from the disk (M9).
 */

/** undefined: no JSON, or a string in it is not well-formed. JSON itself has no undefined. */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
  // Only an escape can bring a lone surrogate in: the text itself was decoded from UTF-8.
  return /\\u[dD][89a-fA-F]/.test(text) && !isWellFormed(value) ? undefined : value;
}

const loneSurrogate = /\p{Cs}/u;

function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return !loneSurrogate.test(value);
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, inner]) => !loneSurrogate.test(name) && isWellFormed(inner));
}
