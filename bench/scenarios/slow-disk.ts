// `slow-disk`: everything on a disk whose flush takes 5 ms longer, as that of an ordinary cloud volume
// (bench/native/slow-flush.c). Posts in closed loop, against both baselines on the same disk and against what such a
// disk permits; and GET /users/me at a fixed rate, alone and beside the posters.

import { Api } from "../lib/api.ts";
import { httpPair } from "../lib/http-pair.ts";
import { buildRequest } from "../lib/http-request.ts";
import type { Cycle, HttpLoadResult } from "../lib/job.ts";
import { measureFlushUs } from "../lib/machine.ts";
import {
  bottleneckNotes,
  disturbanceNotes,
  failureChecks,
  latencyMeasures,
  latencySeries,
  measureOf,
  programNotes,
  throughputMeasures,
  undivided,
} from "../lib/measures.ts";
import { hasCompiler } from "../lib/native.ts";
import type { Outcome } from "../lib/result.ts";
import { type Context, generate, openBaseline, type Pair, paceOf, runSeconds, type Scenario } from "../lib/scenario.ts";
import type { Environment, Server } from "../lib/target.ts";
import { messageCycles } from "./send.ts";

const FLUSH_DELAY_MS = 5;
const READ_CONNECTIONS = 8;
const POSTS_PHASE = "posts";
const READS_PHASE = "reads";

export const slowDisk: Scenario = {
  name: "slow-disk",
  summary: `posts and reads on a disk whose flush takes ${FLUSH_DELAY_MS} ms longer`,
  baseline: "baselines/send",
  supportsUrl: false,
  missing: () => (hasCompiler() ? null : "it needs a compiler of C (Debian package build-essential)"),
  sizes: {
    tiny: { ...common(2, 50), durationSeconds: 0.3, warmupSeconds: 0.1, runs: 1 },
    small: { ...common(16, 200), durationSeconds: 2, warmupSeconds: 1, runs: 2 },
    full: { ...common(16, 500), durationSeconds: 10, warmupSeconds: 2, runs: 5 },
  },
  run,
};

function common(connections: number, ratePerSecond: number) {
  return { connections, ratePerSecond, users: 0, receivers: 0 };
}

async function run(context: Context): Promise<Outcome> {
  const { seed, workspace } = context;
  const environment: Environment = {
    LD_PRELOAD: workspace.native("slow-flush") ?? "",
    FLUSH_DELAY_US: String(FLUSH_DELAY_MS * 1000),
  };
  const server = await context.openServer(undefined, environment);
  const api = new Api(server, server.credentials);
  const channelId = await api.createChannel(`bench slow disk ${seed}`, []);
  const cycles = messageCycles({ server, authorization: api.authorization, channelId, seed });
  const posts = await httpPair(context, {
    label: `slow-disk: ${POSTS_PHASE}`,
    server,
    baseline: await openBaseline(context, { program: "baselines/send", environment }),
    journal: await openBaseline(context, { program: "baselines/journal", label: "journal", environment }),
    cycles,
    ratePerSecond: null,
  });
  const reads = await readAloneAndTogether(context, { server, authorization: api.authorization, posts: cycles });
  const flushMs = FLUSH_DELAY_MS + measureFlushUs(workspace.folder) / 1000;
  return outcomeOf(context, { posts, reads, flushMs });
}

/** Reads beside the posters (as `ours`), and alone (as `baseline`), in alternating order. */
async function readAloneAndTogether(
  context: Context,
  options: { readonly server: Server; readonly authorization: string; readonly posts: readonly Cycle[] },
): Promise<Pair<HttpLoadResult>> {
  const { settings, progress } = context;
  const { server, authorization, posts } = options;
  const { address } = server;
  const host = `${address.host}:${address.port}`;
  const reading = buildRequest({ method: "GET", path: "/api/v1/users/me", authorization, host });
  const load = { kind: "http-load" as const, address, watch: null };
  const read = (): Promise<HttpLoadResult> =>
    generate(context, {
      ...load,
      cycles: [[reading]],
      connections: READ_CONNECTIONS,
      pace: paceOf(settings, settings.ratePerSecond),
    });
  const post = (): Promise<HttpLoadResult> =>
    generate(context, { ...load, cycles: posts, connections: settings.connections, pace: paceOf(settings, null) });
  const pair = { ours: [] as HttpLoadResult[], baseline: [] as HttpLoadResult[] };
  const sides = [
    { label: "alone", once: async () => void pair.baseline.push(await read()) },
    {
      label: "beside posters",
      once: async () => {
        const [result] = await Promise.all([read(), post()]);
        pair.ours.push(result);
      },
    },
  ];
  progress.plan(settings.runs * sides.length * runSeconds(settings));
  for (let index = 0; index < settings.runs; index += 1) {
    for (const { label, once } of index % 2 === 0 ? sides : sides.toReversed()) {
      progress.label(`slow-disk: ${READS_PHASE} ${label}, run ${index + 1} of ${settings.runs}`);
      await once();
      progress.advance(runSeconds(settings));
    }
  }
  return pair;
}

function outcomeOf(
  { settings }: Context,
  results: {
    readonly posts: Pair<HttpLoadResult>;
    readonly reads: Pair<HttpLoadResult>;
    readonly flushMs: number;
  },
): Outcome {
  const { posts, reads, flushMs } = results;
  const posters = settings.connections;
  const limitPerSecond = (posters * 1000) / flushMs;
  const readTitle = `GET /users/me at ${settings.ratePerSecond}/s beside ${posters} posters; alone`;
  return {
    measures: [
      ...throughputMeasures(
        { prefix: "posts", noun: "post", title: `posts, ${posters} posters` },
        posts,
        (result) => result.perSecond,
      ),
      undivided(
        measureOf(
          {
            key: "posts_of_limit",
            title: `posts, divided by ${posters} in each flush of ${flushMs.toFixed(1)} ms`,
            unit: "",
            better: "higher",
          },
          posts,
          (result) => result.perSecond / limitPerSecond,
        ),
      ),
      ...latencyMeasures({ prefix: "reads", title: readTitle }, reads, (result) => result.latency),
    ],
    series: [latencySeries("reads beside posters (ours), alone (baseline)", reads, (result) => result.latency)],
    checks: [...failureChecks(POSTS_PHASE, posts), ...failureChecks(READS_PHASE, reads)],
    notes: [
      "The targets: reads beside posters at most 1.5 times as long, at least 0.8 of the posts that the disk permits.",
      ...programNotes(POSTS_PHASE, posts),
      ...bottleneckNotes(POSTS_PHASE, posts),
      ...programNotes(READS_PHASE, reads),
      ...disturbanceNotes(READS_PHASE, reads),
    ],
  };
}
