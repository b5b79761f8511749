// `reconnect`: N sockets lose their connection at once, reconnect and resume after their last event, while posts
// continue. Measures the time until all are live again and the time and cost of a resume, and checks that no socket
// misses or duplicates an event. The baseline keeps the same bytes in memory and sends missed ones
// (bench/baselines/reconnect.ts).

import { Api } from "../lib/api.ts";
import type { DeliveriesJob, ReconnectResult } from "../lib/job.ts";
import { disturbanceNotes, failureChecks, latencyMeasures, latencySeries, measureOf } from "../lib/measures.ts";
import type { Check, Outcome } from "../lib/result.ts";
import { alternate, type Context, generate, type Pair, runSeconds, type Scenario } from "../lib/scenario.ts";
import { nextFirstMarker, openFramesBaseline, receiversOf, usersFor } from "./receivers.ts";
import { messageCycles } from "./send.ts";

export const reconnect: Scenario = {
  name: "reconnect",
  summary: "sockets that are all dropped at once, reconnect and resume, while posts continue",
  baseline: "baselines/reconnect",
  supportsUrl: true,
  sizes: {
    tiny: { ...common(8, 40), durationSeconds: 0.4, warmupSeconds: 0.2, runs: 1, users: 2 },
    small: { ...common(200, 20), durationSeconds: 2, warmupSeconds: 1, runs: 2, users: 4 },
    full: { ...common(2_000, 5), durationSeconds: 5, warmupSeconds: 2, runs: 5, users: 40 },
  },
  run,
};

function common(connections: number, ratePerSecond: number) {
  return { connections, ratePerSecond, receivers: 0 };
}

async function run(context: Context): Promise<Outcome> {
  const { settings } = context;
  const server = await context.openServer();
  const api = new Api(server, server.credentials);
  const users = await usersFor(api, { scenario: "reconnect", sockets: settings.connections, atLeast: settings.users });
  const channelId = await api.createChannel(`bench reconnect ${context.seed}`, users);
  const cycles = messageCycles({ server, authorization: api.authorization, channelId, seed: context.seed });
  const load: Pick<DeliveriesJob, "kind" | "cycles" | "decoder"> = { kind: "deliveries", cycles, decoder: "scan" };
  const source = { server, users, load, eventType: "message" } as const;
  const baseline = await openFramesBaseline(context, "baselines/reconnect", source);
  const receivers = receiversOf({ users, count: settings.connections, eventType: "message" });
  const { ratePerSecond, warmupSeconds, durationSeconds } = settings;
  const pair = await alternate(context, {
    label: "reconnect",
    seconds: runSeconds(settings),
    server,
    baseline,
    run: ({ address, watch }) =>
      generate(context, {
        kind: "reconnect",
        address,
        watch,
        receivers,
        cycles,
        firstMarker: nextFirstMarker(),
        pace: { warmupMs: warmupSeconds * 1000, durationMs: durationSeconds * 1000, ratePerSecond },
      }),
  });
  return outcomeOf(pair, settings.connections);
}

function outcomeOf(pair: Pair<ReconnectResult>, sockets: number): Outcome {
  return {
    measures: [
      measureOf(
        { key: "all_live_ms", title: `until all of ${sockets} sockets are live again`, unit: "ms", better: "lower" },
        pair,
        (result) => result.allLiveMs,
      ),
      ...latencyMeasures({ prefix: "resume", title: "connect and resume" }, pair, (result) => result.resume),
      measureOf(
        {
          key: "resume_cpu_us",
          title: "server CPU per resume, including concurrent posts",
          unit: "us",
          better: "lower",
        },
        pair,
        ({ usage }) => (usage.serverCpuSeconds === null ? null : (usage.serverCpuSeconds * 1_000_000) / sockets),
      ),
      measureOf(
        { key: "loop_delay_max_ms", title: "longest event-loop delay during the phase", unit: "ms", better: "lower" },
        pair,
        ({ usage }) => usage.loopDelayMs?.max ?? null,
      ),
    ],
    series: [latencySeries("connect and resume", pair, (result) => result.resume)],
    checks: [...failureChecks("reconnect", pair), ...completeChecks(pair)],
    notes: disturbanceNotes("reconnect", pair),
  };
}

function completeChecks(pair: Pair<ReconnectResult>): Check[] {
  return (["ours", "baseline"] as const).flatMap((label) => {
    const runs = pair[label];
    if (runs.length === 0) return [];
    const sum = (pick: (run: ReconnectResult) => number): number => runs.reduce((all, run) => all + pick(run), 0);
    const [incomplete, duplicates, lost] = [
      sum((r) => r.incomplete),
      sum((r) => r.duplicates),
      sum((r) => r.closedReceivers),
    ];
    const firstClose = runs.find((run) => run.firstClose !== "")?.firstClose ?? "";
    return [
      {
        name: `reconnect, ${label}: every receiver saw every event exactly once`,
        ok: sum((run) => run.posts) > 0 && incomplete + duplicates + lost === 0,
        detail: `${incomplete} posts incomplete, ${duplicates} events seen twice, ${lost} sockets lost ${firstClose}`,
      },
    ];
  });
}
