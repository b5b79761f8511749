// `failover`: posts while the process is killed that serves the organization. Clients of the other nodes repeat each
// post under its key until it is answered, as clients do. The baseline is our server alone, which is started again at
// once. Measured is the time in which nothing is answered; every post must be there exactly once.

import { setTimeout as wait } from "node:timers/promises";
import { Api } from "../lib/api.ts";
import type { Address } from "../lib/http-connection.ts";
import { basicAuthorization } from "../lib/http-request.ts";
import { FAILOVER_RETRY_MS, FAILOVER_WAIT_MS } from "../lib/limits.ts";
import { measureOf } from "../lib/measures.ts";
import { Restartable } from "../lib/restartable.ts";
import type { Check, Outcome } from "../lib/result.ts";
import type { Context, Scenario } from "../lib/scenario.ts";
import type { Credentials } from "../lib/zuliprc.ts";

const PAGE_MESSAGES = 1000;

export const failover: Scenario = {
  name: "failover",
  summary: "posts through other nodes while the owner is killed: the time without an answer, nothing lost or doubled",
  baseline: "ours",
  supportsUrl: false,
  supportsCluster: "only",
  sizes: {
    tiny: { ...common(4), durationSeconds: 0.3, warmupSeconds: 0.2, runs: 1 },
    small: { ...common(16), durationSeconds: 1, warmupSeconds: 1, runs: 3 },
    full: { ...common(16), durationSeconds: 3, warmupSeconds: 2, runs: 5 },
  },
  run,
};

function common(connections: number) {
  return { connections, ratePerSecond: 0, users: 0, receivers: 0 };
}

/** What is killed, where clients are, and how everything is as before. */
interface Victim {
  readonly label: "ours" | "baseline";
  readonly credentials: Credentials;
  readonly addresses: readonly Address[];
  readonly kill: () => Promise<void>;
  readonly restore: () => Promise<void>;
}

interface Run {
  /** The longest time between two answers around the kill. */
  readonly gapMs: number;
  readonly perSecond: number;
  readonly sent: number;
  readonly missing: number;
  readonly doubled: number;
}

async function run(context: Context): Promise<Outcome> {
  const { settings, progress, workspace } = context;
  const cluster = await context.openCluster(null);
  const [owner, ...others] = cluster.nodes;
  if (owner === undefined || others.length === 0) throw new Error("failover needs a cluster of two nodes or more");
  const alone = await Restartable.start(workspace, {});
  context.own({
    label: "baseline",
    address: alone.address,
    watch: null,
    startMs: null,
    death: () => alone.death,
    stop: () => alone.stop(),
  });
  const victims: readonly Victim[] = [
    {
      label: "ours",
      credentials: cluster.credentials,
      addresses: others.map(({ address }) => address),
      kill: () => owner.kill(),
      restore: async () => {
        owner.startAgain();
        await owner.onceReady();
        await cluster.giveBack();
      },
    },
    {
      label: "baseline",
      credentials: alone.credentials,
      addresses: [alone.address],
      kill: async () => {
        await alone.kill();
        alone.startAgain();
      },
      restore: async () => {
        await alone.onceReady();
      },
    },
  ];
  const pair = { ours: [] as Run[], baseline: [] as Run[] };
  const seconds = settings.warmupSeconds + settings.durationSeconds;
  progress.plan(2 * settings.runs * seconds);
  for (let index = 0; index < settings.runs; index += 1) {
    for (const victim of index % 2 === 0 ? victims : victims.toReversed()) {
      progress.label(`failover: kill ${index + 1} of ${settings.runs}, ${victim.label}`);
      pair[victim.label].push(await killOnce(context, victim, index));
      await victim.restore();
      progress.advance(seconds);
    }
  }
  return outcomeOf(context, pair);
}

function outcomeOf({ settings }: Context, pair: Readonly<Record<"ours" | "baseline", readonly Run[]>>): Outcome {
  return {
    measures: [
      measureOf({ key: "gap_ms", title: "longest time without an answer", unit: "ms", better: "lower" }, pair, (run) =>
        Math.round(run.gapMs),
      ),
      measureOf(
        {
          key: "posts_per_s",
          title: `posts before the kill, ${settings.connections} clients`,
          unit: "/s",
          better: "higher",
        },
        pair,
        (run) => run.perSecond,
      ),
    ],
    series: [],
    checks: (["ours", "baseline"] as const).map((label) => onceCheck(label, pair[label])),
    notes: [
      "The clients are fetch in the bench's own process, and share the machine with everything else. The time ends with the first answer, so it includes the repetitions of clients.",
    ],
  };
}

