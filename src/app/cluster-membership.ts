/** Makes the server a node of a cluster (CLUSTER_NATS), and keeps data of a cluster from being served without it. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NatsOptions } from "../durability/cluster/connection.ts";
import type { Member, MemberOptions } from "../durability/cluster/member.ts";
import { applyJournal } from "../durability/journal/apply-journal.ts";
import { BadConfig, type Config } from "./config.ts";

export type MembershipTools = Pick<MemberOptions, "dataDir" | "root" | "clock" | "warn" | "fatal" | "checkStore">;

interface Mark {
  /** The cluster that the stores belong to. */
  readonly cluster: string;
  /** The last node stopped in order, so its stores have every turn. Otherwise the last ones may be in the streams only. */
  readonly isWhole: boolean;
}

function markFile(dataDir: string): string {
  return join(dataDir, "cluster-member");
}

function readMark(dataDir: string): Mark | null {
  const file = markFile(dataDir);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Mark) : null;
}

function writeMark(dataDir: string, mark: Mark): void {
  const file = markFile(dataDir);
  writeFileSync(`${file}.new`, `${JSON.stringify(mark)}\n`);
  renameSync(`${file}.new`, file);
}

/** Whether the folder is that of a node: what changes its stores otherwise would not reach the other nodes. */
export function isClusterMember(dataDir: string): boolean {
  return existsSync(markFile(dataDir));
}

/** @returns null: the server is no node of a cluster */
export function natsOptionsOf(config: Config): NatsOptions | null {
  const { clusterNats, clusterNode: name, clusterCredentialsFile: credentialsFile } = config;
  const { clusterCaFile: caFile, clusterCertFile: certFile, clusterKeyFile: keyFile } = config;
  if (clusterNats === null) return null;
  const hasTls = [caFile, certFile, keyFile].some((file) => file !== null);
  return { ...clusterNats, name, credentialsFile, ...(hasTls ? { tls: { caFile, certFile, keyFile } } : {}) };
}

/**
 * @returns null: the server is no node of a cluster
 * @throws BadConfig, ClusterUnusable, ClusterSilent
 */
export async function joinCluster(config: Config, tools: MembershipTools): Promise<Member | null> {
  const { dataDir, ...options } = tools;
  const mark = readMark(dataDir);
  const nats = natsOptionsOf(config);
  if (nats === null) {
    if (mark === null || mark.isWhole) {
      rmSync(markFile(dataDir), { force: true });
      return null;
    }
    throw new BadConfig(
      `DATA_DIR belongs to a node of a cluster that did not stop in order: its last changes may be in the streams only. Set CLUSTER_NATS and CLUSTER_NATS_MONITOR as before. To leave the cluster, start it so and stop it while it is the only node`,
    );
  }
  const { Member } = await import("../durability/cluster/member.ts");
  await applyJournal(dataDir);
  const member = await Member.join({
    ...options,
    dataDir,
    knownCluster: mark?.cluster ?? null,
    node: config.clusterNode,
    monitors: config.clusterMonitors ?? [],
    streams: config.clusterStreams,
    leaseMs: config.clusterLeaseMs,
    nats,
  });
  writeMark(dataDir, { cluster: member.cluster, isWhole: false });
  return member;
}

/** The stores of what it still serves are closed. */
export async function leaveCluster(member: Member | null, dataDir: string): Promise<void> {
  if (member === null) return;
  const isWhole = await member.leave();
  writeMark(dataDir, { cluster: member.cluster, isWhole });
}
