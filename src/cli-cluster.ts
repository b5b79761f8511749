/** CLI command that shows a cluster: who owns the organizations, and how far they are. */
import type { Command as Program } from "commander";
import { AdminFailure } from "./admin/operation.ts";
import { say } from "./cli-session.ts";
import { natsOptionsOf } from "./cluster-membership.ts";
import { BadConfig, readConfig } from "./config.ts";

export function addClusterCommands(program: Program): void {
  const cluster = program.command("cluster").description("a cluster of several nodes (docs/cluster.md)");
  cluster
    .command("status")
    .description("show the owner, the NATS servers and each organization; needs CLUSTER_NATS and CLUSTER_NATS_MONITOR")
    .action(async () => {
      const config = readConfig(process.env);
      const nats = natsOptionsOf(config);
      if (nats === null) throw new BadConfig("CLUSTER_NATS is not set: see docs/cluster.md");
      const { clusterStatus } = await import("./cluster/status.ts");
      try {
        for (const line of await clusterStatus(nats, config.clusterMonitors ?? [])) say(line);
      } catch (error) {
        throw new AdminFailure("unusable", (error as Error).message);
      }
    });
}
