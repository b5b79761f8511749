/** The organizations of a cluster on a node that does not own them: finds them in the streams and follows each. */
import { environmentOf } from "../store/environment.ts";
import { LmdbTables } from "../store/lmdb-tables.ts";
import { realmFolder } from "../store/realm-folders.ts";
import { readIdentity } from "../store/realm-identity.ts";
import type { RootStore } from "../store/root.ts";
import type { Nats } from "./connection.ts";
import { FollowedRealm } from "./followed-realm.ts";
import { RealmLog } from "./realm-log.ts";
import { requested } from "./request.ts";
import { Snapshots } from "./snapshots.ts";
import type { Streams } from "./streams.ts";

export interface FollowerOptions {
  readonly nats: Nats;
  readonly streams: Streams;
  readonly dataDir: string;
  readonly root: RootStore;
  /** @throws DamagedData */
  readonly checkStore: (realmId: number) => void;
  readonly warn: (line: string) => void;
}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #realms = new Map<number, FollowedRealm>();
  readonly #snapshots: Snapshots;
  #followed = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#snapshots = new Snapshots(options.nats);
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

  /** Looks for organizations that were created since. */
  async find(): Promise<void> {
    const { nats, streams } = this.#options;
    for (const id of await realmIdsIn(nats, streams)) this.realm(id);
  }

  /**
   * Brings everything that the streams have now into the stores.
   * @param isFollowed false of those that this node owns
   */
  async catchUp(isFollowed: (realmId: number) => boolean): Promise<void> {
    let followed = 0;
    for (const [id, realm] of this.#realms) {
      if (!isFollowed(id) || !(await realm.catchUp())) continue;
      await this.list(id);
      followed++;
    }
    this.#followed = followed;
  }

  /** How many organizations were followed the last time. */
  get followed(): number {
    return this.#followed;
  }

  /** Enters an organization whose store was built here into the root. */
  async list(id: number): Promise<void> {
    const { dataDir, root } = this.#options;
    if (root.realms().some((entry) => entry.id === id)) return;
    const tables = new LmdbTables(realmFolder(dataDir, id));
    const identity = readIdentity(environmentOf(tables));
    await tables.close();
    if (identity !== null) root.addRealm({ ...identity, id, dueHint: 0 });
  }

  async close(): Promise<void> {
    for (const realm of this.#realms.values()) await realm.close();
  }
}

/** The organizations that have messages. */
export async function realmIdsIn(nats: Nats, streams: Streams): Promise<number[]> {
  const ids: number[] = [];
  for (const { name, subjects } of streams.all) {
    const { state } = await requested(nats, () => nats.manager.streams.info(name, { subjects_filter: subjects }));
    ids.push(...Object.keys(state.subjects ?? {}).map((subject) => Number(subject.split(".")[2])));
  }
  return ids;
}
