// `mixed`: the published request profile of a production server: 44 % polls for events, 36 % presence, 5 % uploads, 3 %
// pages of messages, 1.5 % flags, the rest (10.5 %) posts and typing. Polls have no rate of their own: each post
// answers every held poll, and the number of queues gives polls their share. The baseline sends the same bytes, and
// stores what is durable (bench/baselines/mixed.ts).

import type { MixedAnswers } from "../baselines/mixed.ts";
import { Api, type User } from "../lib/api.ts";
import { MIXED_KINDS, type MixedJob, type MixedResult } from "../lib/job.ts";
import {
  failureChecks,
  latencyMeasures,
  latencySeries,
  measureOf,
  throughputMeasures,
  throughputSeries,
} from "../lib/measures.ts";
import type { Check, Outcome } from "../lib/result.ts";
import {
  alternate,
  type Context,
  generate,
  openBaseline,
  type Pair,
  paceOf,
  runSeconds,
  type Scenario,
} from "../lib/scenario.ts";
import type { Server, Target } from "../lib/target.ts";
import { checksOfBoth, inTwoPhases, notesOfBoth, type TwoPhases } from "../lib/two-phases.ts";
import { captureAnswers, type MixedWorld, requestsOf } from "./mixed-requests.ts";
import { nextFirstMarker } from "./receivers.ts";

/** In half percents of all requests. */
const SHARES: MixedJob["shares"] = { presence: 144, upload: 20, page: 12, flag: 6, typing: 34, post: 8 };
const POLL_SHARE = 0.44;
/** 44 % polls per 2 % posts. */
const QUEUES = 22;
/** The server accepts three concurrent uploads per user. */
const CONNECTIONS_PER_USER = 3;

export const mixed: Scenario = {
  name: "mixed",
  summary: "the request mix of a production server: maximum throughput, and latency of each kind at a fixed rate",
  baseline: "baselines/mixed",
  supportsUrl: true,
  supportsCluster: true,
  sizes: {
    tiny: { ...common(4, 600), durationSeconds: 0.5, warmupSeconds: 0.1, runs: 1 },
    small: { ...common(16, 500), durationSeconds: 3, warmupSeconds: 1, runs: 2 },
    full: { ...common(64, 2_000), durationSeconds: 10, warmupSeconds: 2, runs: 5 },
  },
  run,
};

function common(connections: number, ratePerSecond: number) {
  return { connections, ratePerSecond, users: 0, receivers: QUEUES };
}

async function run(context: Context): Promise<Outcome> {
  const { settings } = context;
  const server = await context.openServer();
  const ours = await usageOf(server, context);
  const alone = await context.openAlone();
  const local = alone === null ? null : await usageOf(alone, context);
  const baseline =
    alone ??
    (await openBaseline(context, {
      program: "baselines/mixed",
      input: { variable: "ANSWERS_FILE", value: ours.answers satisfies MixedAnswers },
    }));
  const phase = (label: string, ratePerSecond: number | null) =>
    alternate(context, {
      label: `mixed: ${label}`,
      seconds: runSeconds(settings),
      server,
      baseline,
      run: (target) => {
        const usage = target === alone && local !== null ? local : ours;
        return runOnce(context, { ...usage, target, isOurs: target === server || target === alone, ratePerSecond });
      },
    });
  // The rate of requests that the generator sends; polls follow from the posts.
  return outcomeOf(context, await inTwoPhases(settings.ratePerSecond * (1 - POLL_SHARE), phase));
}

/** The people of one server and what they send. */
interface ServerUsage {
  readonly api: Api;
  readonly people: readonly User[];
  readonly load: MixedJob["people"];
  readonly answers: MixedAnswers;
}

async function usageOf(server: Server, { settings, seed }: Context): Promise<ServerUsage> {
  const api = new Api(server, server.credentials);
  const count = Math.max(1, settings.users, Math.ceil(settings.connections / CONNECTIONS_PER_USER));
  const people = await api.createUsers(count, `mixed-${Date.now().toString(36)}`);
  const channelId = await api.createChannel(`bench mixed ${seed}`, people);
  const world: MixedWorld = { api, server, channelId, seed };
  const { answers, messageId } = await captureAnswers(world, people);
  return { api, people, answers, load: people.map((person) => requestsOf(world, person, messageId)) };
}

