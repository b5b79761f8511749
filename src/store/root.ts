/** The root environment of a data folder: its owner, its realms, and when an idle realm has due work (M8). */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { dataFile, fileFaults, stateOfFile } from "./data-file.ts";
import { isRunning, isThisProcess, type LockHolder, thisProcess } from "./data-lock.ts";
import { takenOver } from "./fence.ts";
import { DataFolderInUse, FolderLock } from "./folder-lock.ts";
import { flushFoldersTo } from "./folders.ts";
import { checkPages } from "./lmdb-check.ts";
import { storeVersion, tooNew } from "./migrations.ts";
import { PathGuard } from "./path-guard.ts";
import { realmIdsOnDisk } from "./realm-folders.ts";
import type { RealmIdentity } from "./realm-identity.ts";
import { RootRows } from "./root-rows.ts";

export { DataFolderInUse };

export interface RealmEntry extends RealmIdentity {
  /** When the next timer of a closed realm is due at the earliest, or null. */
  dueHint: number | null;
  /** The file that was opened after its last check (page-checks.ts). */
  openedAs?: string | null;
}

/** An organization that was removed for ever. Its number is never used again. */
export interface ErasedRealm {
  readonly id: number;
  /** When. */
  readonly at: number;
  /** Its label, until nothing is left of it. */
  readonly label: string | null;
}

/** Held by this process while it owns the folder. */
interface Ownership {
  readonly token: string;
  readonly lock: FolderLock;
}

