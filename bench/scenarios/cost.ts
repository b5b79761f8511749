// `cost`: whether the cost of a post depends on the number of stored messages and of subscribers. Measures server CPU
// per post at a fixed rate with 1,000, 100,000 and 1,000,000 messages stored, and with 10 and 10,000 subscribers. All
// servers run at the same time and are measured in turn, in both directions, so that a drift of the machine affects all
// alike. Each row is compared with its smallest number.

import { Api } from "../lib/api.ts";
import type { Filling } from "../lib/fill.ts";
import { filled } from "../lib/filled.ts";
import type { HttpLoadResult } from "../lib/job.ts";
import { disturbanceNotes, failureChecks, latencySeries, measureOf } from "../lib/measures.ts";
import { GENERAL } from "../lib/organization.ts";
import type { Outcome } from "../lib/result.ts";
import { type Context, generate, type Pair, paceOf, runSeconds, type Scenario } from "../lib/scenario.ts";
import type { Server } from "../lib/target.ts";
import { messageCycles } from "./send.ts";

const TARGET_SHARE = 0.15;
const TOPICS = 1_000;
/** Messages stored in the servers that vary subscribers, and in the first server that varies messages. */
const FEW_MESSAGES = 1_000;
const FEW_SUBSCRIBERS = 10;

export const cost: Scenario = {
  name: "cost",
  summary: "CPU per post with 1,000 to 1,000,000 messages stored, and with 10 to 10,000 subscribers",
  baseline: "ours",
  supportsUrl: false,
  sizes: {
    tiny: { ...common(2, 400), durationSeconds: 0.5, warmupSeconds: 0.1, runs: 1, people: 50, messages: 2_000 },
    small: { ...common(8, 500), durationSeconds: 2, warmupSeconds: 1, runs: 2, people: 2_000, messages: 10_000 },
    full: { ...common(16, 500), durationSeconds: 5, warmupSeconds: 2, runs: 5, people: 10_000, messages: 1_000_000 },
  },
  run,
};

function common(connections: number, ratePerSecond: number) {
  return { connections, ratePerSecond, users: 0, receivers: 0 };
}

/** A filled server, its row, and the cost of its posts. */
interface FilledChannel {
  readonly row: "stored" | "subscribers";
  readonly count: number;
  readonly server: Server;
  readonly runs: HttpLoadResult[];
}

async function run(context: Context): Promise<Outcome> {
  const { settings, progress } = context;
  const { messages: most = 0, people = 0 } = settings;
  const few = Math.min(FEW_MESSAGES, most / 10);
  const stored = new Set([few, most / 10, most]);
  const places: FilledChannel[] = [];
  const open = async (row: FilledChannel["row"], count: number, filling: Omit<Filling, "topics" | "areUnread">) => {
    const server = await context.openServer(await filled(context, { ...filling, topics: TOPICS, areUnread: true }));
    places.push({ row, count, server, runs: [] });
  };
  for (const messages of stored) await open("stored", messages, { messages });
  // The owner is a subscriber, too.
  for (const count of [FEW_SUBSCRIBERS, people]) {
    await open("subscribers", count, { messages: few, people: count - 1 });
  }
  progress.plan(settings.runs * places.length * runSeconds(settings));
  for (let index = 0; index < settings.runs; index += 1) {
    for (const place of index % 2 === 0 ? places : places.toReversed()) {
      progress.label(`cost: run ${index + 1} of ${settings.runs}, ${place.count} ${place.row}`);
      place.runs.push(await post(context, place.server));
      progress.advance(runSeconds(settings));
    }
  }
  return outcomeOf(context, places);
}

function post(context: Context, server: Server): Promise<HttpLoadResult> {
  const { settings, seed } = context;
  const { authorization } = new Api(server, server.credentials);
  return generate(context, {
    kind: "http-load",
    address: server.address,
    watch: server.watch,
    cycles: messageCycles({ server, authorization, channelId: GENERAL, seed }),
    connections: settings.connections,
    pace: paceOf(settings, settings.ratePerSecond),
  });
}

function outcomeOf({ settings }: Context, places: readonly FilledChannel[]): Outcome {
  const pairs = places.flatMap((place) => {
    const first = places.find(({ row }) => row === place.row);
    if (first === undefined || first === place) return [];
    const pair: Pair<HttpLoadResult> = { ours: place.runs, baseline: first.runs };
    return [{ place, first, pair }];
  });
  const cpuUs = ({ usage, completed }: HttpLoadResult): number | null =>
    usage.serverCpuSeconds === null || completed === 0 ? null : (usage.serverCpuSeconds * 1_000_000) / completed;
  return {
    measures: pairs.map(({ place: { row, count }, first, pair }) =>
      measureOf(
        {
          key: `${row}_${count}_cpu_us`,
          title: `CPU per post at ${settings.ratePerSecond}/s, ${count} ${row}; ${first.count}`,
          unit: "us",
          better: "lower",
        },
        pair,
        cpuUs,
      ),
    ),
    series: pairs
      .slice(0, 1)
      .map(({ pair }) => latencySeries("posts, more stored (ours), few stored (baseline)", pair, (r) => r.latency)),
    checks: pairs.flatMap(({ place, pair }) => failureChecks(`${place.count} ${place.row}`, pair)),
    notes: [
      `The target is a ratio within ${TARGET_SHARE * 100} % of 1. All posts add to what is stored.`,
      ...pairs.flatMap(({ place, pair }) => disturbanceNotes(`${place.count} ${place.row}`, pair)),
    ],
  };
}
