// `register`: POST /register with every section, by a user with unread messages in 10,000 topics, one client alone; and
// the same in an organization of 5,000 people and 500 channels with 100 subscribers each, whose lists are requested.
// Each queue is deleted afterwards, untimed, because queues per user are bounded. The baseline sends the real server's
// bytes from memory (bench/baselines/answer.ts) and stores no queue.

import { Api } from "../lib/api.ts";
import { fill } from "../lib/fill.ts";
import { disturbanceNotes, latencySeries, measureOf } from "../lib/measures.ts";
import { populateChannels } from "../lib/populate.ts";
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
    tiny: { ...common(40), durationSeconds: 0.3, warmupSeconds: 0.05, runs: 1, messages: 200 },
    small: { ...common(5_000), durationSeconds: 2, warmupSeconds: 1, runs: 2, messages: 10_000 },
    full: { ...common(5_000), durationSeconds: 5, warmupSeconds: 2, runs: 5, messages: 10_000 },
  },
  run,
};

function common(users: number) {
  return { connections: 1, ratePerSecond: 0, users, receivers: 0 };
}

/** People for each channel of the second organization. */
const PEOPLE_PER_CHANNEL = 10;

interface Registering {
  readonly key: string;
  readonly title: string;
  readonly form: Readonly<Record<string, string>>;
  readonly prepare: (folder: string) => Promise<void>;
  readonly check: (body: Buffer) => Check;
}

async function run(context: Context): Promise<Outcome> {
  const { messages = 0, users } = context.settings;
  const channels = Math.ceil(users / PEOPLE_PER_CHANNEL);
  const unread = await measure(context, {
    key: "register",
    title: `POST /register with ${messages} unread topics`,
    form: {},
    prepare: (folder) => fill(folder, { messages, topics: messages, areUnread: true }),
    check: (body) => completeCheck(body, messages),
  });
  const large = await measure(context, {
    key: "register_large",
    title: `POST /register among ${users} people and ${channels} channels`,
    form: { include_subscribers: "true", slim_presence: "true" },
    prepare: (folder) => populateChannels(folder, { people: users, channels, subscribers: Math.min(users, 100) }),
    check: (body) => peopleCheck(body, users),
  });
  return {
    measures: [...unread.measures, ...large.measures],
    series: [...unread.series, ...large.series],
    checks: [...unread.checks, ...large.checks],
    notes: [...unread.notes, ...large.notes],
  };
}

async function measure(context: Context, { key, title, form, prepare, check }: Registering): Promise<Outcome> {
  const { settings } = context;
  const server = await context.openServer(prepare);
  const { authorization } = new Api(server, server.credentials);
  const ours = new TimedCalls(server, authorization);
  const first = await registerOnce(ours, form, true);
  const baseline = await openAnswersBaseline(context, { [`POST /api/v1${PATH}`]: first.body.toString("utf8") });
  const pair = await alternate(context, {
    label: title,
    seconds: runSeconds(settings),
    server,
    baseline,
    run: async (target) => {
      const calls = new TimedCalls(target, authorization);
      const isOurs = target.label === "ours";
      const timed = await timeCalls(target.watch, settings, async () => (await registerOnce(calls, form, isOurs)).ms);
      calls.close();
      return timed;
    },
  });
  ours.close();
  await server.stop();
  return {
    measures: [
      ...([50, 90, 100] as const).map((percentile) =>
        measureOf(
          {
            key: `${key}_p${percentile}_ms`,
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
          key: `${key}_loop_delay_p99_ms`,
          title: `${title}, event-loop delay p99`,
          unit: "ms",
          better: "lower",
        },
        pair,
        ({ usage }) => usage.loopDelayMs?.p99 ?? null,
      ),
    ],
    series: [latencySeries(title, pair, ({ latency }) => latency)],
    checks: [check(first.body)],
    notes: [
      `The target is ${TARGET_MS} ms; the response has ${first.body.length} bytes.`,
      ...disturbanceNotes(title, pair),
    ],
  };
}

/** @param isKept whether there is a queue to delete; the baseline stores none */
async function registerOnce(calls: TimedCalls, form: Registering["form"], isKept: boolean) {
  const answer = await calls.call("POST", PATH, form);
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

/** The same for one that omits people: the owner and two bots are there, too. */
function peopleCheck(body: Buffer, people: number): Check {
  const { realm_users: shown } = JSON.parse(body.toString("utf8")) as { readonly realm_users: readonly unknown[] };
  return { name: "the state has everybody", ok: shown.length > people, detail: `${shown.length} people` };
}
