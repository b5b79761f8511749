// `fanout`: one sender posts to a channel, and N WebSocket receivers must each see every message exactly once. First at
// the highest rate that server and receivers sustain, then at a fixed rate for latencies. The baseline publishes the
// bytes of the real event to as many sockets and stores nothing (bench/baselines/publish.ts).

import { Api } from "../lib/api.ts";
import type { DeliveriesJob } from "../lib/job.ts";
import {
  deliveryChecks,
  latencyMeasures,
  latencySeries,
  throughputMeasures,
  throughputSeries,
} from "../lib/measures.ts";
import type { Outcome } from "../lib/result.ts";
import { alternate, type Context, generate, paceOf, runSeconds, type Scenario } from "../lib/scenario.ts";
import type { Server } from "../lib/target.ts";
import { checksOfBoth, inTwoPhases, notesOfBoth } from "../lib/two-phases.ts";
import { storedChecks } from "../peers/stored-check.ts";
import { nextFirstMarker, openFramesBaseline, receiversOf, usersFor } from "./receivers.ts";
import { messageCycles } from "./send.ts";

/** Concurrent posts in the throughput phase: enough that receivers never wait for a flush. */
export const POSTS_AT_ONCE = 4;

export const fanout: Scenario = {
  name: "fanout",
  summary: "channel messages pushed to N WebSocket receivers: deliveries per second, latency to each and to the last",
  baseline: "baselines/publish",
  supportsUrl: true,
  supportsPeers: true,
  supportsCluster: true,
  sizes: {
    tiny: {
      connections: 4,
      ratePerSecond: 20,
      durationSeconds: 0.3,
      warmupSeconds: 0.1,
      runs: 1,
      users: 2,
      receivers: 0,
    },
    small: {
      connections: 20,
      ratePerSecond: 60,
      durationSeconds: 2,
      warmupSeconds: 1,
      runs: 2,
      users: 2,
      receivers: 0,
    },
    full: {
      connections: 1_000,
      ratePerSecond: 20,
      durationSeconds: 10,
      warmupSeconds: 2,
      runs: 5,
      users: 20,
      receivers: 0,
    },
  },
  run,
};

async function run(context: Context): Promise<Outcome> {
  const { settings } = context;
  const ours = await crowdOf(await context.openServer(), context);
  const { server, users, load, receivers } = ours;
  const alone = await context.openAlone();
  const local = alone === null ? null : await crowdOf(alone, context);
  const source = { server, users, load, eventType: "message" } as const;
  const baseline = alone ?? (await openFramesBaseline(context, "baselines/publish", source));
  const peers = await context.openPeers(users.length);
  const { localAddresses } = receivers;
  const way = (ratePerSecond: number | null) => ({
    firstMarker: nextFirstMarker(),
    connections: POSTS_AT_ONCE,
    pace: paceOf(settings, ratePerSecond),
  });
  const phase = (label: string, ratePerSecond: number | null) =>
    alternate(context, {
      label: `fanout: ${label}`,
      seconds: runSeconds(settings),
      server,
      baseline,
      run: (target) => {
        const { load: posts, receivers: listeners } = local !== null && target === alone ? local : ours;
        const { address, watch } = target;
        return generate(context, { ...posts, ...way(ratePerSecond), address, watch, receivers: listeners });
      },
      peers: {
        among: peers,
        run: ({ address, watch, posts, receivers: listeners }) =>
          generate(context, {
            ...load,
            ...way(ratePerSecond),
            ...posts(POSTS_AT_ONCE, true),
            address,
            watch,
            receivers: { ...listeners(settings.connections), localAddresses },
          }),
      },
    });
  const phases = await inTwoPhases(settings.ratePerSecond, phase);
  const { most, paced } = phases;
  const rate = `${settings.ratePerSecond} posts/s`;
  const crowd = `${settings.connections} receivers`;
  return {
    measures: [
      ...throughputMeasures(
        { prefix: "deliveries", noun: "delivery", title: `deliveries, ${crowd}` },
        most,
        (result) => result.deliveriesPerSecond,
      ),
      ...latencyMeasures(
        { prefix: "paced_each", title: `to each receiver at ${rate}`, perSecond: (r) => r.deliveriesPerSecond },
        paced,
        (r) => r.latency,
      ),
      ...latencyMeasures(
        { prefix: "paced_last", title: `to the last receiver at ${rate}` },
        paced,
        (r) => r.lastReceiver,
      ),
    ],
    series: [
      throughputSeries(`deliveries per second, ${crowd}`, most, (result) => result.deliveriesPerSecond),
      latencySeries(`post to each receiver at ${rate}, open loop`, paced, (result) => result.latency),
      latencySeries(`post to the last receiver at ${rate}, open loop`, paced, (result) => result.lastReceiver),
    ],
    checks: [...checksOfBoth(phases, deliveryChecks), ...(await storedChecks(peers))],
    notes: notesOfBoth(phases),
  };
}

/** The receivers on a server, and the posts to their channel. */
export async function crowdOf(server: Server, { settings, seed }: Pick<Context, "settings" | "seed">) {
  const api = new Api(server, server.credentials);
  const users = await usersFor(api, { scenario: "fanout", sockets: settings.connections, atLeast: settings.users });
  const channelId = await api.createChannel(`bench fanout ${seed}`, users);
  const cycles = messageCycles({ server, authorization: api.authorization, channelId, seed });
  const load: Pick<DeliveriesJob, "kind" | "cycles" | "decoder"> = { kind: "deliveries", cycles, decoder: "scan" };
  return { server, users, load, receivers: receiversOf({ users, count: settings.connections, eventType: "message" }) };
}
