/**
 * Decodes untrusted MessagePack. It can express more than JSON, but operations take JSON: big integers, timestamps,
 * bytes, shared references (which may expand without end) and deep nesting are rejected before the value is traversed
 * (S3).
 */
import { Unpackr } from "msgpackr";
import { limits } from "../../schemas/limits.ts";

const unpackr = new Unpackr({ useRecords: false });

/** Returns undefined if it is not MessagePack, or is a value that JSON cannot express. */
export function unpackJson(bytes: Uint8Array): unknown {
  let value: unknown;
  try {
    value = unpackr.unpack(Buffer.from(bytes));
  } catch {
    return undefined;
  }
  return isJson(value, 0, new Set()) ? value : undefined;
}

function isJson(value: unknown, depth: number, seen: Set<object>): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth >= limits.json_nesting_max || seen.has(value)) return false;
  seen.add(value);
  const inside = Array.isArray(value) ? value : fieldsOf(value);
  return inside?.every((inner) => isJson(inner, depth + 1, seen)) ?? false;
}

/** Encoders write missing fields as undefined; those are left out. Returns null if the value is not a plain object. */
function fieldsOf(value: object): unknown[] | null {
  if (Object.getPrototypeOf(value) !== Object.prototype) return null;
  return Object.values(value).filter((inner) => inner !== undefined);
}
