// `read`: one message, the newest 100 messages of a topic, the list of users; each at full speed over N connections and, for one
// message, at a fixed rate. The floor answers the very bytes that our server answered (bench/floors/answer.ts): the
// difference is routing, authentication, permission, look-up and encoding.

import { Api } from "../lib/api.ts";
import { buildRequest } from "../lib/http-request.ts";
import type { Cycle } from "../lib/job.ts";
import {
  bottleneckNotes,
  disturbanceNotes,
  failureChecks,
  latencyMeasures,
  latencySeries,
  sameSizeCheck,
  throughputMeasures,
  throughputSeries,
} from "../lib/measures.ts";
import type { Outcome } from "../lib/result.ts";
import { alternate, type Context, generate, openFloor, paceOf, runSeconds, type Scenario } from "../lib/scenario.ts";
import type { Server } from "../lib/target.ts";

const PAGE_MESSAGES = 100;
const TOPIC = "bench read";

/** One way of reading: its query is part of the request, its path names the floor's answer. */
interface Operation {
  readonly key: string;
  readonly title: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

export const read: Scenario = {
  name: "read",
  summary: "GET one message, GET the newest 100 messages of a topic, GET /users",
  floor: "floors/answer",
  worksOnUrl: true,
  sizes: {
    tiny: {
      connections: 2,
      ratePerSecond: 50,
      durationSeconds: 0.2,
      warmupSeconds: 0.1,
      runs: 1,
      users: 1,
      receivers: 0,
    },
    small: {
      connections: 32,
      ratePerSecond: 1_000,
      durationSeconds: 1,
      warmupSeconds: 1,
      runs: 2,
      users: 10,
      receivers: 0,
    },
    full: {
      connections: 64,
      ratePerSecond: 4_000,
      durationSeconds: 8,
      warmupSeconds: 2,
      runs: 5,
      users: 50,
      receivers: 0,
    },
  },
  run,
};

async function run(context: Context): Promise<Outcome> {
  const { settings } = context;
  const server = await context.openServer();
  const api = new Api(server, server.credentials);
  const operations = await prepare(context, api);
  const floor = await openFloor(context, {
    program: "floors/answer",
    input: { variable: "ANSWERS_FILE", value: await captureAnswers(api, operations) },
  });
  const phase = (operation: Operation, ratePerSecond: number | null) =>
    alternate(context, {
      label: `read: ${operation.title}`,
      seconds: runSeconds(settings),
      server,
      floor,
      run: ({ address, watch }) =>
        generate(context, {
          kind: "http-load",
          address,
          watch,
          cycles: [cycleOf(operation, server, api.authorization)],
          connections: settings.connections,
          pace: paceOf(settings, ratePerSecond),
        }),
    });
  const parts: Outcome[] = [];
  for (const operation of operations) {
    const pair = await phase(operation, null);
    parts.push({
      measures: throughputMeasures(
        { prefix: operation.key, noun: "answer", title: operation.title },
        pair,
        (r) => r.perSecond,
      ),
      series: [throughputSeries(`${operation.title}, per second`, pair, (r) => r.perSecond)],
      checks: [...failureChecks(operation.title, pair), ...sameSizeCheck(operation.title, pair, 0)],
      notes: bottleneckNotes(operation.title, pair),
    });
  }
  const [oneMessage] = operations;
  if (oneMessage !== undefined) {
    const title = `${oneMessage.title} at ${settings.ratePerSecond}/s`;
    const pair = await phase(oneMessage, settings.ratePerSecond);
    parts.push({
      measures: latencyMeasures({ prefix: `${oneMessage.key}_paced`, title }, pair, (r) => r.latency),
      series: [latencySeries(`${title}, open loop`, pair, (r) => r.latency)],
      checks: failureChecks(title, pair),
      notes: disturbanceNotes(title, pair),
    });
  }
  return {
    measures: parts.flatMap((part) => part.measures),
    series: parts.flatMap((part) => part.series),
    checks: parts.flatMap((part) => part.checks),
    notes: parts.flatMap((part) => part.notes),
  };
}

/** Makes the users and the messages that will be read. */
async function prepare(context: Context, api: Api): Promise<readonly Operation[]> {
  await api.createUsers(context.settings.users, `read-${Date.now().toString(36)}`);
  const channel = `bench read ${context.seed}`;
  const channelId = await api.createChannel(channel, []);
  let lastId = 0;
  for (let index = 0; index < PAGE_MESSAGES; index += 1) {
    const content = `message ${index} of the page that will be read, with **some** Markdown`;
    const form = { type: "channel", to: String(channelId), topic: TOPIC, content };
    lastId = (JSON.parse(await api.call("POST", "/messages", form)) as { readonly id: number }).id;
  }
  const narrow = JSON.stringify([
    { operator: "channel", operand: channel },
    { operator: "topic", operand: TOPIC },
  ]);
  const page = { anchor: "newest", num_before: String(PAGE_MESSAGES), num_after: "0", narrow };
  return [
    { key: "message", title: "GET one message", path: `/messages/${lastId}`, query: {} },
    { key: "page", title: `GET ${PAGE_MESSAGES} messages`, path: "/messages", query: page },
    { key: "users", title: `GET /users (${context.settings.users + 1} made)`, path: "/users", query: {} },
  ];
}

async function captureAnswers(api: Api, operations: readonly Operation[]): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const { path, query } of operations) answers[`GET /api/v1${path}`] = await api.call("GET", path, query);
  return answers;
}

function cycleOf(operation: Operation, server: Server, authorization: string): Cycle {
  const query = new URLSearchParams(operation.query).toString();
  const path = `/api/v1${operation.path}${query === "" ? "" : `?${query}`}`;
  const host = `${server.address.host}:${server.address.port}`;
  return [buildRequest({ method: "GET", path, authorization, host })];
}
