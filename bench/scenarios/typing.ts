// `typing`: typists start and stop in a channel, and every receiver must see each change. Typing is volatile (E4:
// latest wins when a reader lags), but here every typist waits until its change arrives, so none may be missing. The
// baseline parses the form and publishes the same bytes (bench/baselines/publish.ts).

import { Api, type User } from "../lib/api.ts";
import { buildRequest, MARKER } from "../lib/http-request.ts";
import type { Cycle, DeliveriesJob } from "../lib/job.ts";
import {
  deliveryChecks,
  latencyMeasures,
  latencySeries,
  measureOf,
  throughputMeasures,
  throughputSeries,
} from "../lib/measures.ts";
import type { Outcome } from "../lib/result.ts";
import { alternate, type Context, generate, paceOf, runSeconds, type Scenario } from "../lib/scenario.ts";
import type { Server } from "../lib/target.ts";
import { checksOfBoth, inTwoPhases, notesOfBoth } from "../lib/two-phases.ts";
import { nextFirstMarker, openFramesBaseline, receiversOf, usersFor } from "./receivers.ts";

export const typing: Scenario = {
  name: "typing",
  summary: "POST /typing in a channel, pushed to a handful of WebSocket receivers",
  baseline: "baselines/publish",
  supportsUrl: true,
  sizes: {
    tiny: {
      connections: 2,
      ratePerSecond: 20,
      durationSeconds: 0.3,
      warmupSeconds: 0.1,
      runs: 1,
      users: 2,
      receivers: 2,
    },
    small: {
      connections: 16,
      ratePerSecond: 200,
      durationSeconds: 2,
      warmupSeconds: 1,
      runs: 2,
      users: 4,
      receivers: 5,
    },
    full: {
      connections: 64,
      ratePerSecond: 1_000,
      durationSeconds: 10,
      warmupSeconds: 2,
      runs: 5,
      users: 10,
      receivers: 10,
    },
  },
  run,
};

async function run(context: Context): Promise<Outcome> {
  const { settings } = context;
  const server = await context.openServer();
  const api = new Api(server, server.credentials);
  const readers = await usersFor(api, { scenario: "reader", sockets: settings.receivers, atLeast: 1 });
  const typists = await api.createUsers(settings.users, `typist-${Date.now().toString(36)}`);
  const channelId = await api.createChannel(`bench typing ${context.seed}`, [...readers, ...typists]);
  const cycles = typists.map((typist) => startAndStop(server, typist, channelId));
  const load: Pick<DeliveriesJob, "kind" | "cycles" | "decoder"> = { kind: "deliveries", cycles, decoder: "typing" };
  const source = { server, users: readers, load, eventType: "typing" } as const;
  const baseline = await openFramesBaseline(context, "baselines/publish", source);
  const receivers = receiversOf({ users: readers, count: settings.receivers, eventType: "typing" });
  const phase = (label: string, ratePerSecond: number | null) =>
    alternate(context, {
      label: `typing: ${label}`,
      seconds: runSeconds(settings),
      server,
      baseline,
      run: ({ address, watch }) =>
        generate(context, {
          ...load,
          address,
          watch,
          receivers,
          firstMarker: nextFirstMarker(),
          connections: settings.connections,
          pace: paceOf(settings, ratePerSecond),
        }),
    });
  const phases = await inTwoPhases(settings.ratePerSecond, phase);
  const { most, paced } = phases;
  const rate = `${settings.ratePerSecond}/s`;
  return {
    measures: [
      ...throughputMeasures(
        {
          prefix: "changes",
          noun: "change",
          title: `changes, ${settings.connections} typists, ${settings.receivers} receivers`,
        },
        most,
        (result) => result.postsPerSecond,
      ),
      measureOf(
        { key: "deliveries_per_s", title: "deliveries", unit: "/s", better: "higher" },
        most,
        (result) => result.deliveriesPerSecond,
      ),
      ...latencyMeasures(
        { prefix: "paced_each", title: `to each receiver at ${rate}`, perSecond: (r) => r.postsPerSecond },
        paced,
        (r) => r.latency,
      ),
    ],
    series: [
      throughputSeries("typing events delivered per second", most, (result) => result.deliveriesPerSecond),
      latencySeries(`change to each receiver at ${rate}, open loop`, paced, (result) => result.latency),
    ],
    checks: checksOfBoth(phases, deliveryChecks),
    notes: notesOfBoth(phases),
  };
}

/** Each round of the cycle has its own topic, so that every request is a change and its event can be identified. */
function startAndStop(server: Server, typist: User, channelId: number): Cycle {
  const host = `${server.address.host}:${server.address.port}`;
  return ["start", "stop"].map((op) =>
    buildRequest({
      method: "POST",
      path: "/api/v1/typing",
      authorization: typist.authorization,
      form: { op, type: "channel", stream_id: String(channelId), topic: MARKER },
      host,
    }),
  );
}
