/** The ports of administrative operations while no server runs: a data folder that this process has locked. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { breakChain } from "../durability/archive/base-chain.ts";
import { applyJournal } from "../durability/journal/apply-journal.ts";
import { offline } from "../durability/journal/durability.ts";
import { AdminFailure } from "../operate/admin/operation.ts";
import type { AdminPorts } from "../operate/admin/ports.ts";
import { readClosed, requireStore } from "../operate/closed-store.ts";
import { eraseRealm } from "../operate/realm-erasure.ts";
import { creationPorts } from "../operate/secret-ports.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Alarm } from "../runtime/dispatcher.ts";
import type { Realm } from "../runtime/realm.ts";
import { RealmHost } from "../runtime/realm-host.ts";
import { DiskSpace } from "../store/disk-space.ts";
import { storeVersion } from "../store/migrations.ts";
import { openDataFolder } from "../store/open-data-folder.ts";
import { realmFolder } from "../store/realm-folders.ts";
import { type RealmEntry, type RootStore, requireRoot } from "../store/root.ts";
import { isClusterMember } from "./cluster-membership.ts";
import type { Config } from "./config.ts";
import { siteOf } from "./mail-config.ts";
import { sendTestMail } from "./test-mail.ts";

export interface OfflineTools {
  readonly config: Config;
  readonly dataDir: string;
  readonly alarm: Alarm;
}

/**
 * @throws DataFolderInUse when another process uses the folder, and whatever keeps a start from using it; nothing was
 *   changed then
 */
export function withStoppedFolder<T>(tools: OfflineTools, work: (ports: AdminPorts) => Promise<T>): Promise<T> {
  return withLockedRoot(tools, async (root, space) => {
    const folder = new StoppedFolder(root, space, tools);
    try {
      return await work(folder.ports);
    } finally {
      await folder.close();
    }
  });
}

/** The stores have everything that a killed server left in the journal. */
export async function withLockedRoot<T>(
  tools: OfflineTools,
  work: (root: RootStore, space: DiskSpace) => Promise<T>,
): Promise<T> {
  const { dataDir } = tools;
  requireStore(dataDir);
  if (isClusterMember(dataDir)) {
    throw new AdminFailure(
      "refused",
      "DATA_DIR is a node of a cluster, and what is changed here would not reach the other nodes. Stop all nodes, the owner last, and start the owner once without CLUSTER_NATS: it leaves the cluster (docs/cluster.md)",
    );
  }
  const space = spaceOf(tools);
  // LMDB writes its lock through mapped memory: without space for a new lock file, a signal would kill the process.
  if (space.isFull && !existsSync(join(dataDir, "root", "lock.mdb"))) {
    throw new AdminFailure("busy", `the disk of ${dataDir} is full`);
  }
  requireRoot(dataDir);
  // As a start does: an organization whose creation was killed right before its last step is listed.
  const root = await openDataFolder(dataDir, tools.alarm.warn);
  try {
    await applyJournal(dataDir);
    return await work(root, space);
  } finally {
    await space.close();
    root.unlock();
    await root.close();
  }
}

function spaceOf({ config, dataDir }: OfflineTools): DiskSpace {
  return new DiskSpace({
    folder: dataDir,
    freeBytesMin: config.storeFreeBytesMin,
    storeBytesMax: config.storeBytesMax,
    monotonic: () => systemClock.monotonic(),
  });
}

function addressOf({ siteUrl, host, port }: Config): string {
  return siteUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

class StoppedFolder {
  readonly ports: AdminPorts;
  readonly #root: RootStore;
  readonly #space: DiskSpace;
  readonly #tools: OfflineTools;
  /** Made for the first organization that is opened: timers of an open one fire, and write. */
  #host: RealmHost | null = null;

  constructor(root: RootStore, space: DiskSpace, tools: OfflineTools) {
    this.#root = root;
    this.#space = space;
    this.#tools = tools;
    const { dataDir } = tools;
    this.ports = {
      ...creationPorts({ dataDir, root, clock: systemClock, alarm: tools.alarm }, () => addressOf(tools.config)),
      dataDir,
      now: () => systemClock.now(),
      realms: () => root.realms(),
      isOpen: () => null,
      read: async (entry, work) => {
        const folder = realmFolder(dataDir, entry.id);
        // Rows of an earlier version are rewritten when the organization is opened.
        const isCurrent = await readClosed(folder, (rows) => rows.get("meta", "format")?.value === storeVersion);
        return isCurrent ? readClosed(folder, work) : work(this.#realm(entry).lmdb);
      },
      withRealm: async (entry, work) => work(this.#realm(entry)),
      eraseRealm: (entry, progress) =>
        eraseRealm(entry, { dataDir, root, host: this.#host, now: () => systemClock.now(), progress }),
      sendTestMail: (to) => sendTestMail(tools.config, dataDir, to, systemClock.now()),
      siteOf: (entry) => siteOf(addressOf(tools.config), entry),
      acceptsWrites: () => space.acceptsWrites(),
      server: () => null,
    };
  }

  #realm(entry: RealmEntry): Realm {
    const host = this.#opened();
    return host.openRealm(entry) ?? host.open(entry);
  }

  #opened(): RealmHost {
    if (this.#host !== null) return this.#host;
    const { dataDir, alarm } = this.#tools;
    // The archive would not notice the changes.
    breakChain(dataDir);
    this.#host = new RealmHost({
      dataDir,
      root: this.#root,
      owner: this.#root.token,
      durability: offline,
      clock: systemClock,
      alarm,
      acceptsWrites: () => this.#space.acceptsWrites(),
      onOpen: () => undefined,
    });
    return this.#host;
  }

  async close(): Promise<void> {
    await this.#host?.close();
  }
}
