/**
 * How much of an organization's file is checked before it is opened. A killed process damages no page: what it has
 * written stays in the memory of the system. So a large file that was not closed is checked completely when the machine
 * was started since it was opened, or when it is another file. Otherwise it is trusted: but if that process does not live
 * long, a damaged page may have ended it, and the next start checks everything.
 */
import { statSync } from "node:fs";
import { commonLimits as limits } from "../../schemas/limits/common.ts";
import { dataFile } from "./data-file.ts";
import { currentBootId } from "./data-lock.ts";
import { type CheckDepth, checkPages } from "./lmdb-check.ts";
import { realmFolder } from "./realm-folders.ts";
import type { RealmEntry } from "./root.ts";

/** The root's entry of an organization; without `openedAs` its file is checked completely unless it was closed. */
export type OpenedEntry = Pick<RealmEntry, "id" | "dueHint" | "openedAs">;

export class PageChecks {
  readonly #dataDir: string;
  /** Files that this process has checked. */
  readonly #checked = new Set<number>();
  /** Organizations of which a part was checked although they had not been closed. */
  readonly #trusted = new Set<number>();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /**
   * Checks the file of an organization, unless this process has done so.
   * @param isWaitedFor a request waits for it
   * @throws DamagedData
   */
  check(entry: OpenedEntry, isWaitedFor: boolean): void {
    if (this.#checked.has(entry.id)) return;
    const extent = this.#extentOf(entry, isWaitedFor);
    checkPages(this.#fileOf(entry), extent);
    this.#checked.add(entry.id);
    if (extent === "inner-pages" && entry.dueHint === 0) this.#trusted.add(entry.id);
  }

  /** Whether only a part of its file was checked, although it had not been closed. */
  isTrusted({ id }: OpenedEntry): boolean {
    return this.#trusted.has(id);
  }

  /** The organization was closed: it is checked when it is opened again. */
  forget({ id }: OpenedEntry): void {
    this.#checked.delete(id);
    this.#trusted.delete(id);
  }

  #extentOf(entry: OpenedEntry, isWaitedFor: boolean): CheckDepth {
    const wasClosed = entry.dueHint !== 0;
    if (!wasClosed && entry.openedAs !== this.markOf(entry)) return "all-pages";
    return isWaitedFor || this.#bytesOf(entry) > limits.store_checked_at_start_bytes_max ? "inner-pages" : "all-pages";
  }

  #bytesOf(entry: OpenedEntry): number {
    return statSync(this.#fileOf(entry), { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Names the file that is there now, and the start of the machine. Null if either is not known. */
  markOf(entry: OpenedEntry): string | null {
    const bootId = currentBootId();
    const file = statSync(this.#fileOf(entry), { bigint: true, throwIfNoEntry: false });
    return bootId === "" || file === undefined ? null : `${bootId} ${file.dev}:${file.ino}:${file.birthtimeNs}`;
  }

  #fileOf({ id }: OpenedEntry): string {
    return dataFile(realmFolder(this.#dataDir, id));
  }
}
