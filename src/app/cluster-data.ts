/** Wires what a node keeps in the cluster besides turns (src/durability/cluster/replication.ts). */

import type { Member } from "../durability/cluster/member.ts";
import type { Replication } from "../durability/cluster/replication.ts";
import type { LinkFigures } from "../edge/forwarding/link-figures.ts";
import type { Log } from "../log/log.ts";
import { runCommand } from "../operate/backup-schedule.ts";
import type { NodeFigures } from "../operate/cluster-metrics.ts";
import type { Clock } from "../runtime/clock.ts";
import { realmIdsOnDisk } from "../store/realm-folders.ts";
import { natsOptionsOf } from "./cluster-membership.ts";
import type { Config } from "./config.ts";

export interface ClusterDataTools {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this node serves an organization. */
  readonly owns: (realmId: number) => boolean;
}

const mib = 1024 * 1024;
const hourMs = 60 * 60 * 1000;

/** @returns null: the server is no node of a cluster */
export async function clusterData(config: Config, tools: ClusterDataTools): Promise<Replication | null> {
  const nats = natsOptionsOf(config);
  if (nats === null) return null;
  const { dataDir, clock, log, owns } = tools;
  const { Replication } = await import("../durability/cluster/replication.ts");
  const environment = environmentOf(config, dataDir);
  return new Replication({
    nats,
    clock,
    owns,
    bytes: config.clusterSnapshotMib * mib,
    ageMs: config.clusterSnapshotHours * hourMs,
    stored: () => realmIdsOnDisk(dataDir),
    careForFiles: (ids) =>
      runCommand(["cluster", "files", ...ids.map(String)], "the care for files", { environment, log }),
    run: (id) =>
      runCommand(["cluster", "snapshot", String(id)], `a snapshot of organization ${id}`, { environment, log }),
    warn: (line) => log.warn(line),
  });
}

/** @returns null: the server is no node of a cluster */
export function clusterFigures(member: Member | null, data: Replication | null, links: (() => LinkFigures) | null) {
  if (member === null || data === null || links === null) return null;
  return (): NodeFigures => ({ ...member.figures, snapshotAgeS: data.snapshotAgeS, links: links() });
}

/** For a process that works on the data of this node: the settings may come from a file. */
function environmentOf(config: Config, dataDir: string): Record<string, string> {
  const { servers, user, password = "" } = config.clusterNats ?? { servers: [] };
  const who = user === undefined ? "" : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`;
  const given: Record<string, string | null> = {
    DATA_DIR: dataDir,
    CLUSTER_NATS: `nats://${who}${servers.join(",")}`,
    CLUSTER_NATS_MONITOR: (config.clusterMonitors ?? []).join(","),
    CLUSTER_NODE: config.clusterNode,
    CLUSTER_NATS_CREDENTIALS_FILE: config.clusterCredentialsFile,
    CLUSTER_NATS_CA_FILE: config.clusterCaFile,
    CLUSTER_NATS_CERT_FILE: config.clusterCertFile,
    CLUSTER_NATS_KEY_FILE: config.clusterKeyFile,
    STORE_FREE_BYTES_MIN: String(config.storeFreeBytesMin),
  };
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value ?? ""]));
}
