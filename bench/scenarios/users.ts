// `users`: GET /users in an organization of 10,000 users, as many requests as N connections can send. The baseline
// sends the real server's bytes (bench/baselines/answer.ts). Both send cached bytes, so the difference is routing and
// authentication.

import { Api } from "../lib/api.ts";
import { httpPair } from "../lib/http-pair.ts";
import { buildRequest } from "../lib/http-request.ts";
import {
  bottleneckNotes,
  failureChecks,
  latencySeries,
  programNotes,
  sameSizeCheck,
  throughputMeasures,
  throughputSeries,
} from "../lib/measures.ts";
import { populate } from "../lib/populate.ts";
import type { Outcome } from "../lib/result.ts";
import { type Context, openAnswersBaseline, type Scenario } from "../lib/scenario.ts";

const PATH = "/users";

export const users: Scenario = {
  name: "users",
  summary: "GET /users of 10,000 users, from cached bytes",
  baseline: "baselines/answer",
  // Thousands of accounts are written before the server starts.
  supportsUrl: false,
  sizes: {
    tiny: {
      connections: 2,
      ratePerSecond: 0,
      durationSeconds: 0.2,
      warmupSeconds: 0.1,
      runs: 1,
      users: 300,
      receivers: 0,
    },
    small: {
      connections: 8,
      ratePerSecond: 0,
      durationSeconds: 1,
      warmupSeconds: 1,
      runs: 2,
      users: 10_000,
      receivers: 0,
    },
    full: {
      connections: 16,
      ratePerSecond: 0,
      durationSeconds: 8,
      warmupSeconds: 2,
      runs: 5,
      users: 10_000,
      receivers: 0,
    },
  },
  run,
};

async function run(context: Context): Promise<Outcome> {
  const { settings } = context;
  const server = await context.openServer((folder) => populate(folder, settings.users));
  const api = new Api(server, server.credentials);
  const baseline = await openAnswersBaseline(context, { [`GET /api/v1${PATH}`]: await api.call("GET", PATH) });
  const title = `GET /users (${settings.users} created)`;
  const host = `${server.address.host}:${server.address.port}`;
  const request = buildRequest({ method: "GET", path: `/api/v1${PATH}`, authorization: api.authorization, host });
  const pair = await httpPair(context, { label: title, server, baseline, cycles: [[request]], ratePerSecond: null });
  return {
    measures: throughputMeasures({ prefix: "users", noun: "answer", title }, pair, (result) => result.perSecond),
    series: [
      throughputSeries(`${title}, per second`, pair, (result) => result.perSecond),
      latencySeries(`${title}, closed loop`, pair, (result) => result.latency),
    ],
    checks: [...failureChecks(title, pair), ...sameSizeCheck(title, pair, 0)],
    notes: [...programNotes(title, pair), ...bottleneckNotes(title, pair)],
  };
}
