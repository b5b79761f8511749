// `register`: POST /register with every section, by a user with unread messages in 10,000 topics, one client alone.
// Each queue is deleted afterwards, untimed, because queues per user are bounded. The baseline sends the real server's
// bytes from memory (bench/baselines/answer.ts) and stores no queue.

import { Api } from "../lib/api.ts";
import { fill } from "../lib/fill.ts";
import { disturbanceNotes, latencySeries, measureOf } from "../lib/measures.ts";
import { percentileMs } from "../lib/recorder.ts";
import type { Check, Outcome } from "../lib/result.ts";
import { alternate, type Context, openAnswersBaseline, runSeconds, type Scenario } from "../lib/scenario.ts";
import { TimedCalls, timeCalls } from "../lib/timed-calls.ts";

const PATH = "/register";
/** Target. */
const TARGET_MS = 20;

export const register: Scenario = {
  name: "register",
  summary: "POST /register, all sections, by a user with unread messages in 10,000 topics",
  baseline: "baselines/answer",
  // Thousands of messages are written before the server starts.
  supportsUrl: false,
  sizes: {
    tiny: { ...common(), durationSeconds: 0.3, warmupSeconds: 0.05, runs: 1, messages: 200 },
    small: { ...common(), durationSeconds: 2, warmupSeconds: 1, runs: 2, messages: 10_000 },
    full: { ...common(), durationSeconds: 5, warmupSeconds: 2, runs: 5, messages: 10_000 },
  },
  run,
};

function common() {
  return { connections: 1, ratePerSecond: 0, users: 0, receivers: 0 };
}

async function run(context: Context): Promise<Outcome> {
  const { settings } = context;
  const messages = settings.messages ?? 0;
  const filling = { messages, topics: messages, areUnread: true };
  const server = await context.openServer((folder) => fill(folder, filling));
  const { authorization } = new Api(server, server.credentials);
  const ours = new TimedCalls(server, authorization);
  const first = await registerOnce(ours, true);
  const baseline = await openAnswersBaseline(context, { [`POST /api/v1${PATH}`]: first.body.toString("utf8") });
  const title = `POST /register with ${messages} unread topics`;
  const pair = await alternate(context, {
    label: title,
    seconds: runSeconds(settings),
    server,
    baseline,
    run: async (target) => {
      const calls = new TimedCalls(target, authorization);
      const isOurs = target.label === "ours";
      const timed = await timeCalls(target.watch, settings, async () => (await registerOnce(calls, isOurs)).ms);
      calls.close();
      return timed;
    },
  });
  ours.close();
  return {
    measures: [
      ...([50, 90, 100] as const).map((percentile) =>
        measureOf(
          {
            key: `register_p${percentile}_ms`,
            title: percentile === 100 ? `${title}, slowest` : `${title}, p${percentile}`,
            unit: "ms",
            better: "lower",
          },
          pair,
          ({ latency }) => percentileMs(latency, percentile),
        ),
      ),
      measureOf(
        {
          key: "register_loop_delay_p99_ms",
          title: "event-loop delay p99 during the phase",
          unit: "ms",
          better: "lower",
        },
        pair,
        ({ usage }) => usage.loopDelayMs?.p99 ?? null,
      ),
    ],
    series: [latencySeries(title, pair, ({ latency }) => latency)],
    checks: [completeCheck(first.body, messages)],
    notes: [
      `The target is ${TARGET_MS} ms; the response has ${first.body.length} bytes.`,
      ...disturbanceNotes(title, pair),
    ],
  };
}

/** @param isKept whether there is a queue to delete; the baseline stores none */
async function registerOnce(calls: TimedCalls, isKept: boolean) {
  const answer = await calls.call("POST", PATH);
  if (isKept) {
    const queueId = /"queue_id":"([^"]+)"/.exec(answer.body.toString("latin1", 0, 500))?.[1] ?? "";
    await calls.call("DELETE", "/events", { queue_id: queueId });
  }
  return answer;
}

/** Guards against a fast server that omits unread messages. */
function completeCheck(body: Buffer, messages: number): Check {
  const { unread_msgs: unread } = JSON.parse(body.toString("utf8")) as {
    readonly unread_msgs: { readonly count: number; readonly streams: readonly unknown[] };
  };
  const detail = `${unread.count} messages in ${unread.streams.length} topics`;
  return { name: "the state has every unread topic", ok: unread.streams.length === messages, detail };
}
