/** CLI commands for a cluster: who owns the organizations and how far they are, and snapshots of their stores. */
import { rmSync } from "node:fs";
import type { Command as Program } from "commander";
import { AdminFailure } from "./admin/operation.ts";
import { makeCopiesFolder } from "./backup-run.ts";
import { alarm, dataDir, say } from "./cli-session.ts";
import type { NatsOptions } from "./cluster/connection.ts";
import { natsOptionsOf } from "./cluster-membership.ts";
import { BadConfig, type Config, readConfig } from "./config.ts";
import { requireStore } from "./offline-ports.ts";
import { systemClock } from "./runtime/clock.ts";
import { FolderLock } from "./store/folder-lock.ts";
import { realmIdsOnDisk } from "./store/realm-folders.ts";

export function addClusterCommands(program: Program): void {
  const cluster = program.command("cluster").description("a cluster of several nodes (docs/cluster.md)");
  cluster
    .command("status")
    .description("show the nodes and each organization; needs CLUSTER_NATS and CLUSTER_NATS_MONITOR")
    .action(async () => {
      const { config, nats } = memberConfig();
      const { clusterStatus } = await import("./cluster/status.ts");
      try {
        for (const line of await clusterStatus(nats, config.clusterMonitors ?? [])) say(line);
      } catch (error) {
        throw new AdminFailure("unusable", (error as Error).message);
      }
    });
  addPlacementCommands(cluster);
  cluster
    .command("snapshot")
    .description("make verified snapshots of the stores of this node (DATA_DIR), from which other nodes restore")
    .argument("[organizations...]", "their numbers; by default all")
    .action(makeSnapshots);
  cluster
    .command("files")
    .description("send files that only this node has (DATA_DIR) to the cluster, and remove those that nobody claims")
    .argument("[organizations...]", "numbers of organizations that this node serves; by default all")
    .action(careForFiles);
}

function addPlacementCommands(cluster: Program): void {
  cluster
    .command("move")
    .description("move an organization to a node, where it stays while that node is there")
    .argument("<organization>", "its number")
    .argument("<node>", "the name of the node")
    .action((number: string, node: string) =>
      wish(`organization ${number} is served by ${node}`, ({ moveRealm }, nats) =>
        moveRealm(nats, Number(number), node),
      ),
    );
  cluster
    .command("unpin")
    .description("let an organization that was moved be where the cluster puts it")
    .argument("<organization>", "its number")
    .action((number: string) =>
      wish(`organization ${number} may be anywhere`, ({ unpinRealm }, nats) => unpinRealm(nats, Number(number))),
    );
  cluster
    .command("drain")
    .description("give the organizations of a node to the others, and keep it from getting any")
    .argument("<node>", "the name of the node")
    .option("--end", "let it get organizations again")
    .action((node: string, { end }: { end?: true }) =>
      end === true
        ? wish(`node ${node} may get organizations`, ({ endDrain }, nats) => endDrain(nats, node))
        : wish(`node ${node} serves no organization`, ({ drainNode }, nats) => drainNode(nats, node)),
    );
}

/** @param done what is so afterwards */
async function wish(
  done: string,
  work: (wishes: typeof import("./cluster/wishes.ts"), nats: NatsOptions) => Promise<void>,
): Promise<void> {
  const { nats } = memberConfig();
  try {
    await work(await import("./cluster/wishes.ts"), { ...nats, name: `${nats.name}-cli` });
  } catch (error) {
    throw new AdminFailure("refused", (error as Error).message);
  }
  say(done);
}

async function careForFiles(numbers: readonly string[]): Promise<void> {
  const { nats } = memberConfig();
  const folder = dataDir();
  const realmIds = storedRealms(folder, numbers);
  const care = await import("./cluster/file-care.ts");
  const options = { nats: { ...nats, name: `${nats.name}-files` }, dataDir: folder, realmIds, now: systemClock.now() };
  for (const { realmId, sent, removed } of await care.careForFiles(options)) {
    say(`organization ${realmId}: ${sent} files sent, ${removed} removed`);
  }
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
  return { config, nats };
}

async function makeSnapshots(numbers: readonly string[]): Promise<void> {
  const { config, nats } = memberConfig();
  const folder = dataDir();
  const realmIds = storedRealms(folder, numbers);
  const lock = FolderLock.take(folder, "snapshot");
  const drafts = makeCopiesFolder(folder);
  try {
    const run = await import("./cluster/snapshot-run.ts");
    const failures = await run.makeSnapshots({
      nats: { ...nats, name: `${nats.name}-snapshot` },
      node: config.clusterNode,
      dataDir: folder,
      drafts,
      now: () => systemClock.now(),
      freeBytesMin: config.storeFreeBytesMin,
      realmIds,
      say,
    });
    for (const line of failures) alarm.warn(line);
    if (failures.length > 0) throw new AdminFailure("refused", `${failures.length} snapshots were not made`);
  } finally {
    rmSync(drafts, { recursive: true, force: true });
    lock.release();
  }
}
