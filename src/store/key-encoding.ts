/**
 * Keys as LMDB orders them. lmdb encodes a key with `ordered-binary` and compares the bytes; as text with one character
 * for each byte they compare in the same way, and can be the keys of a map.
 */
import { readKey, writeKey } from "ordered-binary";

/** LMDB rejects longer keys with 4 KiB pages: 1,978 bytes. */
const keyBytes_max = 1978;
const buffer = Buffer.alloc(2 * keyBytes_max);

type Key = Parameters<typeof writeKey>[0];

/** A key's bytes as text: equal for equal keys, and ordered like them. */
export function nameOfKey(key: unknown): string {
  return buffer.toString("latin1", 0, writeKey(key as Key, buffer, 0));
}

export function keyOfName(bytes: Uint8Array): unknown {
  return readKey(bytes, 0, bytes.length);
}
