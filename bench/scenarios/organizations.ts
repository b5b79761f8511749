// `organizations`: as many organizations with one poster each as there are connections, against one organization with
// as many posters, on another server. They share a process and a disk, so their posts should share flushes as well.

import { Api } from "../lib/api.ts";
import { httpPair } from "../lib/http-pair.ts";
import { basicAuthorization, buildRequest } from "../lib/http-request.ts";
import type { Cycle, HttpLoadResult } from "../lib/job.ts";
import {
  failureChecks,
  latencyMeasures,
  latencySeries,
  throughputMeasures,
  throughputSeries,
} from "../lib/measures.ts";
import { createOrganizations, GENERAL, hostOf, OWNER } from "../lib/organization.ts";
import type { Outcome } from "../lib/result.ts";
import type { Context, Scenario } from "../lib/scenario.ts";
import type { Target } from "../lib/target.ts";
import { texts } from "../lib/texts.ts";
import { checksOfBoth, inTwoPhases, notesOfBoth, type TwoPhases } from "../lib/two-phases.ts";

/** Throughput of many organizations, compared with one, and CPU of a post. */
const RATIO_TARGET = 0.8;
const CPU_RATIO_TARGET = 1.25;

export const organizations: Scenario = {
  name: "organizations",
  summary: "POST /messages to N organizations with one poster each, against one organization with N posters",
  baseline: "ours",
  supportsUrl: false,
  sizes: {
    tiny: { ...common(4, 50), durationSeconds: 0.3, warmupSeconds: 0.1, runs: 1 },
    small: { ...common(24, 200), durationSeconds: 2, warmupSeconds: 1, runs: 2 },
    full: { ...common(24, 500), durationSeconds: 10, warmupSeconds: 2, runs: 5 },
  },
  run,
};

function common(connections: number, ratePerSecond: number) {
  return { connections, ratePerSecond, users: 0, receivers: 0 };
}

async function run(context: Context): Promise<Outcome> {
  const { settings, seed } = context;
  const count = settings.connections;
  let keys: readonly string[] = [];
  const many = await context.openServer(async (folder) => {
    keys = await createOrganizations(folder, count);
  });
  const one = await context.openServer();
  const posters = await new Api(one, one.credentials).createUsers(count, "poster");
  const cycles = {
    many: keys.map((key, index) =>
      postOf({ host: hostOf(index), authorization: basicAuthorization(OWNER.email, key), index, seed }),
    ),
    one: posters.map(({ authorization }, index) => postOf({ host: hostOf(0), authorization, index, seed })),
  };
  const baseline: Target = { ...one, label: "baseline" };
  const phases = await inTwoPhases(settings.ratePerSecond, (label, ratePerSecond) =>
    httpPair(context, {
      label: `organizations: ${label}`,
      server: many,
      baseline,
      cycles: ({ label: side }) => (side === "baseline" ? cycles.one : cycles.many),
      ratePerSecond,
    }),
  );
  return outcomeOf(context, phases);
}

/** One of several texts, to the channel that everybody is a subscriber of. */
function postOf(options: { host: string; authorization: string; index: number; seed: number }): Cycle {
  const { host, authorization, index, seed } = options;
  const all = texts(seed);
  const form = { type: "channel", to: String(GENERAL), ...all[index % all.length] };
  return [buildRequest({ method: "POST", path: "/api/v1/messages", authorization, form, host })];
}

function outcomeOf({ settings }: Context, phases: TwoPhases<HttpLoadResult>): Outcome {
  const { most, paced } = phases;
  const count = settings.connections;
  const rate = `${settings.ratePerSecond}/s`;
  const title = `posts, ${count} organizations with one poster; one with ${count}`;
  return {
    measures: [
      ...throughputMeasures({ prefix: "posts", noun: "post", title }, most, (result) => result.perSecond),
      ...latencyMeasures(
        { prefix: "paced_latency", title: `latency at ${rate}`, perSecond: (result) => result.perSecond },
        paced,
        (result) => result.latency,
      ),
    ],
    series: [
      throughputSeries("posts per second", most, (result) => result.perSecond),
      latencySeries(`latency at ${rate}, open loop`, paced, (result) => result.latency),
    ],
    checks: checksOfBoth(phases, failureChecks),
    notes: [
      ...notesOfBoth(phases),
      `The target is a ratio of at least ${RATIO_TARGET}, and of CPU per post at most ${CPU_RATIO_TARGET}.`,
    ],
  };
}
