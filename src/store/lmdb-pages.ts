/**
 * Reads pages of an LMDB file without LMDB. LMDB trusts what it maps, so a damaged page, or one beyond the end of a
 * truncated file, kills the process by a signal. The layout is that of lmdb 3.5 on 64-bit little-endian machines.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

export const headBytes = 24;
export const invalidPage = -1;

const nodeHeadBytes = 8;
const metaMagic = 0xbeefc0de;
const metaVersion = 2;
const metaTreeBytes = 48;
const pageBytes_min = 512;
const pageBytes_max = 65_536;

export const pageKinds = { branch: 0x01, leaf: 0x02, overflow: 0x04, meta: 0x08 } as const;
const nodeFlags = { overflow: 0x01, tree: 0x02 } as const;

/** A fault found in a file. */
export class BadPages extends Error {
  override readonly name = "BadPages";
}

export function require(isSo: boolean, what: string): asserts isSo {
  if (!isSo) throw new BadPages(what);
}

/** The head of a tree: one table, the list of tables, or the list of free pages. */
export interface Tree {
  readonly flags: number;
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  /** `invalidPage` for a tree without entries. */
  readonly root: number;
}

/** One of the two meta pages, each describing a state of the whole file; LMDB uses the newer one. */
export interface Meta {
  readonly pageBytes: number;
  readonly freePages: Tree;
  readonly main: Tree;
  readonly lastPage: number;
  readonly transaction: number;
}

export interface Node {
  readonly key: Buffer;
  /** Only on a branch page. */
  readonly child: number;
  /** On a leaf page: where the value is stored. */
  readonly value: { readonly inPage: Buffer | null; readonly overflow: Overflow | null; readonly isTree: boolean };
}

interface Overflow {
  readonly page: number;
  readonly pages: number;
  readonly bytes: number;
}

export class PageFile {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, "r");
  }

  get bytes(): number {
    return fstatSync(this.#file).size;
  }

  /** Returns fewer than `bytes` at the end of the file. */
  read(position: number, bytes: number): Buffer {
    const buffer = Buffer.allocUnsafe(bytes);
    let filled = 0;
    while (filled < bytes) {
      const read = readSync(this.#file, buffer, filled, bytes - filled, position + filled);
      if (read === 0) break;
      filled += read;
    }
    return buffer.subarray(0, filled);
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Every change of the file changes these bytes. */
  heads(): Buffer {
    return this.read(0, 2 * pageBytes_max);
  }

  /**
   * @returns the newer and the older meta page
   * @throws BadPages
   */
  metas(): readonly [Meta, Meta] {
    const first = this.#meta(0, 0);
    const second = this.#meta(first.pageBytes, 1);
    require(second.pageBytes === first.pageBytes, "its two meta pages disagree");
    return first.transaction > second.transaction ? [first, second] : [second, first];
  }

  #meta(position: number, number: number): Meta {
    const page = this.read(position, pageBytes_min);
    require(page.length === pageBytes_min, `page ${number} is missing`);
    const isMeta = (page.readUInt16LE(18) & pageKinds.meta) !== 0 && page.readUInt32LE(headBytes) === metaMagic;
    require(isMeta, `page ${number} has no head`);
    require((page.readUInt32LE(headBytes + 4) & 0xffff) === metaVersion, `page ${number} has an unknown layout`);
    const trees = headBytes + 24;
    const pageBytes = page.readUInt32LE(trees);
    const isPower = (pageBytes & (pageBytes - 1)) === 0;
    require(isPower &&
      pageBytes >= pageBytes_min &&
      pageBytes <= pageBytes_max, `page ${number} has an unknown layout`);
    const after = trees + 2 * metaTreeBytes;
    const transaction = number64(page, after + 8);
    const isPlain = number64(page, 0) === number && number64(page, headBytes + 8) === 0;
    require(isPlain && (transaction === 0 || transaction % 2 === number), `page ${number} has a wrong head`);
    return {
      pageBytes,
      freePages: treeAt(page, trees),
      main: treeAt(page, trees + metaTreeBytes),
      lastPage: number64(page, after),
      transaction,
    };
  }
}

export function number64(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * 2 ** 32;
}

function pageAt(bytes: Buffer, offset: number): number {
  const isNone = bytes.readUInt32LE(offset) === 0xffffffff && bytes.readUInt32LE(offset + 4) === 0xffffffff;
  return isNone ? invalidPage : number64(bytes, offset);
}

function treeAt(bytes: Buffer, offset: number): Tree {
  return {
    flags: bytes.readUInt16LE(offset + 4),
    depth: bytes.readUInt16LE(offset + 6),
    branchPages: number64(bytes, offset + 8),
    leafPages: number64(bytes, offset + 16),
    overflowPages: number64(bytes, offset + 24),
    entries: number64(bytes, offset + 32),
    root: pageAt(bytes, offset + 40),
  };
}

/** @throws BadPages */
export function treeIn({ value }: Node): Tree {
  require(value.inPage !== null && value.inPage.length === metaTreeBytes, "a table has no head");
  return treeAt(value.inPage, 0);
}

/**
 * The nodes of a branch or leaf page, each within the page.
 * @throws BadPages
 */
export function nodesOf(page: Buffer, kind: "branch" | "leaf"): Node[] {
  const lower = page.readUInt16LE(20);
  const upper = page.readUInt16LE(22);
  const room = page.length - headBytes;
  require(lower % 2 === 0 && lower > 0 && lower <= upper && upper <= room, "has wrong bounds");
  const nodes: Node[] = [];
  for (let at = headBytes; at < headBytes + lower; at += 2) {
    const offset = page.readUInt16LE(at);
    require(offset >= upper && offset + nodeHeadBytes <= room, "has a node outside the page");
    nodes.push(nodeAt(page, headBytes + offset, kind));
  }
  return nodes;
}

function nodeAt(page: Buffer, at: number, kind: "branch" | "leaf"): Node {
  const size = page.readUInt32LE(at);
  const flags = page.readUInt16LE(at + 4);
  const keyAt = at + nodeHeadBytes;
  const valueAt = keyAt + page.readUInt16LE(at + 6);
  require(valueAt <= page.length, "has a key that is too long");
  const key = page.subarray(keyAt, valueAt);
  const none = { inPage: null, overflow: null, isTree: false };
  if (kind === "branch") return { key, child: size + flags * 2 ** 32, value: none };
  require((flags & ~(nodeFlags.overflow | nodeFlags.tree)) === 0, "has a value of an unknown kind");
  const isTree = (flags & nodeFlags.tree) !== 0;
  if ((flags & nodeFlags.overflow) === 0) {
    require(valueAt + size <= page.length, "has a value that is too long");
    return {
      key,
      child: invalidPage,
      value: { inPage: page.subarray(valueAt, valueAt + size), overflow: null, isTree },
    };
  }
  require(valueAt + 24 <= page.length, "has a value that is too long");
  const pages = number64(page, valueAt + 16);
  // A shorter value may have replaced a longer one in place.
  require(pages >= Math.floor((headBytes - 1 + size) / page.length) + 1, "has a value of a wrong size");
  const overflow = { page: number64(page, valueAt), pages, bytes: size };
  return { key, child: invalidPage, value: { inPage: null, overflow, isTree } };
}
