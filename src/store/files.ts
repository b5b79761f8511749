/**
 * Files of a realm, outside LMDB (architecture, Files): a temporary file, flushed, renamed, its folder flushed; then the turn
 * that claims it. What nobody claims, after a crash in between, is swept when the realm opens. Names are random: a file is
 * written once, never changed. Nobody else reads the folder.
 */
import { existsSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileNameShape } from "../../schemas/files.ts";
import { FileDraft, isNoRoom } from "./file-draft.ts";
import { flushFolder } from "./folders.ts";
import { Place } from "./place.ts";

export interface NewFile {
  /** As `fileNameShape` has it: folder and name. */
  readonly name: string;
  /** Or a draft that is finished, of the same name. */
  readonly bytes: Uint8Array | FileDraft;
}

export interface FileStoreOptions {
  readonly folder: string;
  /** Whether there is room on the disk (M5). */
  readonly acceptsWrites: () => boolean;
  /** Whether a backup is copying: nothing is removed meanwhile. */
  readonly areHeld?: () => Promise<boolean>;
  /** A file could not be removed: it is tried again by the next sweep. */
  readonly report: (error: unknown) => void;
}

const temporarySuffix = ".part";

/** Where a realm's files lie, beside its environment. */
export function filesFolder(realmFolder: string): string {
  return join(realmFolder, "files");
}

/** Files by what a sweep that is under way must know of them: none is counted twice, nor taken off that was never counted. */
interface Tally {
  readonly counted: Set<string>;
  readonly gone: Set<string>;
}

export class FileStore {
  readonly #options: FileStoreOptions;
  /** Written, or being written, and not claimed yet: no sweep takes them. */
  readonly #unsettled = new Set<string>();
  readonly #working = new Set<Promise<unknown>>();
  /** To be removed when no backup is copying. A restart forgets them, and its sweep finds them. */
  readonly #heldBack = new Set<string>();
  readonly #made = new Set<string>();
  #bytes = 0;
  /** Of the folder; null: there is none yet. */
  #place: Place | null = null;
  /** What comes and goes while a sweep counts; null: all that is there has been counted. */
  #tally: Tally | null = null;

  constructor(options: FileStoreOptions) {
    this.#options = options;
    this.#seePlace();
  }

  #seePlace(): void {
    if (this.#place === null && existsSync(this.#options.folder)) this.#place = new Place(this.#options.folder);
  }

  /** Bytes of all files, for the quota: an estimate, complete when the sweep after opening is done. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @throws OwnershipLost when the folder was removed or replaced */
  assertInPlace(): void {
    this.#place?.verify();
  }

  get acceptsWrites(): boolean {
    return this.#options.acceptsWrites();
  }

  /**
   * On disk when this resolves, all of them or none. Until `settle`, no sweep takes them.
   * @returns false when the disk has no room for them (M5)
   * @throws Error when the folder cannot be written for another reason
   */
  write(files: readonly NewFile[]): Promise<boolean> {
    for (const { name } of files) this.#unsettled.add(checked(name));
    return this.#track(this.#write(files));
  }

