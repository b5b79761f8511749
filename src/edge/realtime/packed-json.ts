/**
 * Decodes untrusted MessagePack. It can express more than JSON, but operations take JSON: big integers, timestamps,
 * bytes and other extensions are rejected where they begin. Values are counted against a budget before they are built,
 * because a megabyte of empty maps takes 0.3 s, and nesting is bounded (S3).
 */
import { isUtf8 } from "node:buffer";
import type { ValueBudget } from "../../../schemas/json.ts";
import { limits } from "../../../schemas/limits.ts";

/** Returns undefined if it is not MessagePack, is a value that JSON cannot express, or exceeds a bound. */
export function unpackJson(bytes: Uint8Array, budget: ValueBudget): unknown {
  const reader = new PackedReader(bytes, budget);
  budget.left--;
  const value = budget.left < 0 ? undefined : reader.read(0);
  return value === absent || !reader.isAtEnd ? undefined : value;
}

/** Encoders write missing fields as an extension; those are left out. */
const absent = Symbol("absent");

class PackedReader {
  readonly #bytes: Buffer;
  readonly #budget: ValueBudget;
  #at = 0;

  constructor(bytes: Uint8Array, budget: ValueBudget) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#budget = budget;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** @returns undefined if it is malformed; JSON has no undefined */
  read(depth: number): unknown {
    const head = this.#bytes[this.#at++];
    if (head === undefined) return undefined;
    if (head < 0x80) return head;
    if (head < 0x90) return this.#map(head & 0x0f, depth);
    if (head < 0xa0) return this.#array(head & 0x0f, depth);
    if (head < 0xc0) return this.#text(head & 0x1f);
    if (head >= 0xe0) return head - 0x100;
    return this.#readLong(head, depth);
  }

  #readLong(head: number, depth: number): unknown {
    switch (head) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xca:
        return finite(this.#number(4, (at) => this.#bytes.readFloatBE(at)));
      case 0xcb:
        return finite(this.#number(8, (at) => this.#bytes.readDoubleBE(at)));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#unsigned(1 << (head - 0xcc));
      case 0xcf:
        return this.#number(8, (at) => safe(this.#bytes.readBigUInt64BE(at)));
      case 0xd0:
      case 0xd1:
      case 0xd2:
        return this.#signed(1 << (head - 0xd0));
      case 0xd3:
        return this.#number(8, (at) => safe(this.#bytes.readBigInt64BE(at)));
      case 0xd4:
        return this.#unsigned(2) === 0 ? absent : undefined;
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#unsigned(1 << (head - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#unsigned(2 << (head - 0xdc)), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#unsigned(2 << (head - 0xde)), depth);
      default:
        return undefined;
    }
  }

  #number(size: number, read: (at: number) => number | undefined): number | undefined {
    const at = this.#at;
    this.#at += size;
    return this.#at <= this.#bytes.length ? read(at) : undefined;
  }

  #unsigned(size: number): number | undefined {
    return this.#number(size, (at) => this.#bytes.readUIntBE(at, size));
  }

  #signed(size: number): number | undefined {
    return this.#number(size, (at) => this.#bytes.readIntBE(at, size));
  }

  #text(length: number | undefined): string | undefined {
    if (length === undefined) return undefined;
    const start = this.#at;
    const end = start + length;
    if (end > this.#bytes.length) return undefined;
    this.#at = end;
    let all = 0;
    for (let at = start; at < end; at++) all |= this.#bytes[at] as number;
    if (all < 0x80) return this.#bytes.toString("latin1", start, end);
    return isUtf8(this.#bytes.subarray(start, end)) ? this.#bytes.toString("utf8", start, end) : undefined;
  }

  /** Counts what a container announces, an empty one as one value more, like JSON's signs. */
  #enter(values: number, depth: number): boolean {
    this.#budget.left -= Math.max(values, 1);
    return depth < limits.json_nesting_max && this.#budget.left >= 0;
  }

  #array(length: number | undefined, depth: number): unknown {
    if (length === undefined || !this.#enter(length, depth)) return undefined;
    const values: unknown[] = [];
    for (let index = 0; index < length; index++) {
      const value = this.read(depth + 1);
      if (value === undefined || value === absent) return undefined;
      values.push(value);
    }
    return values;
  }

  #map(size: number | undefined, depth: number): unknown {
    if (size === undefined || !this.#enter(2 * size, depth)) return undefined;
    const fields: Record<string, unknown> = {};
    for (let index = 0; index < size; index++) {
      const name = this.read(depth + 1);
      const value = typeof name === "string" ? this.read(depth + 1) : undefined;
      if (typeof name !== "string" || value === undefined) return undefined;
      if (value !== absent) setField(fields, name, value);
    }
    return fields;
  }
}

/** As JSON.parse does: a field named `__proto__` is a field like any other. */
function setField(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") fields[name] = value;
  else Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true });
}

function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

function safe(value: bigint): number | undefined {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : undefined;
}
