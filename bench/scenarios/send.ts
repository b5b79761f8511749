// `send`: durable channel posts in three phases, each compared with the baseline: as many as possible over N
// connections; a fixed rate in open loop; one client alone, whose post costs one turn and one flush. The baseline
// stores the same form with the same durability and does nothing else (bench/baselines/send.ts). A second one appends it
// to a journal instead, which all posts since the last flush share (bench/baselines/journal.ts).

import { Api } from "../lib/api.ts";
import { buildRequest, MARKER } from "../lib/http-request.ts";
import type { Cycle } from "../lib/job.ts";
import type { Outcome } from "../lib/result.ts";
import type { Context, Scenario } from "../lib/scenario.ts";
import type { Server } from "../lib/target.ts";
import { texts } from "../lib/texts.ts";
import { threePhases } from "./three-phases.ts";

export const send: Scenario = {
  name: "send",
  summary: "durable POST /messages to a channel: throughput, latency at a fixed rate, one client alone",
  baseline: "baselines/send",
  supportsUrl: true,
  supportsPeers: true,
  supportsCluster: true,
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
  const channel = `bench send ${context.seed}`;
  const postsTo = async (server: Server) => {
    const api = new Api(server, server.credentials);
    const channelId = await api.createChannel(channel, []);
    const cycles = messageCycles({ server, authorization: api.authorization, channelId, seed: context.seed });
    return { server, api, cycles };
  };
  const { server, api, cycles } = await postsTo(await context.openServer());
  const alone = await context.openAlone();
  return threePhases(context, {
    name: "send",
    prefix: "posts",
    noun: "post",
    senders: "connections",
    server,
    cycles,
    alone: alone === null ? null : await postsTo(alone),
    hasJournal: true,
    peers: await context.openPeers(1),
    check: () => readBackCheck(api, channel),
  });
}

/** One request per topic. The marker makes every message's content unique. Also used by other scenarios. */
export function messageCycles(options: {
  readonly server: Server;
  readonly authorization: string;
  readonly channelId: number;
  readonly seed: number;
}): Cycle[] {
  const { server, authorization, channelId, seed } = options;
  const host = `${server.address.host}:${server.address.port}`;
  return texts(seed).map((message) => {
    const form = { type: "channel", to: String(channelId), ...message };
    return [buildRequest({ method: "POST", path: "/api/v1/messages", authorization, form, host })];
  });
}

/**
 * Guards against a fast server that answers 200 without storing anything: the newest message of a topic must be one of
 * the run.
 */
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
