/**
 * The organizations that operations work on: those of a running server, or of a data folder that this process has
 * locked. Both give the same realms, so an operation does not know which one it has.
 */
import type { Realm } from "../../runtime/realm.ts";
import type { Lmdb } from "../../store/lmdb.ts";
import type { RealmEntry } from "../../store/root.ts";

export interface ServerFacts {
  readonly version: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly address: string;
  readonly transport: string;
  readonly sockets: number;
  readonly queues: number;
  readonly unflushedBytes: number;
  readonly checkpointLagBytes: number;
}

export interface WantedRealm {
  readonly label: string;
  readonly hosts: readonly string[];
  readonly name: string;
  readonly ownerEmail: string;
  /** The address in its zuliprc; null: the server's. */
  readonly site: string | null;
}

export interface AdminPorts {
  readonly dataDir: string;
  now(): number;
  /** In the order of their ids; the first is the default one. */
  realms(): readonly RealmEntry[];
  /** Whether an organization is open; null in a stopped data folder. */
  isOpen(entry: RealmEntry): boolean | null;
  /** Rows as of the last turn. The result is returned after they are durable (M9). */
  read<T>(entry: RealmEntry, work: (lmdb: Lmdb) => T): Promise<T>;
  /** The organization as it decides and writes. It stays open until the work is done. */
  withRealm<T>(entry: RealmEntry, work: (realm: Realm) => Promise<T>): Promise<T>;
  /**
   * @returns the file with the credentials of its owner
   * @throws DataFolderInUse, AdminFailure; then it does not exist
   */
  createRealm(wanted: WantedRealm): Promise<string>;
  /**
   * Removes a deactivated organization and all its files.
   * @throws AdminFailure; then it is as before, unless the message says so
   */
  eraseRealm(entry: RealmEntry, progress: (done: number, total: number) => void): Promise<void>;
  /** The organization's address for links, without a trailing slash. */
  siteOf(entry: RealmEntry): string;
  /** null: too many are waiting. */
  hashPassword(password: string): Promise<string | null>;
  newKey(): { readonly key: string; readonly hash: string };
  /**
   * @returns the mail server or the file that has it
   * @throws AdminFailure with the answer of the mail server
   */
  sendTestMail(to: string): Promise<string>;
  /** Whether there is space for changes (M5). */
  acceptsWrites(): boolean;
  /** null while no server runs. */
  server(): ServerFacts | null;
}
