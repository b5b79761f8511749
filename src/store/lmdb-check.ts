/**
 * Checks without LMDB that the pages of an LMDB file are consistent (lmdb-pages.ts): every referenced page exists, has
 * the expected kind and is referenced once; keys are in order; the counts of entries and pages are right. Row contents
 * are checked by their seals.
 */
import { DamagedData } from "./damage.ts";
import {
  BadPages,
  eachNode,
  headBytes,
  invalidPage,
  type Meta,
  type Node,
  NodeFault,
  number64,
  PageFile,
  pageKinds,
  require,
  type Tree,
  treeIn,
} from "./lmdb-pages.ts";

/** How much of a file is checked. */
export type CheckDepth =
  /** The inner pages, and that all other pages are inside the file: one percent of a large file. */
  | "inner-pages"
  /** Every page. */
  | "all-pages"
  /** Nothing: it has been checked. */
  | "none";

/** How often the check is repeated for a file that another process changes meanwhile. */
const attempts_max = 5;

/**
 * Must succeed before LMDB opens a file; a missing or empty file needs no check. If a server keeps changing the file,
 * that server can read it, so problems found during a change are ignored.
 * @throws DamagedData
 */
export function checkPages(path: string, extent: CheckDepth): void {
  if (extent === "none") return;
  const file = openIfThere(path);
  if (file === null) return;
  try {
    for (let attempt = 0; attempt < attempts_max; attempt++) {
      const before = file.heads();
      const problem = problemOf(file, extent);
      if (problem === null) return;
      if (before.equals(file.heads())) throw new DamagedData(path, problem);
    }
  } finally {
    file.close();
  }
}

