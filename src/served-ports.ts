/** What administrative operations work on while the server runs (admin/ports.ts). */
import { programVersion } from "../schemas/server.ts";
import { AdminFailure } from "./admin/operation.ts";
import type { AdminPorts } from "./admin/ports.ts";
import { readClosed } from "./closed-store.ts";
import type { Config } from "./config.ts";
import { onceDurable } from "./journal/gate.ts";
import { siteOf } from "./mail-config.ts";
import type { MetricSources } from "./metric-families.ts";
import type { RealmCreationTools } from "./realm-creation.ts";
import { eraseRealm } from "./realm-erasure.ts";
import type { Clock } from "./runtime/clock.ts";
import type { Realm } from "./runtime/realm.ts";
import { RealmElsewhere, type RealmHost } from "./runtime/realm-host.ts";
import { creationPorts } from "./secret-ports.ts";
import { realmFolder } from "./store/realm-folders.ts";
import type { RealmEntry } from "./store/root.ts";
import { sendTestMail } from "./test-mail.ts";

interface ServedTools extends Pick<RealmCreationTools, "root" | "alarm" | "reserve"> {
  /** In a cluster: resolves when this node serves an organization that was created. */
  readonly onceOwned?: (id: number) => Promise<void>;
  readonly clock: Clock;
  readonly config: Config;
  /** The server is a node of a cluster. */
  readonly isMember: boolean;
  readonly url: () => string;
}

export interface ServedParts
  extends ServedTools,
    Pick<
      MetricSources,
      "dataDir" | "host" | "hubs" | "sockets" | "durability" | "acceptsWrites" | "transport" | "startedAt"
    > {}

export function servedPorts(parts: ServedParts): AdminPorts {
  const { dataDir, host, clock } = parts;
  return {
    ...creationPorts(parts, parts.url),
    dataDir,
    now: () => clock.now(),
    realms: () => host.listed(),
    isOpen: (entry) => host.openRealm(entry) !== null,
    async read(entry, work) {
      const realm = host.openRealm(entry);
      // A closed organization's store has every turn.
      if (realm === null) return readClosed(realmFolder(dataDir, entry.id), work);
      const found = work(realm.environment);
      await onceDurable(realm.gate);
      return found;
    },
    withRealm(entry, work) {
      const realm = host.openRealm(entry) ?? openHere(host, entry);
      return realm.use.during(durably(realm, work));
    },
    async eraseRealm(entry, progress) {
      if (parts.isMember) throw new AdminFailure("refused", inCluster);
      await eraseRealm(entry, { dataDir, root: parts.root, host, now: () => clock.now(), progress });
      parts.hubs.forget(entry.id);
      parts.alarm.warn(
        `organization ${entry.label} (number ${entry.id}) was erased by the operator, with all its files`,
      );
    },
    sendTestMail: (to) => sendTestMail(parts.config, dataDir, to, clock.now()),
    siteOf: (entry) => siteOf(parts.config.siteUrl ?? parts.url(), entry),
    acceptsWrites: parts.acceptsWrites,
    server: () => ({
      version: programVersion,
      pid: process.pid,
      startedAt: new Date(parts.startedAt).toISOString(),
      address: parts.url(),
      transport: parts.transport,
      sockets: parts.sockets.size,
      queues: [...parts.hubs.all()].reduce((sum, { queueCount }) => sum + queueCount, 0),
      unflushedBytes: parts.durability.lag.unflushedBytes,
      checkpointLagBytes: parts.durability.lag.uncheckpointedBytes,
    }),
  };
}

/** @throws AdminFailure if another node of the cluster serves it */
function openHere(host: RealmHost, entry: RealmEntry): Realm {
  try {
    return host.open(entry);
  } catch (error) {
    if (!(error instanceof RealmElsewhere)) throw error;
    const which = entry.label === "" ? "the first organization" : `organization ${entry.label}`;
    throw new AdminFailure(
      "refused",
      `another node serves ${which} (number ${entry.id}): run the command there (cli cluster status shows where)`,
    );
  }
}

const inCluster =
  "the server is a node of a cluster, whose streams and other nodes would keep the organization: leave the cluster first (docs/cluster.md)";

/** Nobody learns what was done, or why it was refused, before what both show is on disk (M1, M9). */
async function durably<T>(realm: Realm, work: (realm: Realm) => Promise<T>): Promise<T> {
  try {
    return await work(realm);
  } finally {
    await onceDurable(realm.gate);
  }
}
