/**
 * Checks without LMDB that the pages of an LMDB file are consistent (lmdb-pages.ts): every referenced page exists, has
 * the expected kind and is referenced once; keys are in order; the counts of entries and pages are right. Row contents
 * are checked by their seals.
 */
import { DamagedData } from "./damage.ts";
import {
  BadPages,
  invalidPage,
  type Meta,
  type Node,
  nodesOf,
  number64,
  PageFile,
  pageKinds,
  require,
  type Tree,
  treeIn,
} from "./lmdb-pages.ts";

/** How much of a file is checked. */
export type Extent =
  /** The inner pages, and that all other pages are inside the file: one percent of a large file. */
  | "skeleton"
  /** Every page. */
  | "whole";

/** How often the check is repeated for a file that another process changes meanwhile. */
const attempts_max = 5;

/**
 * Must succeed before LMDB opens a file; a missing or empty file needs no check. If a server keeps changing the file,
 * that server can read it, so problems found during a change are ignored.
 * @throws DamagedData
 */
export function checkPages(path: string, extent: Extent): void {
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

function problemOf(file: PageFile, extent: Extent): string | null {
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
  readonly #extent: Extent;
  readonly #pagesThere: number;
  /** One entry per page of the file: whether it was visited. */
  readonly #met: Uint8Array;

  constructor(file: PageFile, meta: Meta, extent: Extent) {
    this.#file = file;
    this.#meta = meta;
    this.#extent = extent;
    this.#pagesThere = Math.floor(file.bytes / meta.pageBytes);
    require(meta.lastPage >= 1 && meta.lastPage < 2 ** 40, "its head has no last page");
    this.#met = new Uint8Array(this.#pagesThere);
  }

  run(): void {
    const { freePages, main, lastPage } = this.#meta;
    // A file may be shorter than its last page if that page is free: then every page must be checked.
    if (this.#pagesThere <= lastPage && this.#extent === "skeleton") {
      new Walk(this.#file, this.#meta, "whole").run();
      return;
    }
    const free: Buffer[] = [];
    this.#tree(freePages, "free pages", (node) => free.push(this.#valueOf(node)));
    this.#tree(main, "tables", (node) => {
      if (node.value.isTree) this.#table(node);
    });
    if (this.#extent === "whole") this.#free(free);
  }

  #table(node: Node): void {
    const name = node.key.toString("latin1").replace(/[^\x20-\x7e]/g, "");
    try {
      this.#tree(treeIn(node), "table", () => undefined);
    } catch (error) {
      throw error instanceof BadPages ? new BadPages(`table ${name}: ${error.message}`) : error;
    }
  }

  #tree(tree: Tree, role: Role, visit: (node: Node) => void): void {
    require((tree.flags & 0xff) === flagsOf[role], "it has unknown flags");
    const counts: Counts = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    if (tree.root === invalidPage) {
      require(tree.entries === 0, "it has entries but no page");
      return;
    }
    require(tree.depth >= 1 && tree.depth < 32, "it has a wrong depth");
    const readsLeaves = this.#extent === "whole" || role === "tables";
    const descend = (page: number, level: number, bounds: Bounds): void => {
      this.#meet(page, 1);
      if (level === tree.depth) {
        counts.leafPages++;
        if (readsLeaves) this.#leaf(page, { bounds: role === "free pages" ? null : bounds, counts, visit });
        return;
      }
      counts.branchPages++;
      const nodes = this.#nodes(page, "branch");
      nodes.forEach(({ key, child }, index) => {
        const low = index === 0 ? bounds.low : key;
        descend(child, level + 1, { low, high: nodes[index + 1]?.key ?? bounds.high });
      });
    };
    descend(tree.root, 1, { low: null, high: null });
    const isCounted = counts.branchPages === tree.branchPages && counts.leafPages === tree.leafPages;
    require(isCounted, "the number of its pages is wrong");
    if (!readsLeaves) return;
    require(counts.entries === tree.entries, `it has ${counts.entries} entries, and should have ${tree.entries}`);
    require(counts.overflowPages === tree.overflowPages, "the number of its long values is wrong");
  }

  #leaf(page: number, to: { bounds: Bounds | null; counts: Counts; visit: (node: Node) => void }): void {
    const nodes = this.#nodes(page, "leaf");
    if (to.bounds !== null) requireOrder(page, nodes, to.bounds);
    for (const node of nodes) {
      to.counts.entries++;
      const { overflow } = node.value;
      if (overflow !== null) {
        to.counts.overflowPages += overflow.pages;
        this.#meet(overflow.page, overflow.pages);
        const head = this.#page(overflow.page);
        const isHead = (head.readUInt16LE(18) & pageKinds.overflow) !== 0 && head.readUInt32LE(20) === overflow.pages;
        require(isHead, `page ${overflow.page} is not a long value`);
      }
      to.visit(node);
    }
  }

  #nodes(number: number, kind: "branch" | "leaf"): Node[] {
    const page = this.#page(number);
    require((page.readUInt16LE(18) & 0xff) === pageKinds[kind], `page ${number} is not a ${kind} page`);
    try {
      return nodesOf(page, kind);
    } catch (error) {
      throw error instanceof BadPages ? new BadPages(`page ${number} ${error.message}`) : error;
    }
  }

  #page(number: number): Buffer {
    const { pageBytes } = this.#meta;
    const page = this.#file.read(number * pageBytes, pageBytes);
    require(page.length === pageBytes, `page ${number} is missing: the file was cut off`);
    require(number64(page, 0) === number, `page ${number} has the number of another page`);
    return page;
  }

  /** Each page has one use. */
  #meet(first: number, count: number): void {
    const { lastPage } = this.#meta;
    require(first >= 2 && first + count - 1 <= lastPage, `page ${first} is not one of its ${lastPage + 1} pages`);
    require(first + count <= this.#pagesThere, `page ${first + count - 1} is missing: the file was cut off`);
    for (let page = first; page < first + count; page++) {
      require(this.#met[page] === 0, `page ${page} is used twice`);
      this.#met[page] = 1;
    }
  }

  #valueOf({ value: { inPage, overflow } }: Node): Buffer {
    if (overflow === null) return inPage as Buffer;
    return this.#file.read(overflow.page * this.#meta.pageBytes + 24, overflow.bytes);
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

/** @throws BadPages */
function requireOrder(page: number, nodes: readonly Node[], { low, high }: Bounds): void {
  let before = low;
  nodes.forEach(({ key }, index) => {
    const order = before === null ? -1 : Buffer.compare(before, key);
    // The first key may equal the one that leads to the page.
    require(order < 0 || (order === 0 && index === 0), `page ${page} has keys out of order`);
    before = key;
  });
  const isBelow = high === null || before === null || Buffer.compare(before, high) < 0;
  require(isBelow, `page ${page} has keys out of order`);
}
