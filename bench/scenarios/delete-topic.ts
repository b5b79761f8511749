// `delete-topic`: POST /streams/{id}/delete_topic on a topic of 1,000,000 messages. Measures its duration on an idle
// server (repeated until complete, as clients do), compared with bare lmdb (bench/baselines/delete-topic.ts), and the
// p99 of posts at a fifth of the server's capacity during the deletion, compared with posts before it.

import { Api } from "../lib/api.ts";
import { topicName } from "../lib/fill.ts";
import { filled } from "../lib/filled.ts";
import type { HttpLoadResult } from "../lib/job.ts";
import { disturbanceNotes, failureChecks, latencyMeasures, latencySeries, measureOf } from "../lib/measures.ts";
import { GENERAL } from "../lib/organization.ts";
import type { Check, Outcome } from "../lib/result.ts";
import { type Context, generate, openBaseline, type Pair, paceOf, runSeconds, type Scenario } from "../lib/scenario.ts";
import type { Server, Target } from "../lib/target.ts";
import { TimedCalls } from "../lib/timed-calls.ts";
import { messageCycles } from "./send.ts";

/** Targets. */
const TARGET_SECONDS = 10;
const TARGET_RATIO = 1.5;
const PATH = `/streams/${GENERAL}/delete_topic`;
const TOPIC = topicName(0);

export const deleteTopic: Scenario = {
  name: "delete-topic",
  summary: "deleting a topic of 1,000,000 messages: alone, and during posts at a fixed rate",
  baseline: "baselines/delete-topic",
  supportsUrl: false,
  sizes: {
    tiny: { ...common(2, 50), durationSeconds: 0.3, warmupSeconds: 0.1, runs: 1, messages: 500 },
    small: { ...common(16, 1_000), durationSeconds: 2, warmupSeconds: 1, runs: 2, messages: 50_000 },
    full: { ...common(64, 3_000), durationSeconds: 5, warmupSeconds: 2, runs: 3, messages: 1_000_000 },
  },
  run,
};

function common(connections: number, ratePerSecond: number) {
  return { connections, ratePerSecond, users: 0, receivers: 0 };
}

async function run(context: Context): Promise<Outcome> {
  const { settings, progress } = context;
  const messages = settings.messages ?? 0;
  const prepare = await filled(context, { messages, topics: 1, areUnread: true, areRowsOnly: true });
  const server = await context.openServer(prepare);
  const api = new Api(server, server.credentials);
  const baseline = await openBaseline(context, { program: "baselines/delete-topic" });
  progress.plan(2 * settings.runs * runSeconds(settings));
  progress.label("delete-topic: alone");
  const alone: Pair<number> = {
    ours: [await secondsToDelete(server, api.authorization)],
    baseline: baseline === null ? [] : [await fillAndDelete(baseline, api.authorization, messages)],
  };
  const check = await nothingLeft(api);
  await server.stop();
  const during = await postsDuringDeletion(context, await context.openServer(prepare));
  const rate = `posts at ${settings.ratePerSecond}/s during a deletion; before`;
  return {
    measures: [
      measureOf(
        { key: "delete_s", title: `deleting a topic of ${messages} messages`, unit: "s", better: "lower" },
        alone,
        (seconds) => seconds,
      ),
      ...latencyMeasures({ prefix: "posts", title: rate }, during.posts, ({ latency }) => latency),
      measureOf(
        { key: "beside_per_s", title: "messages deleted during the posts", unit: "/s", better: "higher" },
        { ours: during.deletedPerSecond, baseline: [] },
        (perSecond) => perSecond,
      ),
    ],
    series: [
      latencySeries("posts during a deletion (ours), before (baseline)", during.posts, ({ latency }) => latency),
    ],
    checks: [...failureChecks("posts", during.posts), check, during.check],
    notes: [
      `The targets are ${TARGET_SECONDS} s for 1,000,000 messages, and posts whose p99 stays within ${TARGET_RATIO} times that before.`,
      ...disturbanceNotes("posts", during.posts),
    ],
  };
}

