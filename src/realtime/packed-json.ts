/**
 * MessagePack from outside. It can say more than JSON, and operations take JSON: big integers, times, bytes, several names
 * for one thing (which may unfold without end) and deep nesting are refused before anybody walks through them (S3).
 */
import { Unpackr } from "msgpackr";
import { limits } from "../../schemas/limits.ts";

const unpackr = new Unpackr({ useRecords: false });

/** undefined: no MessagePack, or nothing that JSON could say. */
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

/** Encoders write fields without a value as undefined; those are not there. null: no plain object. */
function fieldsOf(value: object): unknown[] | null {
  if (Object.getPrototypeOf(value) !== Object.prototype) return null;
  return Object.values(value).filter((inner) => inner !== undefined);
}