function onceCheck(label: string, runs: readonly Run[]): Check {
  const sum = (pick: (run: Run) => number): number => runs.reduce((all, run) => all + pick(run), 0);
  const [sent, missing, doubled] = [sum((run) => run.sent), sum((run) => run.missing), sum((run) => run.doubled)];
  return {
    name: `${label}: every answered post is there exactly once`,
    ok: missing + doubled === 0 && sent > 0,
    detail: `${sent} posts, ${missing} missing, ${doubled} doubled`,
  };
}

async function killOnce({ settings }: Context, victim: Victim, index: number): Promise<Run> {
  const { credentials, addresses } = victim;
  const [first] = addresses;
  if (first === undefined) throw new Error("no address to post to");
  const api = new Api({ address: first }, credentials);
  const channel = `failover ${index}`;
  const channelId = await api.createChannel(channel, []);
  const answeredAt: number[] = [];
  const sent: string[] = [];
  let isOver = false;
  const poster = async (number: number): Promise<void> => {
    const address = addresses[number % addresses.length] ?? first;
    for (let count = 0; !isOver; count += 1) {
      const content = `post ${index}-${number}-${count}`;
      await postUntilAnswered({ address, credentials, channelId, content });
      answeredAt.push(performance.now());
      sent.push(content);
    }
  };
  const startedAt = performance.now();
  const posting = Promise.all(Array.from({ length: settings.connections }, (_, number) => poster(number)));
  await wait(settings.warmupSeconds * 1000);
  const killedAt = performance.now();
  const before = answeredAt.length;
  await victim.kill();
  while (
    !answeredAt.some((at) => at > killedAt + FAILOVER_RETRY_MS) &&
    performance.now() < killedAt + FAILOVER_WAIT_MS
  ) {
    await wait(FAILOVER_RETRY_MS);
  }
  await wait(settings.durationSeconds * 1000);
  isOver = true;
  await posting;
  const times = answeredAt.toSorted((a, b) => a - b).filter((at) => at > startedAt);
  const gaps = times.slice(1).map((at, place) => at - (times[place] ?? at));
  const found = await contentsOf(api, channel);
  return {
    gapMs: gaps.reduce((longest, gap) => Math.max(longest, gap), 0),
    perSecond: (before * 1000) / (killedAt - startedAt),
    sent: sent.length,
    missing: sent.filter((content) => !found.has(content)).length,
    doubled: [...found.values()].filter((count) => count > 1).length,
  };
}

async function postUntilAnswered(options: {
  readonly address: Address;
  readonly credentials: Credentials;
  readonly channelId: number;
  readonly content: string;
}): Promise<void> {
  const { address, credentials, channelId, content } = options;
  const until = performance.now() + FAILOVER_WAIT_MS;
  while (performance.now() < until) {
    const response = await fetch(`http://${address.host}:${address.port}/api/v1/messages`, {
      method: "POST",
      headers: { authorization: basicAuthorization(credentials.email, credentials.key), "Idempotency-Key": content },
      body: new URLSearchParams({ type: "channel", to: String(channelId), topic: "failover", content }),
    }).catch(() => null);
    await response?.arrayBuffer().catch(() => null);
    if (response?.status === 200) return;
    await wait(FAILOVER_RETRY_MS);
  }
  throw new Error(`a post was not answered within ${FAILOVER_WAIT_MS / 1000} s`);
}

/** How often each content is in the channel. */
async function contentsOf(api: Api, channel: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const narrow = JSON.stringify([{ operator: "channel", operand: channel }]);
  for (let anchor = "oldest"; ; ) {
    const page = { anchor, num_before: "0", num_after: String(PAGE_MESSAGES), include_anchor: "false", narrow };
    const { messages, found_newest } = JSON.parse(
      await api.call("GET", "/messages", { ...page, apply_markdown: "false" }),
    ) as { messages: readonly { id: number; content: string }[]; found_newest: boolean };
    for (const { content } of messages) counts.set(content, (counts.get(content) ?? 0) + 1);
    const last = messages.at(-1);
    if (found_newest || last === undefined) return counts;
    anchor = String(last.id);
  }
}
