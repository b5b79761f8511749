/**
 * The order of keys in LMDB. lmdb encodes a key with `ordered-binary` and compares the bytes; as a string of one
 * character per byte, the encoded key has the same order in memory. Numbers order like their encodings, so a key that is
 * a number stays one.
 */
import { fromBufferKey, writeKey } from "ordered-binary";

/** A key as it orders: equal for two keys exactly if LMDB treats them as one. */
export type OrderedKey = number | string;

/** Longer keys are rejected by LMDB with 4 KiB pages. */
export const keyBytes_max = 1978;

// The library writes up to 12 bytes beyond a key, and as many more before it notices that a string is too long.
const scratch = Buffer.alloc(8192);

/** @throws RangeError when the key is far longer than LMDB accepts */
export function orderedKey(key: unknown): OrderedKey {
  // LMDB has no minus zero.
  return typeof key === "number" ? key + 0 : nameOfKey(key);
}

/**
 * The bytes of a key in LMDB, one per character.
 * @throws RangeError when the key is far longer than LMDB accepts
 */
export function nameOfKey(key: unknown): string {
  return scratch.toString("latin1", 0, writeKey(key as Parameters<typeof writeKey>[0], scratch, 0));
}

/** The inverse of `nameOfKey`. */
export function keyOfName(name: string): unknown {
  return fromBufferKey(Buffer.from(name, "latin1"));
}

/** @returns the position after the key */
export function writeOrderedKey(key: OrderedKey, target: Buffer, position: number): number {
  if (typeof key === "string") return position + target.write(key, position, "latin1");
  return writeKey(key, target, position);
}

export function orderedKeyBytes(key: OrderedKey): number {
  return typeof key === "number" ? numberBytes_max : key.length;
}
const numberBytes_max = 9;

export function compareOrdered(one: OrderedKey, other: OrderedKey): number {
  if (typeof one === typeof other) return one < other ? -1 : one > other ? 1 : 0;
  // A table with both numbers and lists of numbers.
  return typeof one === "number" ? compareOrdered(nameOfKey(one), other) : compareOrdered(one, nameOfKey(other));
}

/** Compares decoded keys; most are numbers or lists of numbers, which need no encoding. */
export function compareKeys(one: unknown, other: unknown): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (Array.isArray(one) && Array.isArray(other)) {
    const shared = Math.min(one.length, other.length);
    for (let index = 0; index < shared; index++) {
      const [first, second]: unknown[] = [one[index], other[index]];
      if (typeof first !== "number" || typeof second !== "number") return compareEncoded(one, other);
      if (first !== second) return first - second;
    }
    return one.length - other.length;
  }
  return compareEncoded(one, other);
}

function compareEncoded(one: unknown, other: unknown): number {
  return compareOrdered(nameOfKey(one), nameOfKey(other));
}
