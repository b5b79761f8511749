// `presence`: the ping that every client sends each minute, POST /users/me/presence, from several users. Like current
// clients it requests only what is newer than the last response, so responses are small. Users ping far more often than
// once a minute, so most pings change nothing, as with many devices per user. The server has 10,000 other users with
// presence. The baseline parses the form, keeps the caller's row in memory and sends the same bytes
// (bench/baselines/answer.ts).

import { Api, type User } from "../lib/api.ts";
import { httpPair } from "../lib/http-pair.ts";
import { buildRequest } from "../lib/http-request.ts";
import type { Cycle } from "../lib/job.ts";
import {
  failureChecks,
  latencyMeasures,
  latencySeries,
  sameSizeCheck,
  throughputMeasures,
  throughputSeries,
} from "../lib/measures.ts";
import { populatePresent } from "../lib/populate.ts";
import type { Outcome } from "../lib/result.ts";
import { type Context, openAnswersBaseline, type Scenario } from "../lib/scenario.ts";
import type { Server } from "../lib/target.ts";
import { checksOfBoth, inTwoPhases, notesOfBoth } from "../lib/two-phases.ts";

const PATH = "/users/me/presence";
/** The responses contain times with a varying number of digits. */
const TIMESTAMP_TOLERANCE = 0.1;

export const presence: Scenario = {
  name: "presence",
  summary: "POST /users/me/presence from several users: throughput, latency at a fixed rate",
  baseline: "baselines/answer",
  supportsUrl: true,
  sizes: {
    tiny: {
      connections: 4,
      ratePerSecond: 50,
      durationSeconds: 0.3,
      warmupSeconds: 0.1,
      runs: 1,
      users: 2,
      receivers: 0,
      people: 50,
    },
    small: {
      connections: 32,
      ratePerSecond: 1_000,
      durationSeconds: 2,
      warmupSeconds: 1,
      runs: 2,
      users: 10,
      receivers: 0,
      people: 10_000,
    },
    full: {
      connections: 64,
      ratePerSecond: 4_000,
      durationSeconds: 10,
      warmupSeconds: 2,
      runs: 5,
      users: 50,
      receivers: 0,
      people: 10_000,
    },
  },
  run,
};

async function run(context: Context): Promise<Outcome> {
  const { settings } = context;
  const people = settings.people ?? 0;
  const server = await context.openServer((folder) => populatePresent(folder, people));
  const api = new Api(server, server.credentials);
  const users = await api.createUsers(settings.users, `presence-${Date.now().toString(36)}`);
  const { answer } = await pingAll(api, users);
  const baseline = await openAnswersBaseline(context, { [`POST /api/v1${PATH}`]: answer });
  const phase = (label: string, ratePerSecond: number | null) =>
    httpPair(context, {
      label: `presence: ${label}`,
      server,
      baseline,
      cycles: async () => {
        // Before every run, including the baseline's, so that all runs start in the same state.
        const { form } = await pingAll(api, users);
        return users.map((user) => pingOf(server, user, form));
      },
      ratePerSecond,
    });
  const phases = await inTwoPhases(settings.ratePerSecond, phase);
  const { most, paced } = phases;
  const rate = `${settings.ratePerSecond}/s`;
  return {
    measures: [
      ...throughputMeasures(
        {
          prefix: "pings",
          noun: "ping",
          title: `pings, ${settings.connections} connections, ${settings.users} of ${people + settings.users} users`,
        },
        most,
        (result) => result.perSecond,
      ),
      ...latencyMeasures(
        { prefix: "paced_latency", title: `latency at ${rate}`, perSecond: (r) => r.perSecond },
        paced,
        (result) => result.latency,
      ),
    ],
    series: [
      throughputSeries("pings per second", most, (result) => result.perSecond),
      latencySeries(`latency at ${rate}, open loop`, paced, (result) => result.latency),
    ],
    checks: [...checksOfBoth(phases, failureChecks), ...sameSizeCheck("throughput", most, TIMESTAMP_TOLERANCE)],
    notes: notesOfBoth(phases),
  };
}

/**
 * Pings like a client: a response contains the update id that the next ping sends. When every user has pinged,
 * responses contain nothing new until the server records the users' presence again (after some 55 s).
 */
async function pingAll(
  api: Api,
  users: readonly User[],
): Promise<{ readonly form: Readonly<Record<string, string>>; readonly answer: string }> {
  const common = { status: "active", ping_only: "false", new_user_input: "true", slim_presence: "true" };
  let updateId = -1;
  for (const { authorization } of users) {
    const text = await api.callAs(authorization, "POST", PATH, { ...common, last_update_id: String(updateId) });
    updateId = (JSON.parse(text) as { readonly presence_last_update_id?: number }).presence_last_update_id ?? updateId;
  }
  const form = { ...common, last_update_id: String(updateId) };
  const [first] = users;
  if (first === undefined) throw new Error("the presence scenario needs a user");
  return { form, answer: await api.callAs(first.authorization, "POST", PATH, form) };
}

function pingOf(server: Server, user: User, form: Readonly<Record<string, string>>): Cycle {
  const host = `${server.address.host}:${server.address.port}`;
  return [buildRequest({ method: "POST", path: `/api/v1${PATH}`, authorization: user.authorization, form, host })];
}
