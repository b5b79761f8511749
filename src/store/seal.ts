/**
 * The seal of a stored row: a mark, the row's bytes, and a CRC32C over table, key and all of these. It detects bytes that the
 * disk changed, and rows that came to lie under another key. MessagePack never uses the mark, and JSON never begins with it, so
 * that rows from before the seal (store versions below `sealedSince`) are known by their first byte.
 */
import { crc32c } from "@node-rs/crc32";
import { DamagedRow } from "./damage.ts";

/** Every row of a store of this version or a newer one has a seal. */
export const sealedSince = 7;

const mark = 0xc1;
const markBytes = 1;
const sumBytes = 4;
/** How many bytes a seal adds to a row. */
export const sealBytes = markBytes + sumBytes;
/** The CRC32C of any bytes that are followed by their own CRC32C. */
const residue = 0x48674bc7;

export function seal(table: string, key: unknown, contents: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(contents.length + sealBytes);
  bytes[0] = mark;
  bytes.set(contents, markBytes);
  const end = bytes.length - sumBytes;
  bytes.writeUInt32LE(crc32c(bytes.subarray(0, end), placeOf(table, key)), end);
  return bytes;
}

export function isSealed(bytes: Uint8Array): boolean {
  return bytes[0] === mark;
}

/** @throws DamagedRow when these are not the bytes that were sealed under this key */
export function checkSeal(table: string, key: unknown, bytes: Uint8Array): void {
  if (bytes.length < sealBytes || bytes[0] !== mark) throw new DamagedRow(table, key, "has no checksum");
  if (crc32c(bytes as Buffer, placeOf(table, key)) !== residue)
    throw new DamagedRow(table, key, "has a wrong checksum");
}

/** Where the contents of a sealed row begin and end. */
export function contentsOf(bytes: Uint8Array): { readonly start: number; readonly end: number } {
  return { start: markBytes, end: bytes.length - sumBytes };
}

const tableStates = new Map<string, number>();
const numberBits = new Float64Array(1);
const numberHalves = new Int32Array(numberBits.buffer);

/** A row's place as the state with which its checksum begins: the same bytes have another sum in another place. */
function placeOf(table: string, key: unknown): number {
  let state = tableStates.get(table);
  if (state === undefined) {
    state = crc32c(table);
    tableStates.set(table, state);
  }
  return mixed(state, key) >>> 0;
}

/** LMDB takes a list of one part for the part, and lists within lists for one list: so does this. */
function mixed(state: number, part: unknown): number {
  if (typeof part === "number") {
    // LMDB does not know minus zero.
    numberBits[0] = part + 0;
    const low = Math.imul(state ^ (numberHalves[0] as number), 0x85ebca6b);
    const high = Math.imul(low ^ (low >>> 13) ^ (numberHalves[1] as number), 0xc2b2ae35);
    return high ^ (high >>> 16);
  }
  if (typeof part === "string") return Math.imul(crc32c(part, state >>> 0), 0x85ebca6b);
  let next = state;
  for (const inner of part as readonly unknown[]) next = mixed(next, inner);
  return next;
}
