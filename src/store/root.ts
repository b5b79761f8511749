/** The root environment of a data folder: who owns it, which realms there are, when an idle one has something due (M8). */
import { closeSync, existsSync, mkdirSync, openSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { isRunning, type Owner, thisProcess } from "./data-lock.ts";
import { flushFoldersTo } from "./folders.ts";
import { checkPages } from "./lmdb-check.ts";
import { StoreTooNew, storeVersion } from "./migrations.ts";
import { RootRows } from "./root-rows.ts";

export interface RealmEntry {
  readonly id: number;
  /** First label of its host; "" for the default realm (D4). */
  readonly label: string;
  /** Exact hosts beside the label. */
  readonly hosts: readonly string[];
  readonly createdAt: number;
  /** When a closed realm has a timer due at the earliest, or null. */
  readonly dueHint: number | null;
}

export class DataFolderInUse extends Error {
  override readonly name = "DataFolderInUse";
}

const pageBytes = 4096;
/** LMDB's mark in the head of its first two pages. */
const mark = { offset: 24, bytes: Buffer.from([0xde, 0xc0, 0xef, 0xbe]) };

/**
 * A power cut while LMDB made the root leaves pages that end whichever process opens them. Nothing was in it yet, where there is no
 * organization; where there is one, it is not ours to remove.
 * @throws Error when it is damaged beyond that
 */
function clearUnfinished(dataFolder: string, folder: string): void {
  const file = join(folder, "data.mdb");
  if (!existsSync(file) || hasHead(file)) return;
  if (existsSync(join(dataFolder, "realms"))) throw new Error(`${file} is damaged: restore a backup`);
  rmSync(folder, { recursive: true, force: true });
}

/** An empty file is one that another process is making at this moment. */
function hasHead(file: string): boolean {
  const head = Buffer.alloc(2 * pageBytes);
  const opened = openSync(file, "r");
  try {
    if (readSync(opened, head) === 0) return true;
  } finally {
    closeSync(opened);
  }
  return [0, pageBytes].every((page) => mark.bytes.equals(head.subarray(page + mark.offset, page + mark.offset + 4)));
}

/** @throws DamagedData */
function openRows(folder: string): RootRows {
  const file = join(folder, "data.mdb");
  checkPages(file, "whole");
  const database = open<Buffer, (string | number)[]>({ path: folder, overlappingSync: false, encoding: "binary" });
  try {
    return new RootRows(database, file);
  } catch (error) {
    void database.close();
    throw error;
  }
}

export class RootStore {
  readonly #database: RootRows;

  private constructor(database: RootRows) {
    this.#database = database;
  }

  /** @throws StoreTooNew when a newer program wrote it */
  static open(dataFolder: string): RootStore {
    const folder = join(dataFolder, "root");
    clearUnfinished(dataFolder, folder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const database = openRows(folder);
    // Always: the process that made it may have been killed before it came to this.
    flushFoldersTo(folder);
    const store = new RootStore(database);
    const version = database.get(["version"]) as number | undefined;
    if (version !== undefined && version > storeVersion) {
      throw new StoreTooNew(
        `the data has version ${version}, this program knows ${storeVersion}: use the newer program`,
      );
    }
    if (version === undefined) store.#write(() => database.put(["version"], storeVersion));
    return store;
  }

  /** @throws DataFolderInUse when another process runs on it */
  lock(): void {
    this.#write(() => {
      const owner = this.#database.get(["owner"]) as Owner | undefined;
      if (owner !== undefined && owner.pid !== process.pid && isRunning(owner)) {
        throw new DataFolderInUse(`process ${owner.pid} is running on this data folder`);
      }
      this.#database.sealAll();
      this.#database.put(["owner"], thisProcess());
    });
  }

  unlock(): void {
    this.#write(() => this.#database.remove(["owner"]));
  }

  /** In order of their ids; the first one is the default realm. */
  realms(): RealmEntry[] {
    const found: RealmEntry[] = [];
    for (const { value } of this.#database.getRange({ start: ["realm"], end: ["realm", Number.MAX_SAFE_INTEGER] })) {
      found.push(value as RealmEntry);
    }
    return found;
  }

  /**
   * Takes the id of a realm that is being made. Until `finishFounding`, nobody else makes one.
   * @throws DataFolderInUse when another process is making one
   */
  beginFounding(): number {
    let id = 0;
    this.#write(() => {
      const founder = this.#database.get(["founder"]) as Owner | undefined;
      if (founder !== undefined && founder.pid !== process.pid && isRunning(founder)) {
        throw new DataFolderInUse(`process ${founder.pid} is making another organization: try again`);
      }
      id = (this.realms().at(-1)?.id ?? 0) + 1;
      this.#database.put(["founder"], thisProcess());
    });
    return id;
  }

  abandonFounding(): void {
    this.#write(() => this.#database.remove(["founder"]));
  }

  finishFounding(entry: RealmEntry): void {
    this.#write(() => {
      this.#database.put(["realm", entry.id], entry);
      this.#database.put(["revision"], this.#revision() + 1);
      this.#database.remove(["founder"]);
    });
  }

  /** Another one than before whenever a realm was made since, by this process or another: as cheap as reading a row. */
  revision(): number {
    this.#database.resetReadTxn();
    return this.#revision();
  }

  #revision(): number {
    return (this.#database.get(["revision"]) as number | undefined) ?? 0;
  }

  putRealm(entry: RealmEntry): void {
    this.#write(() => this.#database.put(["realm", entry.id], entry));
  }

  /** Copies the root to an existing empty folder. */
  async backup(folder: string): Promise<void> {
    await this.#database.backup(folder);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  /** A block body: a returned promise would leave the transaction open (pitfalls 1.1). */
  #write(work: () => void): void {
    this.#database.transactionSync(() => {
      work();
    });
  }
}
