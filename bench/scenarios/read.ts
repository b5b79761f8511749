// `read`: one message, the newest 100 messages of a topic, and the list of users; each at full speed over N connections
// and, for one message, at a fixed rate. bench/lib/reads.ts describes the measurement.

import { Api } from "../lib/api.ts";
import { measureReads, type ReadOperation } from "../lib/reads.ts";
import type { Outcome } from "../lib/result.ts";
import type { Context, Scenario } from "../lib/scenario.ts";

const PAGE_MESSAGES = 100;
const TOPIC = "bench read";

export const read: Scenario = {
  name: "read",
  summary: "GET one message, GET the newest 100 messages of a topic, GET /users",
  baseline: "baselines/answer",
  supportsUrl: true,
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
  const server = await context.openServer();
  const api = new Api(server, server.credentials);
  return measureReads({ context, server, api }, await prepare(context, api));
}

/** Creates the users and the messages that will be read. */
async function prepare(context: Context, api: Api): Promise<readonly ReadOperation[]> {
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
    { key: "users", title: `GET /users (${context.settings.users + 1} created)`, path: "/users", query: {} },
  ];
}