  async #write(files: readonly NewFile[]): Promise<boolean> {
    try {
      const folders = new Set(files.map(({ name }) => dirname(name)));
      for (const folder of folders) await this.#makeFolder(folder);
      for (const { name, bytes } of files) await this.#writeOne(name, bytes);
      for (const folder of folders) await flushFolder(join(this.#options.folder, folder));
      return true;
    } catch (error) {
      for (const { name } of files) {
        await this.#remove(name);
        this.#unsettled.delete(name);
      }
      if (isNoRoom(error)) return false;
      throw error;
    }
  }

  async #writeOne(name: string, bytes: Uint8Array | FileDraft): Promise<void> {
    const path = this.#pathOf(name);
    if (bytes instanceof FileDraft) return bytes.renameTo(path);
    const draft = path + temporarySuffix;
    try {
      await withFile(draft, "wx", async (file) => {
        await file.writeFile(bytes);
        await file.sync();
      });
      await rename(draft, path);
      this.#bytes += bytes.length;
      this.#tally?.counted.add(name);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  /**
   * A file that is written as it comes. Its bytes count from the first on; until `settle` or its end without a claim, no sweep
   * takes it. null: the disk has no room (M5).
   */
  async draft(name: string): Promise<FileDraft | null> {
    this.#unsettled.add(checked(name));
    try {
      await this.#track(this.#makeFolder(dirname(name)));
      const path = this.#pathOf(name) + temporarySuffix;
      this.#tally?.counted.add(name);
      return new FileDraft(await open(path, "wx", 0o600), path, {
        track: (work) => this.#track(work),
        count: (bytes) => {
          this.#bytes += bytes;
        },
        acceptsWrites: () => this.acceptsWrites,
        ended: () => this.#unsettled.delete(name),
      });
    } catch (error) {
      this.#unsettled.delete(name);
      if (isNoRoom(error)) return null;
      throw error;
    }
  }

  /** Once per folder and process; a folder's own entry is flushed, too. */
  async #makeFolder(folder: string): Promise<void> {
    if (this.#made.has(folder)) return;
    await mkdir(join(this.#options.folder, folder), { recursive: true, mode: 0o700 });
    this.#seePlace();
    await flushFolder(this.#options.folder);
    await flushFolder(dirname(this.#options.folder));
    this.#made.add(folder);
  }

  /** The turn has decided: what no row claims is removed. */
  settle(names: readonly string[], isClaimed: boolean): void {
    for (const name of names) {
      if (!isClaimed) this.discard(name);
      this.#unsettled.delete(name);
    }
  }

  /** null: there is none of that name. */
  async read(name: string): Promise<Buffer | null> {
    try {
      return await readFile(this.#pathOf(name));
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** For reading in pieces; null: there is none of that name. The caller closes it. */
  async open(name: string): Promise<FileHandle | null> {
    try {
      return await open(this.#pathOf(name), "r");
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Removes a file in the background. */
  discard(name: string): void {
    void this.#track(this.#removeUnlessHeld(name));
  }

  /** Removes what had to wait for a backup, if none is copying any more. */
  discardHeldBack(): void {
    const names = [...this.#heldBack];
    this.#heldBack.clear();
    for (const name of names) this.discard(name);
  }

  async #removeUnlessHeld(name: string): Promise<void> {
    if (await this.#areHeld()) this.#heldBack.add(name);
    else await this.#remove(name);
  }

  async #areHeld(): Promise<boolean> {
    return this.#options.areHeld !== undefined && (await this.#options.areHeld());
  }

  async #remove(name: string): Promise<void> {
    try {
      const path = this.#pathOf(name);
      const { size } = await stat(path);
      // Before it goes: a sweep that does not find it any more does not count it.
      const isCounted = this.#tally?.counted.has(name) ?? true;
      this.#tally?.gone.add(name);
      // Not rm, which may say that it removed what somebody else did.
      await unlink(path);
      if (isCounted) this.#bytes -= size;
    } catch (error) {
      if (!isMissing(error)) this.#options.report(error);
    }
  }

  /** Removes what no row claims, and counts the bytes of the rest. @param claimed asked at one moment, between turns */
  sweep(claimed: () => { has(name: string): boolean }): Promise<void> {
    const tally: Tally = { counted: new Set(), gone: new Set() };
    this.#tally = tally;
    const swept = this.#sweep(claimed, tally).finally(() => {
      this.#tally = null;
    });
    return this.#track(swept);
  }

  async #sweep(claimed: () => { has(name: string): boolean }, { counted, gone }: Tally): Promise<void> {
    const found = await listFiles(this.#options.folder);
    if (found.length === 0) return;
    // No name is claimed later but one that is unsettled now: whatever is neither stays unclaimed for ever.
    const isClaimed = claimed();
    const orphans = found.filter((name) => !isClaimed.has(name) && !this.#isUnsettled(name));
    const kept = found.filter((name) => isClaimed.has(name) && !this.#isUnsettled(name));
    // They stay until the next start: the rows that a backup copies may claim them.
    const isHeld = await this.#areHeld();
    for (const name of isHeld ? [] : orphans) {
      await rm(join(this.#options.folder, name), { force: true }).catch(this.#options.report);
    }
    for (const name of kept) {
      const size = await sizeOf(join(this.#options.folder, name));
      if (counted.has(name) || gone.has(name)) continue;
      counted.add(name);
      this.#bytes += size;
    }
  }

  #isUnsettled(name: string): boolean {
    return this.#unsettled.has(name.endsWith(temporarySuffix) ? name.slice(0, -temporarySuffix.length) : name);
  }

  #pathOf(name: string): string {
    return join(this.#options.folder, checked(name));
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#working.add(work);
    const done = () => this.#working.delete(work);
    work.then(done, done);
    return work;
  }

  /** Resolves when nothing is being written or removed. */
  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.allSettled(this.#working);
  }
}

/** @throws Error for a name that could lead anywhere else: a bug of the caller */
function checked(name: string): string {
  if (!fileNameShape.test(name)) throw new Error(`${JSON.stringify(name)} is no name of a file`);
  return name;
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

async function withFile(path: string, flags: string, work: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await work(file);
  } finally {
    await file.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

/** Every file, as `folder/name`; none when there is no folder yet. */
export async function listFiles(folder: string): Promise<string[]> {
  const folders = await entriesOf(folder);
  const lists = folders.map(async (name) => (await entriesOf(join(folder, name))).map((file) => `${name}/${file}`));
  return (await Promise.all(lists)).flat();
}

async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return [];
    throw error;
  }
}