/** @throws DamagedData */
function openRows(folder: string): RootRows {
  const file = dataFile(folder);
  checkPages(file, "all-pages");
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
  readonly #dataFolder: string;
  readonly #place: PathGuard;
  #ownership: Ownership | null = null;
  #creationLock: FolderLock | null = null;
  #onErased: () => void = () => undefined;

  private constructor(database: RootRows, dataFolder: string) {
    this.#database = database;
    this.#dataFolder = dataFolder;
    this.#place = new PathGuard(dataFile(join(dataFolder, "root")));
  }

  /** @throws UnknownFormat; Error when it is lost and the server has to rebuild it */
  static open(dataFolder: string): RootStore {
    requireRoot(dataFolder);
    return RootStore.make(dataFolder);
  }

  /**
   * Opens an intact root or creates a new one.
   * @throws UnknownFormat
   */
  static make(dataFolder: string): RootStore {
    const folder = join(dataFolder, "root");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const database = firstRead(() => openRows(folder));
    // Always flushed: the process that created it may have been killed before this point.
    flushFoldersTo(folder);
    const store = new RootStore(database, dataFolder);
    const version = database.get(["format"]) as number | undefined;
    if (version !== undefined && version > storeVersion) throw tooNew("the data", version);
    if (version === undefined) store.#write(() => database.put(["format"], storeVersion));
    return store;
  }

  /**
   * From now on this process owns the folder, and every write of an earlier owner fails (fence.ts).
   * @throws DataFolderInUse when another process is using it
   */
  lock(lock?: FolderLock): void {
    if (this.#ownership !== null) return;
    const taken = lock ?? FolderLock.take(this.#dataFolder);
    const me = thisProcess();
    try {
      this.#write(() => {
        const owner = this.#database.get(["owner"]) as LockHolder | undefined;
        if (owner !== undefined && !isThisProcess(owner) && isRunning(owner)) {
          throw new DataFolderInUse(`process ${owner.pid} is running on this data folder`);
        }
        // An older program must not use the folder from now on.
        if ((this.#database.get(["format"]) as number) < storeVersion) this.#database.put(["format"], storeVersion);
        this.#database.put(["owner"], me);
      });
    } catch (error) {
      if (lock === undefined) taken.release();
      throw error;
    }
    this.#ownership = { token: me.token, lock: taken };
  }

  /** The owner's token; null if this process does not own the folder. */
  get token(): string | null {
    return this.#ownership?.token ?? null;
  }

  unlock(): void {
    if (this.#ownership === null) return;
    if (this.#isOwner()) this.#write(() => this.#database.remove(["owner"]));
    this.#release();
  }

  /** For a copy, which still names the process that ran on the original. */
  forgetOwner(): void {
    this.#write(() => this.#database.remove(["owner"]));
  }

  /** @throws OwnershipLost when another process took the folder over, or the files were replaced */
  assertOwned(): void {
    if (!this.#place.mayHaveChanged()) return;
    this.#database.resetReadTxn();
    if (this.#ownership !== null && !this.#isOwner()) throw takenOver(this.#dataFolder);
  }

  #isOwner(): boolean {
    return (this.#database.get(["owner"]) as LockHolder | undefined)?.token === this.#ownership?.token;
  }

  /** Ordered by id; the first one is the default realm. */
  realms(): RealmEntry[] {
    const found: RealmEntry[] = [];
    for (const { value } of this.#database.getRange({ start: ["realm"], end: ["realm", Number.MAX_SAFE_INTEGER] })) {
      found.push(value as RealmEntry);
    }
    return found;
  }

  /**
   * Reserves an id for a new realm that no row and no folder has, and no realm ever had. Until `finishRealmCreation` or
   * `abandonRealmCreation` no other process can create one.
   * @throws DataFolderInUse when another process is creating one
   */
  beginRealmCreation(): number {
    const lock = FolderLock.take(this.#dataFolder, "realmCreation");
    let id = 0;
    try {
      this.#write(() => {
        const founder = this.#database.get(["founder"]) as LockHolder | undefined;
        if (founder !== undefined && !isThisProcess(founder) && isRunning(founder)) {
          throw new DataFolderInUse(`process ${founder.pid} is creating another organization: try again`);
        }
        const known = [...this.realms(), ...this.erased()].map((entry) => entry.id);
        id = Math.max(0, ...known, ...realmIdsOnDisk(this.#dataFolder)) + 1;
        this.#database.put(["founder"], thisProcess());
      });
    } catch (error) {
      lock.release();
      throw error;
    }
    this.#creationLock = lock;
    return id;
  }

  abandonRealmCreation(): void {
    this.#write(() => this.#database.remove(["founder"]));
    this.#creationLock?.release();
  }

  finishRealmCreation(entry: RealmEntry): void {
    this.#write(() => {
      this.#database.put(["realm", entry.id], entry);
      this.#database.put(["revision"], this.#revision() + 1);
      this.#database.remove(["founder"]);
    });
    this.#creationLock?.release();
  }

  /** Changes whenever any process creates or erases a realm; as cheap as reading a row. */
  revision(): number {
    this.#database.resetReadTxn();
    return this.#revision();
  }

  #revision(): number {
    return (this.#database.get(["revision"]) as number | undefined) ?? 0;
  }

  /** A realm whose store came from elsewhere, unless it was erased. */
  addRealm(entry: RealmEntry): void {
    this.#write(() => {
      if (this.isErased(entry.id)) return;
      this.#database.put(["realm", entry.id], entry);
      this.#database.put(["revision"], this.#revision() + 1);
    });
  }

  putRealm(entry: RealmEntry): void {
    this.putRealms([entry]);
  }

  /** With one flush. Entries of erased realms have no effect. */
  putRealms(entries: readonly RealmEntry[]): void {
    this.#write(() => {
      for (const entry of entries) if (!this.isErased(entry.id)) this.#database.put(["realm", entry.id], entry);
    });
  }

  /** Ordered by id. */
  erased(): ErasedRealm[] {
    const range = { start: ["erased"], end: ["erased", Number.MAX_SAFE_INTEGER] };
    return this.#database.getRange(range).map(({ value }) => value as ErasedRealm);
  }

  isErased(id: number): boolean {
    return this.#database.get(["erased", id]) !== undefined;
  }

  /** From now on the realm does not exist, whatever is left of its files. */
  eraseRealm({ id, label }: RealmIdentity, at: number): void {
    this.#write(() => {
      this.#database.remove(["realm", id]);
      this.#database.put(["erased", id], { id, at, label } satisfies ErasedRealm);
      this.#database.put(["revision"], this.#revision() + 1);
    });
    this.#onErased();
  }

  /** Stores what remains known of an erased realm. */
  noteErased(erased: ErasedRealm): void {
    this.#write(() => this.#database.put(["erased", erased.id], erased));
  }

  /** Sets the listener for realms that this process erases. */
  onErased(listener: () => void): void {
    this.#onErased = listener;
  }

  /** Copies the root to an existing empty folder. */
  async backup(folder: string): Promise<void> {
    await this.#database.backup(folder);
  }

  async close(): Promise<void> {
    await this.#database.close();
    this.#release();
  }

  #release(): void {
    this.#ownership?.lock.release();
    this.#ownership = null;
    this.#creationLock?.release();
  }

  /** A block body: a returned promise would leave the transaction open (pitfalls 1.1). */
  #write(work: () => void): void {
    this.#database.transactionSync(() => {
      if (this.#ownership !== null && !this.#isOwner()) throw takenOver(this.#dataFolder);
      work();
    });
    if (this.#ownership !== null) this.#place.verify();
  }
}

/**
 * Commands of the command line leave a lost root to the server.
 * @throws Error
 */
export function requireRoot(dataFolder: string): void {
  const file = dataFile(join(dataFolder, "root"));
  const state = stateOfFile(file);
  const isNew = (state === "missing" || state === "empty") && realmIdsOnDisk(dataFolder).length === 0;
  if (state === "whole" || isNew) return;
  throw new Error(`${file} ${fileFaults[state]}. Start the server: it rebuilds the root, or reports why it cannot.`);
}

/**
 * LMDB identifies readers by process id, with one slot each. If the slot is taken it returns none, which shows as a
 * TypeError.
 */
function firstRead<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new DataFolderInUse(
      `a process of another container has this data folder open under the same process id, ${process.pid}: start this one under another id (docker run --init)`,
    );
  }
}
