/** CLI commands for a cluster: who owns the organizations and how far they are, and snapshots of their stores. */
import { rmSync } from "node:fs";
import type { Command as Program } from "commander";
import { limits } from "../../schemas/limits.ts";
import { natsOptionsOf } from "../app/cluster-membership.ts";
import { BadConfig, type Config, readConfig } from "../app/config.ts";
import type { NatsOptions } from "../durability/cluster/connection.ts";
import type { MadeSnapshot } from "../durability/cluster/snapshot-run.ts";
import { AdminFailure } from "../operate/admin/operation.ts";
import { makeCopiesFolder } from "../operate/backup-run.ts";
import { requireStore } from "../operate/closed-store.ts";
import { systemClock } from "../runtime/clock.ts";
import { FolderLock } from "../store/folder-lock.ts";
import { realmIdsOnDisk } from "../store/realm-folders.ts";
import { addCommand } from "./commands.ts";
import { alarm, dataDir, type OutputOptions, say } from "./session.ts";

export function addClusterCommands(program: Program): void {
  const cluster = program.command("cluster").description("a cluster of several nodes (docs/cluster.md)");
  addCommand(cluster, "status")
    .description("show the nodes and each organization; needs CLUSTER_NATS and CLUSTER_NATS_MONITOR")
    .action(showStatus);
  addPlacementCommands(cluster);
  addCommand(cluster, "snapshot")
    .description("make verified snapshots of the stores of this node (DATA_DIR), from which other nodes restore")
    .argument("[organizations...]", "their numbers; by default all")
    .action(makeSnapshots);
  addCommand(cluster, "files")
    .description("send files that only this node has (DATA_DIR) to the cluster, and remove those that nobody claims")
    .argument("[organizations...]", "numbers of organizations that this node serves; by default all")
    .action(careForFiles);
}

async function showStatus({ json }: OutputOptions): Promise<void> {
  const { config, nats } = memberConfig();
  const { clusterStatus, statusLines } = await import("../durability/cluster/status.ts");
  const status = await clusterStatus(nats, config.clusterMonitors ?? []).catch((error: Error) => {
    throw new AdminFailure("unusable", error.message);
  });
  if (json === true) say(JSON.stringify(status));
  else for (const line of statusLines(status)) say(line);
}

function addPlacementCommands(cluster: Program): void {
  addCommand(cluster, "move")
    .description("move an organization to a node, where it stays while that node is there")
    .argument("<organization>", "its number")
    .argument("<node>", "the name of the node")
    .action((number: string, node: string, options: OutputOptions) =>
      wish(
        {
          options,
          line: `organization ${number} is served by ${node}`,
          result: { organization: Number(number), node },
        },
        ({ moveRealm }, nats) => moveRealm(nats, Number(number), node),
      ),
    );
  addCommand(cluster, "unpin")
    .description("let an organization that was moved be where the cluster puts it")
    .argument("<organization>", "its number")
    .action((number: string, options: OutputOptions) =>
      wish(
        {
          options,
          line: `organization ${number} may be anywhere`,
          result: { organization: Number(number), node: null },
        },
        ({ unpinRealm }, nats) => unpinRealm(nats, Number(number)),
      ),
    );
  addCommand(cluster, "drain")
    .description("give the organizations of a node to the others, and keep it from getting any")
    .argument("<node>", "the name of the node")
    .option("--end", "let it get organizations again", false)
    .action((node: string, options: OutputOptions & { readonly end: boolean }) =>
      options.end
        ? wish(
            { options, line: `node ${node} may get organizations`, result: { node, is_draining: false } },
            ({ endDrain }, nats) => endDrain(nats, node),
          )
        : wish(
            { options, line: `node ${node} serves no organization`, result: { node, is_draining: true } },
            ({ drainNode }, nats) => drainNode(nats, node),
          ),
    );
}

/** The output of a request that was fulfilled. */
interface Fulfilled {
  readonly options: OutputOptions;
  readonly line: string;
  readonly result: object;
}

async function wish(
  { options, line, result }: Fulfilled,
  work: (requests: typeof import("../durability/cluster/placement-requests.ts"), nats: NatsOptions) => Promise<void>,
): Promise<void> {
  const { nats } = memberConfig();
  try {
    await work(await import("../durability/cluster/placement-requests.ts"), { ...nats, name: `${nats.name}-cli` });
  } catch (error) {
    throw new AdminFailure("refused", (error as Error).message);
  }
  say(options.json === true ? JSON.stringify(result) : line);
}

async function careForFiles(numbers: readonly string[], { json }: OutputOptions): Promise<void> {
  const { nats } = memberConfig();
  const folder = dataDir();
  const realmIds = storedRealms(folder, numbers);
  const care = await import("../durability/cluster/missing-files.ts");
  const options = { nats: { ...nats, name: `${nats.name}-files` }, dataDir: folder, realmIds, now: systemClock.now() };
  const results = await care.fetchMissingFiles(options);
  const organizations = results.map(({ realmId, sent, removed }) => ({ organization: realmId, sent, removed }));
  if (json === true) say(JSON.stringify({ organizations }));
  else
    for (const { organization, sent, removed } of organizations)
      say(`organization ${organization}: ${sent} files sent, ${removed} removed`);
}

/** @throws AdminFailure when DATA_DIR does not have one of them */
function storedRealms(folder: string, numbers: readonly string[]): readonly number[] {
  requireStore(folder);
  const stored = realmIdsOnDisk(folder);
  const unknown = numbers.find((number) => !stored.includes(Number(number)));
  if (unknown !== undefined) throw new AdminFailure("refused", `DATA_DIR has no organization ${unknown}`);
  return numbers.length === 0 ? stored : numbers.map(Number);
}

function memberConfig(): { readonly config: Config; readonly nats: NatsOptions } {
  const config = readConfig(process.env);
  const nats = natsOptionsOf(config);
  if (nats === null) throw new BadConfig("CLUSTER_NATS is not set: see docs/cluster.md");
  // The node that started it may be gone, and the servers, too.
  return { config, nats: { ...nats, reconnectsMax: limits.cluster_command_reconnects_max } };
}

async function makeSnapshots(numbers: readonly string[], { json }: OutputOptions): Promise<void> {
  const { config, nats } = memberConfig();
  const folder = dataDir();
  const realmIds = storedRealms(folder, numbers);
  const lock = FolderLock.take(folder, "snapshot");
  const drafts = makeCopiesFolder(folder);
  const snapshots: MadeSnapshot[] = [];
  try {
    const run = await import("../durability/cluster/snapshot-run.ts");
    const problems = await run.makeSnapshots({
      nats: { ...nats, name: `${nats.name}-snapshot` },
      node: config.clusterNode,
      dataDir: folder,
      drafts,
      now: () => systemClock.now(),
      freeBytesMin: config.storeFreeBytesMin,
      realmIds,
      onMade(made) {
        snapshots.push(made);
        if (json !== true) say(snapshotLine(made));
      },
    });
    if (json === true) say(JSON.stringify({ snapshots, problems }));
    else for (const line of problems) alarm.warn(line);
    if (problems.length > 0) throw new AdminFailure("refused", `${problems.length} snapshots were not made`);
  } finally {
    rmSync(drafts, { recursive: true, force: true });
    lock.release();
  }
}

function snapshotLine({ organization, made }: MadeSnapshot): string {
  if (made === null) return `organization ${organization}: the newest snapshot has everything`;
  return `organization ${organization}: snapshot of turn ${made.turn}, ${made.bytes} bytes, verified`;
}
