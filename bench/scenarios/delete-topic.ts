// `delete-topic`: POST /streams/{id}/delete_topic on a topic of 1,000,000 messages. Two figures: how long it takes when the server has
// nothing else to do (repeated until it is complete, as clients do), and what posts at a fixed rate, a fifth of what the server can
// take, notice of a deletion that runs beside them: their p99 of before and meanwhile. The floor of the first deletes as many rows by
// bare lmdb (bench/floors/delete-topic.ts); in the second, the posts of before stand where the floor stands.

import { Api } from "../lib/api.ts";
import { topicName } from "../lib/fill.ts";
import { filled } from "../lib/filled.ts";
import type { HttpLoadResult } from "../lib/job.ts";
import { disturbanceNotes, failureChecks, latencyMeasures, latencySeries, measureOf } from "../lib/measures.ts";
import { GENERAL } from "../lib/organization.ts";
import type { Check, Outcome } from "../lib/result.ts";
import { type Context, generate, openFloor, type Pair, paceOf, runSeconds, type Scenario } from "../lib/scenario.ts";
import type { Server, Target } from "../lib/target.ts";
import { TimedCalls } from "../lib/timed-calls.ts";
import { messageCycles } from "./send.ts";

/** Aims of the issue. */
const AIM_SECONDS = 10;
const AIM_RATIO = 1.5;
const PATH = `/streams/${GENERAL}/delete_topic`;
const TOPIC = topicName(0);

export const deleteTopic: Scenario = {
  name: "delete-topic",
  summary: "deleting a topic of 1,000,000 messages: alone, and beside posts at a fixed rate",
  floor: "floors/delete-topic",
  worksOnUrl: false,
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
  const prepare = await filled(context, { messages, topics: 1, areUnread: true });
  const server = await context.openServer(prepare);
  const api = new Api(server, server.credentials);
  const floor = await openFloor(context, { program: "floors/delete-topic" });
  progress.plan(2 * settings.runs * runSeconds(settings));
  progress.label("delete-topic: alone");
  const alone: Pair<number> = {
    ours: [await secondsToDelete(server, api.authorization)],
    floor: floor === null ? [] : [await fillAndDelete(floor, api.authorization, messages)],
  };
  const check = await nothingLeft(api);
  await server.stop();
  const beside = await besidePosts(context, await context.openServer(prepare));
  const rate = `posts at ${settings.ratePerSecond}/s beside it; before`;
  return {
    measures: [
      measureOf(
        { key: "delete_s", title: `deleting a topic of ${messages} messages`, unit: "s", better: "lower" },
        alone,
        (seconds) => seconds,
      ),
      ...latencyMeasures({ prefix: "posts", title: rate }, beside.posts, ({ latency }) => latency),
      measureOf(
        { key: "beside_per_s", title: "messages deleted beside the posts", unit: "/s", better: "higher" },
        { ours: beside.deletedPerSecond, floor: [] },
        (perSecond) => perSecond,
      ),
    ],
    series: [latencySeries("posts beside a deletion (ours), before (floor)", beside.posts, ({ latency }) => latency)],
    checks: [...failureChecks("posts", beside.posts), check, beside.check],
    notes: [
      `The aims are ${AIM_SECONDS} s for 1,000,000 messages, and posts whose p99 stays within ${AIM_RATIO} of before.`,
      ...disturbanceNotes("posts", beside.posts),
    ],
  };
}

/** Repeated until nothing is left: a request gives up after a while, and the next one goes on. */
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

async function fillAndDelete(floor: Target, authorization: string, messages: number): Promise<number> {
  const { host, port } = floor.address;
  const body = new URLSearchParams({ count: String(messages) });
  const filled = await fetch(`http://${host}:${port}/fill`, { method: "POST", body });
  if (filled.status !== 200) throw new Error(`the floor could not be filled: ${filled.status}`);
  return secondsToDelete(floor, authorization);
}

/** All posts of before come first: a deletion goes on for a while after whoever asked for it has gone. */
async function besidePosts(context: Context, server: Server) {
  const { settings, progress, seed } = context;
  const api = new Api(server, server.credentials);
  const cycles = messageCycles({ server, authorization: api.authorization, channelId: GENERAL, seed });
  const pair = { ours: [] as HttpLoadResult[], floor: [] as HttpLoadResult[] };
  const load = async (side: "ours" | "floor", index: number) => {
    const when = side === "ours" ? "beside it" : "before";
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
  for (let index = 0; index < settings.runs; index += 1) await load("floor", index);
  const deletedPerSecond: number[] = [];
  let isOver = false;
  const deletion = secondsToDelete(server, api.authorization, () => isOver);
  for (let index = 0; index < settings.runs; index += 1) {
    const before = await newestOf(api);
    const from = performance.now();
    await load("ours", index);
    const seconds = (performance.now() - from) / 1000;
    // They came before every other message, and go newest first.
    deletedPerSecond.push((before - (await newestOf(api))) / seconds);
  }
  isOver = true;
  deletion.catch(() => undefined);
  const check: Check = {
    name: "messages went while posts came",
    ok: deletedPerSecond.some((perSecond) => perSecond > 0),
    detail: `${deletedPerSecond.map((perSecond) => Math.round(perSecond)).join(", ")} per second`,
  };
  return { posts: pair, deletedPerSecond, check };
}

/** Id of the newest message of the topic; 0: there is none. */
async function newestOf(api: Api): Promise<number> {
  const narrow = JSON.stringify([
    { operator: "channel", operand: GENERAL },
    { operator: "topic", operand: TOPIC },
  ]);
  const text = await api.call("GET", "/messages", { anchor: "newest", num_before: "1", num_after: "0", narrow });
  return (JSON.parse(text) as { readonly messages: readonly { readonly id: number }[] }).messages.at(-1)?.id ?? 0;
}

/** A 200 that deleted nothing would make a fast server. */
async function nothingLeft(api: Api): Promise<Check> {
  const newest = await newestOf(api);
  return { name: "nothing is left of the topic", ok: newest === 0, detail: `newest message ${newest}` };
}
