// `send`: durable channel posts. Three phases, each with the floor beside it: as many as possible over N connections; a fixed
// rate in open loop; one client alone, whose post costs one turn and one flush. The floor stores the same form with the same
// durability and does nothing else (bench/floors/send.ts).

import { Api } from "../lib/api.ts";
import { buildRequest, MARKER } from "../lib/http-request.ts";
import type { Cycle, HttpLoadJob } from "../lib/job.ts";
import {
  bottleneckNotes,
  disturbanceNotes,
  failureChecks,
  latencyMeasures,
  latencySeries,
  measureOf,
  throughputMeasures,
  throughputSeries,
} from "../lib/measures.ts";
import { percentileMs } from "../lib/recorder.ts";
import type { Outcome } from "../lib/result.ts";
import { alternate, type Context, generate, openFloor, paceOf, runSeconds, type Scenario } from "../lib/scenario.ts";
import { seededRandom } from "../lib/statistics.ts";
import type { Server, Target } from "../lib/target.ts";

const TOPICS = 4;
const WORDS = ["river", "stone", "lantern", "orchard", "signal", "harbour", "paper", "winter", "copper", "meadow"];
const WORDS_PER_MESSAGE = 12;

export const send: Scenario = {
  name: "send",
  summary: "durable POST /messages to a channel: throughput, latency at a fixed rate, one client alone",
  floor: "floors/send",
  worksOnUrl: true,
  sizes: {
    tiny: {
      connections: 4,
      ratePerSecond: 50,
      durationSeconds: 0.3,
      warmupSeconds: 0.1,
      runs: 1,
      users: 0,
      receivers: 0,
    },
    small: {
      connections: 64,
      ratePerSecond: 500,
      durationSeconds: 2,
      warmupSeconds: 1,
      runs: 2,
      users: 0,
      receivers: 0,
    },
    full: {
      connections: 256,
      ratePerSecond: 2_000,
      durationSeconds: 10,
      warmupSeconds: 3,
      runs: 5,
      users: 0,
      receivers: 0,
    },
  },
  run,
};

async function run(context: Context): Promise<Outcome> {
  const { settings } = context;
  const server = await context.openServer();
  const api = new Api(server, server.credentials);
  const channel = `bench send ${context.seed}`;
  const channelId = await api.createChannel(channel, []);
  const floor = await openFloor(context, { program: "floors/send" });
  const cycles = messageCycles({ server, authorization: api.authorization, channelId, seed: context.seed });
  const phase = (label: string, connections: number, ratePerSecond: number | null) =>
    alternate(context, {
      label: `send: ${label}`,
      seconds: runSeconds(settings),
      server,
      floor,
      run: (target) =>
        generate(context, jobFor(target, { cycles, connections, pace: paceOf(settings, ratePerSecond) })),
    });
  const most = await phase("throughput", settings.connections, null);
  const paced = await phase("fixed rate", settings.connections, settings.ratePerSecond);
  const alone = await phase("one client", 1, null);
  const rate = `${settings.ratePerSecond}/s`;
  return {
    measures: [
      ...throughputMeasures(
        { prefix: "posts", noun: "post", title: `posts, ${settings.connections} connections` },
        most,
        (result) => result.perSecond,
      ),
      ...latencyMeasures({ prefix: "paced_latency", title: `latency at ${rate}` }, paced, (result) => result.latency),
      measureOf({ key: "alone_p50_ms", title: "one client alone, p50", unit: "ms", better: "lower" }, alone, (result) =>
        percentileMs(result.latency, 50),
      ),
    ],
    series: [
      throughputSeries(`posts per second, ${settings.connections} connections`, most, (result) => result.perSecond),
      latencySeries(`latency at ${rate}, open loop`, paced, (result) => result.latency),
    ],
    checks: [
      ...failureChecks("throughput", most),
      ...failureChecks("fixed rate", paced),
      ...failureChecks("one client", alone),
      await readBackCheck(api, channel),
    ],
    notes: [
      ...bottleneckNotes("throughput", most),
      ...disturbanceNotes("fixed rate", paced),
      ...disturbanceNotes("one client", alone),
    ],
  };
}

/** One request per topic; the marker makes every message's content different. Other scenarios post with it, too. */
export function messageCycles(options: {
  readonly server: Server;
  readonly authorization: string;
  readonly channelId: number;
  readonly seed: number;
}): Cycle[] {
  const { server, authorization, channelId, seed } = options;
  const random = seededRandom(seed);
  return Array.from({ length: TOPICS }, (_, index) => {
    const words = Array.from({ length: WORDS_PER_MESSAGE }, () => WORDS[Math.floor(random() * WORDS.length)] ?? "");
    const form = {
      type: "channel",
      to: String(channelId),
      topic: `bench ${index + 1}`,
      content: `${MARKER} ${words.join(" ")}`,
    };
    const host = `${server.address.host}:${server.address.port}`;
    return [buildRequest({ method: "POST", path: "/api/v1/messages", authorization, form, host })];
  });
}

function jobFor(target: Target, load: Pick<HttpLoadJob, "cycles" | "connections" | "pace">): HttpLoadJob {
  return { kind: "http-load", address: target.address, watch: target.watch, ...load };
}

/** A 200 that stored nothing would make a fast server: the newest message of a topic must be one of ours. */
async function readBackCheck(api: Api, channel: string): Promise<Outcome["checks"][number]> {
  const narrow = JSON.stringify([
    { operator: "channel", operand: channel },
    { operator: "topic", operand: "bench 1" },
  ]);
  const text = await api.call("GET", "/messages", { anchor: "newest", num_before: "1", num_after: "0", narrow });
  const { messages } = JSON.parse(text) as { readonly messages: readonly { readonly content: string }[] };
  const content = messages[0]?.content ?? "";
  const ok = content.includes(MARKER.slice(0, 2));
  return { name: "the newest message can be read back", ok, detail: content.slice(0, 80) };
}
