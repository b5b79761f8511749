// `edges`: one organization's events pushed to N WebSocket receivers that are spread over the nodes of a cluster, so that
// nodes other than the owner deliver most of them. The baseline is the same cluster with all receivers at the owner.

import type { DeliveriesResult } from "../lib/job.ts";
import { deliveryChecks, latencyMeasures, measureOf, throughputMeasures, throughputSeries } from "../lib/measures.ts";
import type { Outcome } from "../lib/result.ts";
import { alternate, type Context, generate, paceOf, runSeconds, type Scenario } from "../lib/scenario.ts";
import type { Server, Target } from "../lib/target.ts";
import { checksOfBoth, inTwoPhases, notesOfBoth } from "../lib/two-phases.ts";
import { crowdOf, fanout, POSTS_AT_ONCE } from "./fanout.ts";
import { nextFirstMarker } from "./receivers.ts";

export const edges: Scenario = {
  name: "edges",
  summary: "one organization's messages pushed to N receivers spread over the nodes of a cluster",
  baseline: "ours",
  supportsUrl: false,
  supportsCluster: "only",
  sizes: fanout.sizes,
  run,
};

async function run(context: Context): Promise<Outcome> {
  const { settings } = context;
  const cluster = await context.openCluster();
  const [owner, ...others] = cluster.nodes;
  if (owner === undefined || others.length === 0) throw new Error("edges needs a cluster of two nodes or more");
  const { load, receivers } = await crowdOf(cluster, context);
  // The servers of NATS do the same for both.
  const watch = () => ({ ...owner.watch, trees: others.map(({ pid }) => pid) });
  const server: Server = { ...cluster, label: "ours" };
  const baseline: Target = { ...cluster, label: "baseline" };
  const ports = cluster.nodes.map(({ address }) => address.port);
  const phase = (label: string, ratePerSecond: number | null) =>
    alternate(context, {
      label: `edges: ${label}`,
      seconds: runSeconds(settings),
      server,
      baseline,
      run: (target) =>
        generate(context, {
          ...load,
          address: cluster.address,
          watch: watch(),
          receivers: target === server ? { ...receivers, ports } : receivers,
          firstMarker: nextFirstMarker(),
          connections: POSTS_AT_ONCE,
          pace: paceOf(settings, ratePerSecond),
        }),
    });
  const phases = await inTwoPhases(settings.ratePerSecond, phase);
  const { most, paced } = phases;
  const rate = `${settings.ratePerSecond} posts/s`;
  const crowd = `${settings.connections} receivers`;
  const perSecond = (result: DeliveriesResult) => result.deliveriesPerSecond;
  return {
    measures: [
      ...throughputMeasures({ prefix: "deliveries", noun: "delivery", title: `deliveries, ${crowd}` }, most, perSecond),
      measureOf(
        { key: "owner_cpu_us", title: "CPU of the owner alone per delivery", unit: "us", better: "lower" },
        most,
        ({ usage, deliveriesPerSecond }) =>
          usage.ownCpuSeconds == null
            ? null
            : (usage.ownCpuSeconds * 1_000_000) / (deliveriesPerSecond * usage.wallSeconds),
      ),
      ...latencyMeasures(
        { prefix: "paced_each", title: `to each receiver at ${rate}`, perSecond },
        paced,
        (result) => result.latency,
      ),
      ...latencyMeasures(
        { prefix: "paced_last", title: `to the last receiver at ${rate}` },
        paced,
        (result) => result.lastReceiver,
      ),
    ],
    series: [throughputSeries(`deliveries per second, ${crowd}`, most, perSecond)],
    checks: checksOfBoth(phases, deliveryChecks),
    notes: notesOfBoth(phases),
  };
}
