/** CLI command that shows a cluster: who owns the organizations, and how far they are. */
import type { Command as Program } from "commander";
import type { CliTools } from "./cli-time.ts";
import { natsOptionsOf } from "./cluster-membership.ts";
import { readConfig } from "./config.ts";

export function addClusterCommands(program: Program, { say, fail }: Pick<CliTools, "say" | "fail">): void {
  const cluster = program.command("cluster").description("a cluster of several nodes (docs/cluster.md)");
  cluster
    .command("status")
    .description("show the owner, the NATS servers and each organization; needs CLUSTER_NATS and CLUSTER_NATS_MONITOR")
    .action(async () => {
      const config = readConfig(process.env);
      const nats = natsOptionsOf(config);
      if (nats === null) return fail("CLUSTER_NATS is not set: see docs/cluster.md");
      const { clusterStatus } = await import("./cluster/status.ts");
      try {
        for (const line of await clusterStatus(nats, config.clusterMonitors ?? [])) say(line);
      } catch (error) {
        fail((error as Error).message);
      }
    });
}