interface Once extends Omit<ServerUsage, "answers"> {
  readonly target: Target;
  /** Whether it is our server, which has queues of its own. */
  readonly isOurs: boolean;
  readonly ratePerSecond: number | null;
}

/**
 * Every run has new queues, so that none starts with events of an earlier run. The baseline creates queues on request.
 */
async function runOnce(context: Context, once: Once): Promise<MixedResult> {
  const { target, isOurs, api, people, load, ratePerSecond } = once;
  const { settings } = context;
  const queues: MixedJob["queues"][number][] = [];
  for (let index = 0; index < settings.receivers; index += 1) {
    const { authorization } = people[index % people.length] ?? api;
    const registered = isOurs ? await register(api, authorization) : { id: `${Date.now()}-${index}`, lastEventId: -1 };
    queues.push({ ...registered, authorization });
  }
  const result = await generate(context, {
    kind: "mixed",
    address: target.address,
    watch: target.watch,
    connections: settings.connections,
    people: load,
    shares: SHARES,
    queues,
    firstMarker: nextFirstMarker(),
    pace: paceOf(settings, ratePerSecond),
  });
  if (isOurs)
    for (const { id, authorization } of queues) await api.callAs(authorization, "DELETE", "/events", { queue_id: id });
  return result;
}

async function register(
  api: Api,
  authorization: string,
): Promise<{ readonly id: string; readonly lastEventId: number }> {
  const form = { event_types: JSON.stringify(["message"]), fetch_event_types: "[]", apply_markdown: "true" };
  const text = await api.callAs(authorization, "POST", "/register", form);
  const { queue_id: id, last_event_id: lastEventId } = JSON.parse(text) as {
    readonly queue_id: string;
    readonly last_event_id: number;
  };
  return { id, lastEventId };
}

function outcomeOf({ settings }: Context, phases: TwoPhases<MixedResult>): Outcome {
  const { most, paced } = phases;
  const rate = `${settings.ratePerSecond}/s`;
  const kinds = ["events", ...MIXED_KINDS] as const;
  const share = (result: MixedResult): number => result.pollsPerSecond / result.perSecond;
  return {
    measures: [
      ...throughputMeasures(
        {
          prefix: "requests",
          noun: "request",
          title: `requests, ${settings.connections} connections, ${settings.receivers} queues`,
        },
        most,
        (result) => result.perSecond,
      ),
      measureOf({ key: "polls_share", title: "polls among them", unit: "", better: "higher" }, most, share),
      measureOf(
        { key: "paced_per_s", title: `requests at ${rate}`, unit: "/s", better: "higher" },
        paced,
        (r) => r.perSecond,
      ),
      measureOf({ key: "paced_polls_share", title: "polls among them", unit: "", better: "higher" }, paced, share),
      ...kinds.flatMap((kind) =>
        latencyMeasures(
          { prefix: `paced_${kind}`, title: `${kind} at ${rate}` },
          paced,
          (result) => result.latency[kind],
        ),
      ),
    ],
    series: [
      throughputSeries("requests per second", most, (result) => result.perSecond),
      ...kinds.map((kind) => latencySeries(`${kind} at ${rate}, open loop`, paced, (result) => result.latency[kind])),
    ],
    checks: [...checksOfBoth(phases, failureChecks), ...checksOfBoth(phases, eventChecks)],
    notes: notesOfBoth(phases),
  };
}

function eventChecks(phase: string, pair: Pair<MixedResult>): Check[] {
  return (["ours", "baseline"] as const).flatMap((label) => {
    if (pair[label].length === 0) return [];
    const sum = (pick: (run: MixedResult) => number): number => pair[label].reduce((all, run) => all + pick(run), 0);
    const counts = [sum((run) => run.incomplete), sum((run) => run.duplicates), sum((run) => run.disordered)];
    return [
      {
        name: `${phase}, ${label}: every queue received every post exactly once, with increasing ids`,
        ok: counts.every((count) => count === 0),
        detail: `${counts[0]} posts incomplete, ${counts[1]} duplicate events, ${counts[2]} ids that did not increase`,
      },
    ];
  });
}
