// `register`: POST /register with every section, of somebody who has 10,000 topics with unread messages in them, one client alone.
// Each queue is deleted again, untimed: a person has few. The floor answers the very bytes that our server answered from memory
// (bench/floors/answer.ts) and stores no queue.

import { Api } from "../lib/api.ts";
import { fill } from "../lib/fill.ts";
import { disturbanceNotes, latencySeries, measureOf } from "../lib/measures.ts";
import { percentileMs } from "../lib/recorder.ts";
import type { Check, Outcome } from "../lib/result.ts";
import { alternate, type Context, openAnswersFloor, runSeconds, type Scenario } from "../lib/scenario.ts";
import { TimedCalls, timeCalls } from "../lib/timed-calls.ts";

const PATH = "/register";
/** Aim of the issue. */
const AIM_MS = 20;

export const register: Scenario = {
  name: "register",
  summary: "POST /register, all sections, of a person with unread messages in 10,000 topics",
  floor: "floors/answer",
  // Messages by the thousand are written before the server starts.
  worksOnUrl: false,
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
  const floor = await openAnswersFloor(context, { [`POST /api/v1${PATH}`]: first.body.toString("utf8") });
  const title = `POST /register with ${messages} unread topics`;
  const pair = await alternate(context, {
    label: title,
    seconds: runSeconds(settings),
    server,
    floor,
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
        { key: "register_loop_delay_p99_ms", title: "event-loop delay p99 meanwhile", unit: "ms", better: "lower" },
        pair,
        ({ usage }) => usage.loopDelayMs?.p99 ?? null,
      ),
    ],
    series: [latencySeries(title, pair, ({ latency }) => latency)],
    checks: [completeCheck(first.body, messages)],
    notes: [`The aim is ${AIM_MS} ms; the answer has ${first.body.length} bytes.`, ...disturbanceNotes(title, pair)],
  };
}

/** @param isKept whether there is a queue to be deleted: the floor has none */
async function registerOnce(calls: TimedCalls, isKept: boolean) {
  const answer = await calls.call("POST", PATH);
  if (isKept) {
    const queueId = /"queue_id":"([^"]+)"/.exec(answer.body.toString("latin1", 0, 500))?.[1] ?? "";
    await calls.call("DELETE", "/events", { queue_id: queueId });
  }
  return answer;
}

/** A state without what is unread would make a fast server. */
function completeCheck(body: Buffer, messages: number): Check {
  const { unread_msgs: unread } = JSON.parse(body.toString("utf8")) as {
    readonly unread_msgs: { readonly count: number; readonly streams: readonly unknown[] };
  };
  const detail = `${unread.count} messages in ${unread.streams.length} topics`;
  return { name: "the state has every unread topic", ok: unread.streams.length === messages, detail };
}
