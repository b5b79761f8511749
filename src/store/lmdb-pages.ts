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

/** A fault of a node; the message continues the name of its page. */
export class NodeFault extends Error {}

function requireNode(isSo: boolean, what: string): void {
  if (!isSo) throw new NodeFault(what);
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

/**
 * Where the parts of a node are in its page. The same object describes the next node after that: a large file has
 * millions of them.
 */
export interface Node {
  keyAt: number;
  keyEnd: number;
  /** Only on a branch page. */
  child: number;
  /** On a leaf page: where the value is, unless it is outside. */
  valueAt: number;
  valueBytes: number;
  /** The value is the head of a tree. */
  isTree: boolean;
  /** Where a long value is; its pages are 0 if there is none. */
  outsidePage: number;
  outsidePages: number;
}

export class PageFile {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, "r");
  }

  get bytes(): number {
    return fstatSync(this.#file).size;
  }

  /**
   * @param buffer takes the bytes
   * @returns fewer than `bytes` at the end of the file
   */
  read(position: number, bytes: number, buffer: Buffer = Buffer.allocUnsafe(bytes)): Buffer {
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
export function treeIn(page: Buffer, { valueAt, valueBytes, outsidePages }: Node): Tree {
  require(outsidePages === 0 && valueBytes === metaTreeBytes, "a table has no head");
  return treeAt(page, valueAt);
}

/**
 * Visits the nodes of a branch or leaf page, each of which is within the page.
 * @throws NodeFault
 */
export function eachNode(page: Buffer, kind: "branch" | "leaf", visit: (node: Node) => void): void {
  const lower = page.readUInt16LE(20);
  const upper = page.readUInt16LE(22);
  const room = page.length - headBytes;
  requireNode(lower % 2 === 0 && lower > 0 && lower <= upper && upper <= room, "has wrong bounds");
  const node: Node = { ...noNode };
  for (let at = headBytes; at < headBytes + lower; at += 2) {
    const offset = page.readUInt16LE(at);
    requireNode(offset >= upper && offset + nodeHeadBytes <= room, "has a node outside the page");
    if (kind === "branch") readBranchNode(page, headBytes + offset, node);
    else readLeafNode(page, headBytes + offset, node);
    visit(node);
  }
}

const noNode: Node = {
  keyAt: 0,
  keyEnd: 0,
  child: invalidPage,
  valueAt: 0,
  valueBytes: 0,
  isTree: false,
  outsidePage: invalidPage,
  outsidePages: 0,
};

function readKey(page: Buffer, at: number, node: Node): void {
  node.keyAt = at + nodeHeadBytes;
  node.keyEnd = node.keyAt + page.readUInt16LE(at + 6);
  requireNode(node.keyEnd <= page.length, "has a key that is too long");
}

function readBranchNode(page: Buffer, at: number, node: Node): void {
  readKey(page, at, node);
  node.child = page.readUInt32LE(at) + page.readUInt16LE(at + 4) * 2 ** 32;
}

function readLeafNode(page: Buffer, at: number, node: Node): void {
  readKey(page, at, node);
  const flags = page.readUInt16LE(at + 4);
  requireNode((flags & ~(nodeFlags.overflow | nodeFlags.tree)) === 0, "has a value of an unknown kind");
  node.isTree = (flags & nodeFlags.tree) !== 0;
  node.valueAt = node.keyEnd;
  node.valueBytes = page.readUInt32LE(at);
  node.outsidePages = 0;
  if ((flags & nodeFlags.overflow) === 0) {
    requireNode(node.valueAt + node.valueBytes <= page.length, "has a value that is too long");
    return;
  }
  requireNode(node.valueAt + 24 <= page.length, "has a value that is too long");
  node.outsidePage = number64(page, node.valueAt);
  node.outsidePages = number64(page, node.valueAt + 16);
  // A shorter value may have replaced a longer one in place.
  const pages_min = Math.floor((headBytes - 1 + node.valueBytes) / page.length) + 1;
  requireNode(node.outsidePages >= pages_min, "has a value of a wrong size");
}
