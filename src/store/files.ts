/**
 * A realm's files, outside LMDB: write a temporary file, flush it, rename it, flush its folder; then a turn claims it.
 * Files that a crash left unclaimed are swept when the realm opens. A file is written once under a random name and
 * never changed.
 */
import { existsSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileNameShape } from "../../schemas/files.ts";
import { FileFetches } from "./file-fetches.ts";
import { flushFolder } from "./folders.ts";
import { PathGuard } from "./path-guard.ts";
import type { SharedFiles } from "./shared-files.ts";
import { isNoRoom, StagedUpload } from "./staged-upload.ts";

export interface NewFile {
  /** Folder and name, as `fileNameShape` demands. */
  readonly name: string;
  /** Bytes to write, or a finished upload of the same name. */
  readonly bytes: Uint8Array | StagedUpload;
}

export interface FileStoreOptions {
  readonly folder: string;
  /** Whether the disk has space (M5). */
  readonly acceptsWrites: () => boolean;
  /** Whether a backup is running: no file is removed meanwhile. */
  readonly areLocked?: () => Promise<boolean>;
  /** @returns whether the archive has what was written before this call, and so the files that it claims */
  readonly archiveMark?: () => () => boolean;
  /** A file could not be removed; the next sweep tries again. */
  readonly report: (error: unknown) => void;
  /** Resolves when everything that memory shows is durable; absent: it always is. */
  readonly onceDurable?: () => Promise<void>;
  /** In a cluster: has each file before it can be claimed, and what this disk lacks. */
  readonly shared?: SharedFiles;
}

const temporarySuffix = ".part";

/** The folder of a realm's files, next to its environment. */
export function filesFolder(realmFolder: string): string {
  return join(realmFolder, "files");
}

/** The changes while a sweep runs, so that no file is counted twice, or subtracted without having been counted. */
interface Tally {
  readonly counted: Set<string>;
  readonly gone: Set<string>;
}

export class FileStore {
  readonly #options: FileStoreOptions;
  /** Files that are written or being written but not claimed yet: sweeps ignore them. */
  readonly #unconfirmed = new Set<string>();
  readonly #working = new Set<Promise<unknown>>();
  /**
   * To be removed when no backup is running and the archive has them. A restart forgets them, and its sweep removes
   * them.
   */
  readonly #postponed = new Map<string, () => boolean>();
  readonly #made = new Set<string>();
  /** Null: there are no other nodes. */
  readonly #fetches: FileFetches | null;
  #bytes = 0;
  /** Identity of the folder; null if it does not exist yet. */
  #place: PathGuard | null = null;
  /** Files added and removed while a sweep counts; null when no sweep is running. */
  #tally: Tally | null = null;

  constructor(options: FileStoreOptions) {
    this.#options = options;
    const { shared } = options;
    this.#fetches = shared === undefined ? null : new FileFetches((name) => this.#fetchOne(shared, name));
    this.#seePlace();
  }

  #seePlace(): void {
    if (this.#place === null && existsSync(this.#options.folder)) this.#place = new PathGuard(this.#options.folder);
  }

  /** Total size of all files, for the quota: an estimate that is complete when the sweep after opening is done. */
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
   * When this resolves, all files are on disk, or none. Sweeps ignore them until `confirm`.
   * @returns false when the disk has no space for them (M5)
   * @throws Error when the folder cannot be written for another reason
   */
  write(files: readonly NewFile[]): Promise<boolean> {
    for (const { name } of files) this.#unconfirmed.add(checked(name));
    return this.#track(this.#write(files));
  }

