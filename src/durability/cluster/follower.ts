/** The organizations of a cluster on a node that does not own them: finds them in the streams and follows each. */
import { limits } from "../../../schemas/limits.ts";
import { lmdbOf } from "../../store/lmdb.ts";
import { LmdbTables } from "../../store/lmdb-tables.ts";
import { realmFolder } from "../../store/realm-folders.ts";
import { readIdentity } from "../../store/realm-identity.ts";
import type { RootStore } from "../../store/root.ts";
import { JournalDamaged } from "../journal/journal.ts";
import { isErased } from "./claim.ts";
import type { Nats } from "./connection.ts";
import { FollowedRealm } from "./followed-realm.ts";
import { RealmLog } from "./realm-log.ts";
import { Snapshots } from "./snapshots.ts";
import { StreamNews } from "./stream-news.ts";
import type { Streams } from "./streams.ts";

export interface FollowerOptions {
  readonly nats: Nats;
  readonly streams: Streams;
  readonly dataDir: string;
  readonly root: RootStore;
  /** @throws DamagedData */
  readonly checkStore: (realmId: number) => void;
  readonly warn: (line: string) => void;
  readonly clock: { monotonic(): number };
}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #realms = new Map<number, FollowedRealm>();
  readonly #snapshots: Snapshots;
  readonly #news: StreamNews;
  /** Organizations that may have more than their stores. */
  readonly #behind = new Set<number>();
  /** Organizations that were erased. */
  readonly #ended = new Set<number>();
  /** Those that the root lists as due at once. */
  readonly #listed = new Set<number>();
  /** When something came for those whose stores are open, the latest one at the end. */
  readonly #openSince = new Map<number, number>();
  #allAt = Number.NEGATIVE_INFINITY;
  #followed = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#snapshots = new Snapshots(options.nats);
    this.#news = new StreamNews(options.nats, options.streams);
  }

  get realms(): Iterable<FollowedRealm> {
    return this.#realms.values();
  }

  realm(id: number): FollowedRealm {
    const known = this.#realms.get(id);
    if (known !== undefined) return known;
    const { nats, streams, dataDir, checkStore, warn } = this.#options;
    const log = new RealmLog(nats, streams, id);
    const made = new FollowedRealm({ dataDir, checkStore, log, warn, snapshots: this.#snapshots });
    this.#realms.set(id, made);
    return made;
  }

  /** Looks for organizations that were created, and for messages that were added since. */
  async find(): Promise<void> {
    for (const id of await this.#news.changed()) {
      if (this.#ended.has(id)) continue;
      this.realm(id);
      this.#behind.add(id);
    }
  }

  /**
   * Brings everything that the streams have now into the stores.
   * @param isFollowed false of those that this node owns
   */
  async catchUp(isFollowed: (realmId: number) => boolean): Promise<void> {
    const { clock } = this.#options;
    // Now and then all of them, whatever the streams say has changed.
    if (clock.monotonic() - this.#allAt >= limits.cluster_follow_all_ms) {
      for (const id of this.#realms.keys()) this.#behind.add(id);
      this.#allAt = clock.monotonic();
    }
    let followed = 0;
    for (const [id, realm] of this.#realms) {
      // When this node stops serving an organization, it follows it again from there.
      if (!isFollowed(id)) {
        this.#behind.add(id);
        this.#listed.delete(id);
      } else if (!this.#behind.has(id)) followed++;
      else {
        this.#behind.delete(id);
        if (await this.#caughtUp(id, realm)) followed++;
      }
    }
    this.#followed = followed;
    await this.#rest();
  }

  /** An open store takes memory: only those of organizations that change stay open. */
  async #rest(): Promise<void> {
    const oldest = this.#options.clock.monotonic() - limits.cluster_followed_open_ms;
    for (const [id, since] of this.#openSince) {
      if (since > oldest && this.#openSince.size <= limits.cluster_followed_open_max) return;
      this.#openSince.delete(id);
      await this.#realms.get(id)?.rest();
    }
  }

  async #caughtUp(id: number, realm: FollowedRealm): Promise<boolean> {
    try {
      if (!(await realm.catchUp())) return false;
      this.#openSince.delete(id);
      if (realm.isOpen) this.#openSince.set(id, this.#options.clock.monotonic());
      await this.list(id);
      return true;
    } catch (error) {
      // Missing data of an erased organization is no damage.
      if (error instanceof JournalDamaged && (await isErased(realm.log))) return false;
      this.#behind.add(id);
      throw error;
    }
  }

  /** It was erased. Resolves when nothing here uses its files any more. */
  async end(id: number): Promise<void> {
    this.#ended.add(id);
    const realm = this.#realms.get(id);
    this.#realms.delete(id);
    this.#behind.delete(id);
    this.#listed.delete(id);
    this.#openSince.delete(id);
    await realm?.end();
  }

  /** How many organizations were followed the last time. */
  get followed(): number {
    return this.#followed;
  }

  /** Enters an organization whose store was built here into the root. */
  async list(id: number): Promise<void> {
    if (this.#listed.has(id)) return;
    const { dataDir, root } = this.#options;
    if (root.isErased(id)) return;
    const entry = root.realms().find((one) => one.id === id);
    if (entry !== undefined) {
      // Others decide when it has work. If this folder leaves the cluster, the next start looks.
      if (entry.dueHint !== 0) root.putRealm({ ...entry, dueHint: 0 });
      this.#listed.add(id);
      return;
    }
    const tables = new LmdbTables(realmFolder(dataDir, id));
    const identity = readIdentity(lmdbOf(tables));
    await tables.close();
    if (identity === null) return;
    root.addRealm({ ...identity, id, dueHint: 0 });
    this.#listed.add(id);
  }

  async close(): Promise<void> {
    for (const realm of this.#realms.values()) await realm.close();
  }
}