function openIfThere(path: string): PageFile | null {
  try {
    return new PageFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function problemOf(file: PageFile, extent: CheckDepth): string | null {
  if (file.bytes === 0) return null;
  try {
    const [newer, older] = file.metas();
    requireSuccession(newer, older);
    new Walk(file, newer, extent).run();
    return null;
  } catch (error) {
    if (error instanceof BadPages) return error.message;
    throw error;
  }
}

/**
 * LMDB writes the two meta pages alternately. In a compacted copy one of them is empty.
 * @throws BadPages
 */
function requireSuccession(newer: Meta, older: Meta): void {
  const isCopy = older.transaction === 0 && older.main.root === invalidPage;
  const isNext = newer.transaction - older.transaction <= 1;
  require((isCopy || isNext) && newer.lastPage >= older.lastPage, "its two meta pages are not consecutive versions");
}

/** Bounds of a page's keys: `low` is inclusive, `high` is exclusive. */
interface Bounds {
  readonly low: Buffer | null;
  readonly high: Buffer | null;
}

interface Counts {
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
}

/** The leaves of the first two trees are always read: the list of tables leads to the others. */
type Role = "free pages" | "tables" | "table";

/** As LMDB stores them: the free pages have integer keys. Higher bits describe how the file was last opened. */
const flagsOf: Readonly<Record<Role, number>> = { "free pages": 8, tables: 0, table: 0 };

class Walk {
  readonly #file: PageFile;
  readonly #meta: Meta;
  readonly #extent: CheckDepth;
  readonly #pagesThere: number;
  /** One entry per page of the file: whether it was visited. */
  readonly #met: Uint8Array;
  /** Hold the leaf, and the head of a long value, that are being read: most pages are such ones. */
  readonly #leafPage: Buffer;
  readonly #valuePage: Buffer;

  constructor(file: PageFile, meta: Meta, extent: CheckDepth) {
    this.#file = file;
    this.#meta = meta;
    this.#extent = extent;
    this.#pagesThere = Math.floor(file.bytes / meta.pageBytes);
    require(meta.lastPage >= 1 && meta.lastPage < 2 ** 40, "its head has no last page");
    this.#met = new Uint8Array(this.#pagesThere);
    this.#leafPage = Buffer.allocUnsafe(meta.pageBytes);
    this.#valuePage = Buffer.allocUnsafe(meta.pageBytes);
  }

  run(): void {
    const { freePages, main, lastPage } = this.#meta;
    // A file may be shorter than its last page if that page is free: then every page must be checked.
    if (this.#pagesThere <= lastPage && this.#extent === "inner-pages") {
      new Walk(this.#file, this.#meta, "all-pages").run();
      return;
    }
    const free: Buffer[] = [];
    this.#tree(freePages, "free pages", (page, node) => free.push(this.#valueOf(page, node)));
    const tables: { readonly name: string; readonly tree: Tree }[] = [];
    this.#tree(main, "tables", (page, node) => {
      const name = page.toString("latin1", node.keyAt, node.keyEnd).replace(/[^\x20-\x7e]/g, "");
      if (node.isTree) tables.push({ name, tree: treeIn(page, node) });
    });
    for (const { name, tree } of tables) this.#table(name, tree);
    if (this.#extent === "all-pages") this.#free(free);
  }

  #table(name: string, tree: Tree): void {
    try {
      this.#tree(tree, "table", () => undefined);
    } catch (error) {
      throw error instanceof BadPages ? new BadPages(`table ${name}: ${error.message}`) : error;
    }
  }

  #tree(tree: Tree, role: Role, visit: (page: Buffer, node: Node) => void): void {
    require((tree.flags & 0xff) === flagsOf[role], "it has unknown flags");
    const counts: Counts = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    if (tree.root === invalidPage) {
      require(tree.entries === 0, "it has entries but no page");
      return;
    }
    require(tree.depth >= 1 && tree.depth < 32, "it has a wrong depth");
    const readsLeaves = this.#extent === "all-pages" || role === "tables";
    const descend = (page: number, level: number, bounds: Bounds): void => {
      this.#meet(page, 1);
      if (level === tree.depth) {
        counts.leafPages++;
        if (readsLeaves) this.#leaf(page, { bounds: role === "free pages" ? null : bounds, counts, visit });
        return;
      }
      counts.branchPages++;
      const children = this.#children(page);
      children.forEach(({ key, child }, index) => {
        const low = index === 0 ? bounds.low : key;
        descend(child, level + 1, { low, high: children[index + 1]?.key ?? bounds.high });
      });
    };
    descend(tree.root, 1, { low: null, high: null });
    const isCounted = counts.branchPages === tree.branchPages && counts.leafPages === tree.leafPages;
    require(isCounted, "the number of its pages is wrong");
    if (!readsLeaves) return;
    require(counts.entries === tree.entries, `it has ${counts.entries} entries, and should have ${tree.entries}`);
    require(counts.overflowPages === tree.overflowPages, "the number of its long values is wrong");
  }

  #children(number: number): { readonly key: Buffer; readonly child: number }[] {
    const children: { key: Buffer; child: number }[] = [];
    const page = this.#page(number);
    this.#eachNode(number, page, "branch", ({ keyAt, keyEnd, child }) =>
      children.push({ key: page.subarray(keyAt, keyEnd), child }),
    );
    return children;
  }

  #leaf(
    number: number,
    to: { bounds: Bounds | null; counts: Counts; visit: (page: Buffer, node: Node) => void },
  ): void {
    const page = this.#page(number, this.#leafPage);
    const order = to.bounds === null ? null : new KeyOrder(page, number, to.bounds);
    this.#eachNode(number, page, "leaf", (node) => {
      order?.next(node);
      to.counts.entries++;
      if (node.outsidePages > 0) {
        to.counts.overflowPages += node.outsidePages;
        this.#longValue(node);
      }
      to.visit(page, node);
    });
    order?.end();
  }

  #longValue({ outsidePage, outsidePages }: Node): void {
    this.#meet(outsidePage, outsidePages);
    const head = this.#page(outsidePage, this.#valuePage);
    const isHead = (head.readUInt16LE(18) & pageKinds.overflow) !== 0 && head.readUInt32LE(20) === outsidePages;
    if (!isHead) throw new BadPages(`page ${outsidePage} is not a long value`);
  }

  #eachNode(number: number, page: Buffer, kind: "branch" | "leaf", visit: (node: Node) => void): void {
    const isOfKind = (page.readUInt16LE(18) & 0xff) === pageKinds[kind];
    if (!isOfKind) throw new BadPages(`page ${number} is not a ${kind} page`);
    try {
      eachNode(page, kind, visit);
    } catch (error) {
      throw error instanceof NodeFault ? new BadPages(`page ${number} ${error.message}`) : error;
    }
  }

  /** @param into is overwritten by the page */
  #page(number: number, into?: Buffer): Buffer {
    const { pageBytes } = this.#meta;
    const page = this.#file.read(number * pageBytes, pageBytes, into);
    if (page.length !== pageBytes) throw cutOff(number);
    if (number64(page, 0) !== number) throw new BadPages(`page ${number} has the number of another page`);
    return page;
  }

  /** Each page has one use. */
  #meet(first: number, count: number): void {
    const { lastPage } = this.#meta;
    const isThere = first >= 2 && first + count - 1 <= lastPage;
    if (!isThere) throw new BadPages(`page ${first} is not one of its ${lastPage + 1} pages`);
    if (first + count > this.#pagesThere) throw cutOff(first + count - 1);
    for (let page = first; page < first + count; page++) {
      if (this.#met[page] !== 0) throw new BadPages(`page ${page} is used twice`);
      this.#met[page] = 1;
    }
  }

  /** A copy of the value. */
  #valueOf(page: Buffer, { valueAt, valueBytes, outsidePage, outsidePages }: Node): Buffer {
    if (outsidePages === 0) return Buffer.from(page.subarray(valueAt, valueAt + valueBytes));
    return this.#file.read(outsidePage * this.#meta.pageBytes + headBytes, valueBytes);
  }

  /** A page listed as free must not be in a tree, because LMDB will overwrite it. */
  #free(lists: readonly Buffer[]): void {
    const { lastPage } = this.#meta;
    for (const list of lists) {
      const isList = list.length >= 8 && list.length % 8 === 0;
      require(isList && number64(list, 0) <= list.length / 8 - 1, "its list of free pages is wrong");
      const count = number64(list, 0);
      let pages = 1;
      for (let index = 1; index <= count; index++) {
        const entry = Number(list.readBigInt64LE(index * 8));
        if (entry > 0) {
          require(entry >= 2 && entry + pages - 1 <= lastPage, "its list of free pages is wrong");
          for (let page = entry; page < entry + pages; page++) {
            require(this.#met[page] !== 1, `page ${page} is in use and listed as free`);
            require(this.#met[page] !== 2, `page ${page} is listed as free twice`);
            if (page < this.#pagesThere) this.#met[page] = 2;
          }
        }
        // A negative number before a page is the count of free pages that start there.
        pages = entry < 0 ? -entry : 1;
      }
    }
  }
}

function cutOff(page: number): BadPages {
  return new BadPages(`page ${page} is missing: the file was cut off`);
}

/** Checks that the keys of a leaf ascend within its bounds, while its nodes are visited. */
class KeyOrder {
  readonly #page: Buffer;
  readonly #number: number;
  readonly #high: Buffer | null;
  /** The key before the next one, and where it is. */
  #before: Buffer | null;
  #from = 0;
  #to = 0;
  #isFirst = true;

  constructor(page: Buffer, number: number, { low, high }: Bounds) {
    this.#page = page;
    this.#number = number;
    this.#high = high;
    this.#before = low;
    this.#to = low?.length ?? 0;
  }

  next({ keyAt, keyEnd }: Node): void {
    if (this.#before !== null) {
      const order = compareBytes(this.#before, this.#from, this.#to, this.#page, keyAt, keyEnd);
      // The first key may equal the one that leads to the page.
      this.#require(order < 0 || (order === 0 && this.#isFirst));
    }
    this.#before = this.#page;
    this.#from = keyAt;
    this.#to = keyEnd;
    this.#isFirst = false;
  }

  end(): void {
    if (this.#high === null || this.#before === null) return;
    this.#require(compareBytes(this.#before, this.#from, this.#to, this.#high, 0, this.#high.length) < 0);
  }

  #require(isInOrder: boolean): void {
    if (!isInOrder) throw new BadPages(`page ${this.#number} has keys out of order`);
  }
}

/** As `Buffer.compare`, which takes longer than the few bytes of a key. */
function compareBytes(one: Buffer, from: number, to: number, other: Buffer, otherFrom: number, otherTo: number) {
  const shared = Math.min(to - from, otherTo - otherFrom);
  for (let index = 0; index < shared; index++) {
    const difference = (one[from + index] as number) - (other[otherFrom + index] as number);
    if (difference !== 0) return difference;
  }
  return to - from - (otherTo - otherFrom);
}
