/**
 * The order of keys in LMDB. lmdb encodes a key with `ordered-binary` and compares the bytes; as a string of one
 * character per byte, the encoded key has the same order in memory. Numbers order like their encodings, so a key that is
 * a number stays one.
 */
import { enableNullTermination, fromBufferKey, readKey, writeKey } from "ordered-binary";

/** A key as it orders: equal for two keys exactly if LMDB treats them as one. */
export type OrderedKey = number | string;

/** Longer keys are rejected by LMDB with 4 KiB pages. */
export const keyBytes_max = 1978;

// The library writes up to 12 bytes beyond a key, and as many more before it notices that a string is too long.
const scratch = Buffer.alloc(8192);

/**
 * `ordered-binary` escapes U+0000 to U+0004 and keeps lone surrogates, but only in texts of fewer UTF-16 units. Longer
 * ones with such characters are read as other keys.
 */
const longTextUnits = 64;
const unreadable = /[\p{Cc}\p{Cs}]/u;

/** Whether LMDB returns a key as it was written. A list has no minus zero either. */
export function isReadable(key: unknown): boolean {
  if (typeof key === "string") return key.length < longTextUnits || !unreadable.test(key);
  return !Array.isArray(key) || key.every((part) => isReadable(part) && !Object.is(part, -0));
}

/** How LMDB reads and writes keys. One that cannot be read is returned as its bytes, which are written as they are. */
export const keyEncoder = {
  writeKey,
  readKey(buffer: Buffer, start: number, end: number): unknown {
    // A text of that length has at least so many bytes.
    if (end - start < longTextUnits) return readKey(buffer, start, end);
    const bytes = Buffer.from(buffer.subarray(start, end));
    return plainKeyOf(bytes) ?? bytes;
  },
  enableNullTermination,
};

/** undefined: it is none that `isReadable` accepts. No table has two texts in its keys. */
function plainKeyOf(bytes: Buffer): unknown {
  const name = bytes.toString("latin1");
  try {
    const key: unknown = fromBufferKey(bytes);
    const parts: readonly unknown[] = Array.isArray(key) ? key : [key];
    const isPlain = parts.every((part) => typeof part === "number" || typeof part === "string");
    const texts = parts.filter((part) => typeof part === "string");
    return isPlain && texts.length <= 1 && nameOfKey(key) === name ? key : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The keys with a long text that are written as these bytes: a NUL in the text looks like the end of it. */
export function longKeysOf(name: string): (readonly (number | string)[])[] {
  const keys: (readonly (number | string)[])[] = [];
  const bytes = Buffer.from(name, "latin1");
  const before: number[] = [];
  let start = 0;
  for (; isNumberAt(bytes, start) && bytes[start + numberBytes_max] === 0; start += numberBytes_max + 1)
    before.push(numberAt(bytes, start));
  if (bytes[start] === escapeByte) start++;
  const after: number[] = [];
  let end = bytes.length;
  for (;;) {
    const text = bytes.toString("utf8", start, end);
    if (text.length < longTextUnits) return keys;
    keys.push([...before, text, ...after]);
    end -= numberBytes_max + 1;
    if (bytes[end] !== 0 || !isNumberAt(bytes, end + 1)) return keys;
    after.unshift(numberAt(bytes, end + 1));
  }
}

/** Before a text that starts like something else. */
const escapeByte = 27;

function isNumberAt(bytes: Buffer, at: number): boolean {
  const type = bytes[at] ?? 0;
  return type >= 8 && type < 24;
}

function numberAt(bytes: Buffer, at: number): number {
  return fromBufferKey(bytes.subarray(at, at + numberBytes_max)) as number;
}

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