/** Repeats the request until nothing is left: each ends at its time limit, and the next one continues. */
async function secondsToDelete(target: Target, authorization: string, isOver = () => false): Promise<number> {
  const calls = new TimedCalls(target, authorization);
  let ms = 0;
  for (let isComplete = false; !isComplete && !isOver(); ) {
    const answer = await calls.call("POST", PATH, { topic_name: TOPIC });
    ms += answer.ms;
    isComplete = (JSON.parse(answer.body.toString("utf8")) as { readonly complete: boolean }).complete;
  }
  calls.close();
  return ms / 1000;
}

async function fillAndDelete(baseline: Target, authorization: string, messages: number): Promise<number> {
  const { host, port } = baseline.address;
  const body = new URLSearchParams({ count: String(messages) });
  const filled = await fetch(`http://${host}:${port}/fill`, { method: "POST", body });
  if (filled.status !== 200) throw new Error(`the baseline could not be filled: ${filled.status}`);
  return secondsToDelete(baseline, authorization);
}

/**
 * The posts without a deletion are measured first, because a deletion continues for a while after its client has
 * disconnected.
 */
async function postsDuringDeletion(context: Context, server: Server) {
  const { settings, progress, seed } = context;
  const api = new Api(server, server.credentials);
  const cycles = messageCycles({ server, authorization: api.authorization, channelId: GENERAL, seed });
  const pair = { ours: [] as HttpLoadResult[], baseline: [] as HttpLoadResult[] };
  const load = async (side: "ours" | "baseline", index: number) => {
    const when = side === "ours" ? "during it" : "before";
    progress.label(`delete-topic: posts ${when}, run ${index + 1} of ${settings.runs}`);
    const result = await generate(context, {
      kind: "http-load",
      address: server.address,
      watch: server.watch,
      cycles,
      connections: settings.connections,
      pace: paceOf(settings, settings.ratePerSecond),
    });
    pair[side].push(result);
    progress.advance(runSeconds(settings));
  };
  for (let index = 0; index < settings.runs; index += 1) await load("baseline", index);
  const deletedPerSecond: number[] = [];
  let isOver = false;
  const deletion = secondsToDelete(server, api.authorization, () => isOver);
  for (let index = 0; index < settings.runs; index += 1) {
    const before = await newestOf(api);
    const from = performance.now();
    await load("ours", index);
    const seconds = (performance.now() - from) / 1000;
    // The topic's messages are older than all others and are deleted newest first, so the decrease of the newest id is
    // the number of deleted messages.
    deletedPerSecond.push((before - (await newestOf(api))) / seconds);
  }
  isOver = true;
  deletion.catch(() => undefined);
  const check: Check = {
    name: "messages were deleted during the posts",
    ok: deletedPerSecond.some((perSecond) => perSecond > 0),
    detail: `${deletedPerSecond.map((perSecond) => Math.round(perSecond)).join(", ")} per second`,
  };
  return { posts: pair, deletedPerSecond, check };
}

/** Id of the newest message of the topic; 0 if there is none. */
async function newestOf(api: Api): Promise<number> {
  const narrow = JSON.stringify([
    { operator: "channel", operand: GENERAL },
    { operator: "topic", operand: TOPIC },
  ]);
  const text = await api.call("GET", "/messages", { anchor: "newest", num_before: "1", num_after: "0", narrow });
  return (JSON.parse(text) as { readonly messages: readonly { readonly id: number }[] }).messages.at(-1)?.id ?? 0;
}

/** Guards against a fast server that answers 200 without deleting anything. */
async function nothingLeft(api: Api): Promise<Check> {
  const newest = await newestOf(api);
  return { name: "nothing is left of the topic", ok: newest === 0, detail: `newest message ${newest}` };
}
