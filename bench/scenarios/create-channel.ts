// `create-channel`: POST /channels/create with 10,000 subscribers, one request at a time. The change is split over many
// turns, so two numbers are reported: how long the caller waits, and how long others wait (event-loop delay). The
// baseline writes the same rows with bare lmdb, in one transaction.

import { Api } from "../lib/api.ts";
import { httpPair } from "../lib/http-pair.ts";
import { buildRequest, MARKER } from "../lib/http-request.ts";
import { disturbanceNotes, failureChecks, latencySeries, measureOf } from "../lib/measures.ts";
import { populate } from "../lib/populate.ts";
import type { Outcome } from "../lib/result.ts";
import { type Context, openBaseline, type Scenario } from "../lib/scenario.ts";
import type { Server } from "../lib/target.ts";

const PATH = "/api/v1/channels/create";

export const createChannel: Scenario = {
  name: "create-channel",
  summary: "POST /channels/create with 10,000 subscribers, one client alone",
  baseline: "baselines/create-channel",
  // Thousands of accounts are written before the server starts.
  supportsUrl: false,
  sizes: {
    tiny: { ...common(), durationSeconds: 0.6, warmupSeconds: 0.1, runs: 1, users: 500, receivers: 2 },
    small: { ...common(), durationSeconds: 3, warmupSeconds: 1, runs: 2, users: 10_000, receivers: 50 },
    full: { ...common(), durationSeconds: 8, warmupSeconds: 2, runs: 5, users: 10_000, receivers: 50 },
  },
  run,
};

function common() {
  return { connections: 1, ratePerSecond: 0 };
}

async function run(context: Context): Promise<Outcome> {
  const { settings } = context;
  const server = await context.openServer((folder) => populate(folder, settings.users));
  const api = new Api(server, server.credentials);
  const ids = await memberIds(api);
  await openQueues(api, settings.receivers);
  const baseline = await openBaseline(context, { program: "baselines/create-channel" });
  const title = `a channel with ${ids.length} subscribers`;
  // A new name for each run, because names are unique.
  const cycles = () => [[requestOf(server, ids)]];
  const pair = await httpPair(context, { label: title, server, baseline, cycles, ratePerSecond: null });
  const loop = (key: "p99" | "max") =>
    measureOf(
      {
        key: `create_loop_delay_${key}_ms`,
        title: `event-loop delay ${key} during the phase`,
        unit: "ms",
        better: "lower",
      },
      pair,
      (result) => result.usage.loopDelayMs?.[key] ?? null,
    );
  return {
    measures: [
      // There are too few calls for percentiles.
      measureOf({ key: "create_mean_ms", title: `${title}, mean`, unit: "ms", better: "lower" }, pair, ({ latency }) =>
        latency.count === 0 ? null : latency.meanMs,
      ),
      measureOf(
        { key: "create_slowest_ms", title: `${title}, slowest`, unit: "ms", better: "lower" },
        pair,
        ({ latency }) => (latency.count === 0 ? null : (latency.percentilesMs.at(-1) ?? null)),
      ),
      loop("p99"),
      loop("max"),
    ],
    series: [latencySeries(title, pair, (result) => result.latency)],
    checks: [...failureChecks(title, pair), await subscriberCheck(api, ids.length)],
    notes: disturbanceNotes(title, pair),
  };
}

/** All users except the bot that every organization has. */
async function memberIds(api: Api): Promise<number[]> {
  const { members } = JSON.parse(await api.call("GET", "/users")) as {
    readonly members: readonly { readonly user_id: number; readonly is_bot: boolean }[];
  };
  return members.filter((member) => !member.is_bot).map((member) => member.user_id);
}

/** Opens queues that receive all events, so that each event is checked against them. */
async function openQueues(api: Api, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await api.call("POST", "/register", { fetch_event_types: "[]" });
}

function requestOf(server: Server, ids: readonly number[]): string {
  const api = new Api(server, server.credentials);
  return buildRequest({
    method: "POST",
    path: PATH,
    authorization: api.authorization,
    form: { name: `channel ${MARKER} ${Date.now().toString(36)}`, subscribers: JSON.stringify(ids) },
    host: `${server.address.host}:${server.address.port}`,
  });
}

/** Guards against a fast server that answers 200 without subscribing anybody. */
async function subscriberCheck(api: Api, count: number): Promise<Outcome["checks"][number]> {
  const { streams } = JSON.parse(await api.call("GET", "/streams")) as {
    readonly streams: readonly { readonly name: string; readonly subscriber_count: number }[];
  };
  const made = streams.filter(({ name }) => name.startsWith("channel "));
  const wrong = made.filter((stream) => stream.subscriber_count !== count);
  return {
    name: "every channel has all its subscribers",
    ok: made.length > 0 && wrong.length === 0,
    detail: `${made.length} channels, ${wrong.length} of them incomplete`,
  };
}