  async #write(files: readonly NewFile[]): Promise<boolean> {
    try {
      const folders = new Set(files.map(({ name }) => dirname(name)));
      for (const folder of folders) await this.#makeFolder(folder);
      for (const { name, bytes } of files) await this.#writeOne(name, bytes);
      for (const folder of folders) await flushFolder(join(this.#options.folder, folder));
      if (await this.#share(files)) return true;
      await this.#takeBack(files);
      return false;
    } catch (error) {
      await this.#takeBack(files);
      if (isNoRoom(error)) return false;
      throw error;
    }
  }

  /** @returns false when the cluster cannot store them now */
  async #share(files: readonly NewFile[]): Promise<boolean> {
    const { shared } = this.#options;
    for (const { name } of shared === undefined ? [] : files) {
      if (shared !== undefined && !(await shared.put(name, this.#pathOf(name)))) return false;
    }
    return true;
  }

  async #takeBack(files: readonly NewFile[]): Promise<void> {
    for (const { name } of files) {
      await this.#remove(name);
      this.#unconfirmed.delete(name);
    }
  }

  async #writeOne(name: string, bytes: Uint8Array | StagedUpload): Promise<void> {
    const path = this.#pathOf(name);
    if (bytes instanceof StagedUpload) return bytes.renameTo(path);
    const temporary = path + temporarySuffix;
    try {
      await withFile(temporary, "wx", async (file) => {
        await file.writeFile(bytes);
        await file.sync();
      });
      await rename(temporary, path);
      this.#bytes += bytes.length;
      this.#tally?.counted.add(name);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /**
   * Starts a file that is written while it arrives. Its bytes are counted from the first one on, and sweeps ignore it
   * until `confirm` or until it is abandoned. Returns null if the disk has no space (M5).
   */
  async stage(name: string): Promise<StagedUpload | null> {
    this.#unconfirmed.add(checked(name));
    try {
      await this.#track(this.#makeFolder(dirname(name)));
      const path = this.#pathOf(name) + temporarySuffix;
      this.#tally?.counted.add(name);
      return new StagedUpload(await open(path, "wx", 0o600), path, {
        track: (work) => this.#track(work),
        count: (bytes) => {
          this.#bytes += bytes;
        },
        acceptsWrites: () => this.acceptsWrites,
        ended: () => this.#unconfirmed.delete(name),
      });
    } catch (error) {
      this.#unconfirmed.delete(name);
      if (isNoRoom(error)) return null;
      throw error;
    }
  }

  /** Runs once per folder and process; also flushes the entry of the folder itself. */
  async #makeFolder(folder: string): Promise<void> {
    if (this.#made.has(folder)) return;
    await mkdir(join(this.#options.folder, folder), { recursive: true, mode: 0o700 });
    this.#seePlace();
    await flushFolder(this.#options.folder);
    await flushFolder(dirname(this.#options.folder));
    this.#made.add(folder);
  }

  /** The turn has decided: removes files that no row claimed. */
  confirm(names: readonly string[], isReferenced: boolean): void {
    for (const name of names) {
      if (!isReferenced) this.discard(name);
      this.#unconfirmed.delete(name);
    }
  }

  /** Returns null if there is no such file. */
  read(name: string): Promise<Buffer | null> {
    return this.#reading(name, () => readFile(this.#pathOf(name)));
  }

  /** For reading in chunks; null if there is no such file. The caller closes it. */
  open(name: string): Promise<FileHandle | null> {
    return this.#reading(name, () => open(this.#pathOf(name), "r"));
  }

  async #reading<T>(name: string, work: () => Promise<T>): Promise<T | null> {
    for (let isFetched = false; ; isFetched = true) {
      try {
        return await work();
      } catch (error) {
        if (!isMissing(error)) throw error;
        if (isFetched || this.#fetches === null || !(await this.#track(this.#fetches.get(name)))) return null;
      }
    }
  }

  /** Brings a file here that another node has written. @returns false if there is none */
  async #fetchOne(shared: SharedFiles, name: string): Promise<boolean> {
    const isUnconfirmed = this.#unconfirmed.has(name);
    this.#unconfirmed.add(name);
    const path = this.#pathOf(name);
    try {
      await this.#makeFolder(dirname(name));
      // Removes the leftover of a killed process.
      await rm(path + temporarySuffix, { force: true });
      if (!(await shared.get(name, path + temporarySuffix))) return false;
      await rename(path + temporarySuffix, path);
      this.#bytes += await sizeOf(path);
      this.#tally?.counted.add(name);
      return true;
    } finally {
      if (!isUnconfirmed) this.#unconfirmed.delete(name);
    }
  }

  /** Removes a file in the background. */
  discard(name: string): void {
    void this.#track(this.#removeUnlessLocked(name, this.#archiveMark()));
  }

  /** Removes files that had to wait for a backup or the archive, unless they still have to. */
  discardPostponed(): void {
    const waiting = [...this.#postponed];
    this.#postponed.clear();
    for (const [name, isArchived] of waiting) void this.#track(this.#removeUnlessLocked(name, isArchived));
  }

  async #removeUnlessLocked(name: string, isArchived: () => boolean): Promise<void> {
    if (!isArchived() || (await this.#areLocked())) this.#postponed.set(name, isArchived);
    else await this.#remove(name);
  }

  #archiveMark(): () => boolean {
    return this.#options.archiveMark?.() ?? (() => true);
  }

  async #areLocked(): Promise<boolean> {
    return this.#options.areLocked !== undefined && (await this.#options.areLocked());
  }

  async #remove(name: string): Promise<void> {
    await this.#removeHere(name);
    await this.#options.shared?.remove(name).catch(this.#options.report);
  }

  async #removeHere(name: string): Promise<void> {
    try {
      const path = this.#pathOf(name);
      const { size } = await stat(path);
      // Recorded before the removal: a sweep that no longer finds the file does not count it.
      const isCounted = this.#tally?.counted.has(name) ?? true;
      this.#tally?.gone.add(name);
      // Not rm, which may report success when somebody else removed the file.
      await unlink(path);
      if (isCounted) this.#bytes -= size;
    } catch (error) {
      if (!isMissing(error)) this.#options.report(error);
    }
  }

  /**
   * Removes files that no row claims, and counts the bytes of the rest.
   * @param claimed read at one moment, between turns
   */
  sweep(referenced: () => { has(name: string): boolean }): Promise<void> {
    const tally: Tally = { counted: new Set(), gone: new Set() };
    this.#tally = tally;
    const swept = this.#sweep(referenced, tally).finally(() => {
      this.#tally = null;
    });
    return this.#track(swept);
  }

  async #sweep(referenced: () => { has(name: string): boolean }, { counted, gone }: Tally): Promise<void> {
    const found = await listFiles(this.#options.folder);
    if (found.length === 0) return;
    // Later claims concern only files that are unconfirmed now, so a file that is neither claimed nor unconfirmed is never
    // claimed.
    const isReferenced = referenced();
    const orphans = found.filter((name) => !isReferenced.has(name) && !this.#isUnconfirmed(name));
    const kept = found.filter((name) => isReferenced.has(name) && !this.#isUnconfirmed(name));
    const isArchived = this.#archiveMark();
    // The turn that let an orphan go may not be durable yet.
    await this.#options.onceDurable?.();
    if (!isArchived()) for (const name of orphans) this.#postponed.set(name, isArchived);
    // They stay until the next start, because the rows that a backup copies may claim them.
    const isLocked = !isArchived() || (await this.#areLocked());
    for (const name of isLocked ? [] : orphans) {
      await rm(join(this.#options.folder, name), { force: true }).catch(this.#options.report);
    }
    for (const name of kept) {
      const size = await sizeOf(join(this.#options.folder, name));
      if (counted.has(name) || gone.has(name)) continue;
      counted.add(name);
      this.#bytes += size;
    }
  }

  #isUnconfirmed(name: string): boolean {
    return this.#unconfirmed.has(name.endsWith(temporarySuffix) ? name.slice(0, -temporarySuffix.length) : name);
  }

  #pathOf(name: string): string {
    return fileIn(this.#options.folder, name);
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#working.add(work);
    const done = () => this.#working.delete(work);
    work.then(done, done);
    return work;
  }

  get isIdle(): boolean {
    return this.#working.size === 0;
  }

  /** Resolves when nothing is being written or removed. */
  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.allSettled(this.#working);
  }
}

/**
 * The path of a file by its name in a row: in a realm's folder, or in an archive.
 * @throws Error for a name that could lead outside the folder
 */
export function fileIn(folder: string, name: string): string {
  return join(folder, checked(name));
}

/** @throws Error for a name that could lead outside the folder: a bug of the caller, or data that somebody has changed */
function checked(name: string): string {
  if (!fileNameShape.test(name)) throw new Error(`${JSON.stringify(name)} is not a valid file name`);
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

/** Every file as `folder/name`; none if there is no folder yet. */
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
