/** The ports of administrative operations while the server runs (admin/ports.ts). */
import { programVersion } from "../../schemas/server.ts";
import type { Member } from "../durability/cluster/member.ts";
import { onceDurable } from "../durability/journal/durability-gate.ts";
import { AdminFailure } from "../operate/admin/operation.ts";
import type { AdminPorts } from "../operate/admin/ports.ts";
import { readClosed } from "../operate/closed-store.ts";
import type { MetricSources } from "../operate/metric-families.ts";
import type { RealmCreationTools } from "../operate/realm-creation.ts";
import { eraseInCluster, eraseRealm } from "../operate/realm-erasure.ts";
import { creationPorts } from "../operate/secret-ports.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Realm } from "../runtime/realm.ts";
import { RealmElsewhere } from "../runtime/realm-host.ts";
import { realmFolder } from "../store/realm-folders.ts";
import type { RealmEntry } from "../store/root.ts";
import type { Config } from "./config.ts";
import { siteOf } from "./mail-config.ts";
import { sendTestMail } from "./test-mail.ts";

interface ServedTools extends Pick<RealmCreationTools, "root" | "alarm" | "reserve"> {
  /** In a cluster: resolves when this node serves an organization that was created. */
  readonly onceOwned?: (id: number) => Promise<void>;
  readonly clock: Clock;
  readonly config: Config;
  /** Null: the server is no node of a cluster. */
  readonly member: Member | null;
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
      const found = work(realm.lmdb);
      await onceDurable(realm.gate);
      return found;
    },
    withRealm(entry, work) {
      const realm = host.openRealm(entry) ?? openHere(parts, entry);
      return realm.use.during(durably(realm, work));
    },
    async eraseRealm(entry, progress) {
      const tools = { dataDir, root: parts.root, host, now: () => clock.now(), progress };
      if (parts.member === null) await eraseRealm(entry, tools);
      else if (!parts.member.owns(entry.id)) throw servedElsewhere(parts.member, entry);
      else await eraseInCluster(entry, parts.member, tools);
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
function openHere({ host, member }: ServedParts, entry: RealmEntry): Realm {
  try {
    return host.open(entry);
  } catch (error) {
    throw error instanceof RealmElsewhere ? servedElsewhere(member, entry) : error;
  }
}

function servedElsewhere(member: Member | null, { id, label }: RealmEntry): AdminFailure {
  const which = label === "" ? "the first organization" : `organization ${label}`;
  const owner = member?.ownerOf(id) ?? null;
  const where = owner === null || owner === member?.node ? "cli cluster status shows where" : `node ${owner}`;
  return new AdminFailure("refused", `another node serves ${which} (number ${id}): run the command there (${where})`);
}

/** A caller learns what was done, or why it was refused, only after the rows that this shows are on disk (M1, M9). */
async function durably<T>(realm: Realm, work: (realm: Realm) => Promise<T>): Promise<T> {
  try {
    return await work(realm);
  } finally {
    await onceDurable(realm.gate);
  }
}
