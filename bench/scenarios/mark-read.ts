// `mark-read`: POST /mark_topic_as_read on a topic with 100,000 unread messages, compared with ordinary posts on the
// same server in the same run. The target is at most twice the duration of a post. The mark is announced in events of
// up to 1,000 ids each; the p99 of posts meanwhile is compared with that before.

import { Api } from "../lib/api.ts";
import { fill, topicName } from "../lib/fill.ts";
import { latencySeries, measureOf } from "../lib/measures.ts";
import { GENERAL } from "../lib/organization.ts";
import { type LatencySummary, percentileMs } from "../lib/recorder.ts";
import type { Check, Outcome } from "../lib/result.ts";
import type { Context, Pair, Scenario } from "../lib/scenario.ts";
import { TimedCalls, timeCalls } from "../lib/timed-calls.ts";

/** Target: a mark compared with an ordinary post. */
const TARGET_RATIO = 2;
/** Maximum number of ids in one event. */
const IDS_PER_EVENT = 1_000;

export const markRead: Scenario = {
  name: "mark-read",
  summary: "POST /mark_topic_as_read on 100,000 unread messages, compared with an ordinary post",
  baseline: "ours",
  supportsUrl: false,
  sizes: {
    tiny: { ...common(), durationSeconds: 0.2, warmupSeconds: 0.05, runs: 1, messages: 2_500 },
    small: { ...common(), durationSeconds: 1, warmupSeconds: 0.5, runs: 2, messages: 20_000 },
    full: { ...common(), durationSeconds: 2, warmupSeconds: 1, runs: 5, messages: 100_000 },
  },
  run,
};

function common() {
  return { connections: 1, ratePerSecond: 0, users: 0, receivers: 0 };
}

interface Run {
  readonly markMs: number;
  readonly before: LatencySummary;
  readonly meanwhile: LatencySummary;
  /** Number of ids in all events, and in the largest one. */
  readonly announcedIds: number;
  readonly largest: number;
}

async function run(context: Context): Promise<Outcome> {
  const { settings, progress } = context;
  const messages = settings.messages ?? 0;
  const topics = settings.runs;
  const server = await context.openServer((folder) =>
    fill(folder, { messages: messages * topics, topics, areUnread: true }),
  );
  const { authorization } = new Api(server, server.credentials);
  const calls = new TimedCalls(server, authorization);
  const events = new TimedCalls(server, authorization);
  const runs: Run[] = [];
  progress.plan(topics);
  for (let index = 0; index < topics; index += 1) {
    progress.label(`mark-read: topic ${index + 1} of ${topics}`);
    runs.push(await runOnce({ calls, events, settings, watch: server.watch, topic: topicName(index), messages }));
    progress.advance(1);
  }
  calls.close();
  events.close();
  return outcomeOf(runs, messages);
}

interface Once {
  readonly calls: TimedCalls;
  readonly events: TimedCalls;
  readonly settings: Context["settings"];
  readonly watch: Parameters<typeof timeCalls>[0];
  readonly topic: string;
  readonly messages: number;
}

async function runOnce({ calls, events, settings, watch, topic, messages }: Once): Promise<Run> {
  const post = async () => {
    const form = { type: "channel", to: String(GENERAL), topic: "posts meanwhile", content: "an ordinary message" };
    return (await calls.call("POST", "/messages", { ...form, read_by_sender: "true" })).ms;
  };
  const before = await timeCalls(watch, settings, post);
  const queue = await registered(events);
  const { ms: markMs } = await calls.call("POST", "/mark_topic_as_read", {
    stream_id: String(GENERAL),
    topic_name: topic,
  });
  let isNotified = false;
  const following = followEvents(events, queue, messages).finally(() => {
    isNotified = true;
  });
  const samples: LatencySummary[] = [];
  // Until no event is left to read, and at least once.
  do
    samples.push(
      (await timeCalls(watch, { warmupSeconds: 0, durationSeconds: settings.durationSeconds }, post)).latency,
    );
  while (!isNotified);
  const { announcedIds, largest } = await following;
  const [meanwhile] = samples;
  if (meanwhile === undefined) throw new Error("no post was timed");
  return { markMs, before: before.latency, meanwhile, announcedIds, largest };
}

interface Queue {
  readonly queue_id: string;
  readonly last_event_id: number;
}

async function registered(events: TimedCalls): Promise<Queue> {
  const form = { event_types: JSON.stringify(["update_message_flags"]), fetch_event_types: "[]" };
  return JSON.parse((await events.call("POST", "/register", form)).body.toString("utf8")) as Queue;
}

/**
 * Reads events until they contain that many message ids, or until the server sends a heartbeat because it has no more.
 */
async function followEvents(events: TimedCalls, queue: Queue, messages: number) {
  let last = queue.last_event_id;
  let announcedIds = 0;
  let largest = 0;
  for (let isQuiet = false; announcedIds < messages && !isQuiet; ) {
    const form = { queue_id: queue.queue_id, last_event_id: String(last) };
    const { body } = await events.call("GET", "/events", form);
    const answer = JSON.parse(body.toString("utf8")) as {
      readonly events: readonly { readonly id: number; readonly type: string; readonly messages?: readonly number[] }[];
    };
    for (const { id, messages: ids = [] } of answer.events) {
      last = Math.max(last, id);
      announcedIds += ids.length;
      largest = Math.max(largest, ids.length);
    }
    isQuiet = answer.events.every(({ type }) => type === "heartbeat");
  }
  await events.call("DELETE", "/events", { queue_id: queue.queue_id });
  return { announcedIds, largest };
}

function outcomeOf(runs: readonly Run[], messages: number): Outcome {
  const title = `mark a topic with ${messages} unread as read`;
  const mark: Pair<number | null> = {
    ours: runs.map(({ markMs }) => markMs),
    baseline: runs.map(({ before }) => percentileMs(before, 50)),
  };
  const posts: Pair<LatencySummary> = {
    ours: runs.map(({ meanwhile }) => meanwhile),
    baseline: runs.map(({ before }) => before),
  };
  return {
    measures: [
      measureOf({ key: "mark_ms", title: `${title}; a post, p50`, unit: "ms", better: "lower" }, mark, (ms) => ms),
      ...([50, 99] as const).map((percentile) =>
        measureOf(
          {
            key: `posts_p${percentile}_ms`,
            title: `posts during the events, p${percentile}; before`,
            unit: "ms",
            better: "lower",
          },
          posts,
          (latency) => percentileMs(latency, percentile),
        ),
      ),
    ],
    series: [latencySeries("posts during the events (ours), before (baseline)", posts, (latency) => latency)],
    checks: [announcedCheck(runs, messages)],
    notes: [`The target is a mark within ${TARGET_RATIO} times an ordinary post.`],
  };
}

function announcedCheck(runs: readonly Run[], messages: number): Check {
  const ok = runs.every(({ announcedIds, largest }) => announcedIds === messages && largest <= IDS_PER_EVENT);
  const detail = runs.map(({ announcedIds, largest }) => `${announcedIds} ids, up to ${largest} at once`).join("; ");
  return { name: `events contain every message, at most ${IDS_PER_EVENT} each`, ok, detail };
}
