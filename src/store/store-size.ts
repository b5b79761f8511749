/**
 * The size of all stores and of the journal, for the quota. It is measured in passes: asked for at once, the sizes of
 * 10,000 stores held every request up for 40 ms or more.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";
import { dataFile } from "./data-file.ts";

export class StoreSize {
  readonly #folder: string;
  /** Of the last whole pass. */
  #bytes: number | null = null;
  #counted = 0;
  #rest: string[] = [];

  constructor(folder: string) {
    this.#folder = folder;
  }

  get isInPass(): boolean {
    return this.#rest.length > 0;
  }

  /** Begins or continues a pass. The first one, at the start of a server, is made as a whole. */
  measure(): number {
    if (this.#bytes === null) return this.#finish(this.#begin());
    if (!this.isInPass) this.#rest = this.#begin();
    for (const path of this.#rest.splice(-limits.store_sizes_per_look)) this.#counted += sizeOf(path);
    return this.isInPass ? this.#bytes : this.#finish([]);
  }

  #begin(): string[] {
    this.#counted = 0;
    return [...storeFiles(this.#folder), ...journalFiles(this.#folder)];
  }

  #finish(rest: readonly string[]): number {
    for (const path of rest) this.#counted += sizeOf(path);
    this.#bytes = this.#counted;
    return this.#bytes;
  }
}

function storeFiles(folder: string): string[] {
  return readdirSync(join(folder, "realms")).map((id) => dataFile(join(folder, "realms", id)));
}

function journalFiles(folder: string): string[] {
  const journal = join(folder, "journal");
  return existsSync(journal) ? readdirSync(journal).map((name) => join(journal, name)) : [];
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
