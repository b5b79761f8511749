// `start-killed`: the time from process start to the first 200 of GET /server_settings after kill -9 in the middle of
// posts, on a store of 1,000,000 messages, so that the start applies what the journal has and the store lacks. The
// baseline is a start of the same server after it has stopped in order.

import { setTimeout as wait } from "node:timers/promises";
import { Api } from "../lib/api.ts";
import { filled } from "../lib/filled.ts";
import { basicAuthorization } from "../lib/http-request.ts";
import { measureOf } from "../lib/measures.ts";
import { GENERAL } from "../lib/organization.ts";
import { readCpuSeconds } from "../lib/process-usage.ts";
import { Restartable } from "../lib/restartable.ts";
import type { Outcome, Settings } from "../lib/result.ts";
import type { Context, Scenario } from "../lib/scenario.ts";
import { TimedCalls } from "../lib/timed-calls.ts";

const TARGET_MS = 2_000;
const IDS_AT_ONCE = 1_000;
const post = {
  type: "channel",
  to: String(GENERAL),
  topic: "before the end",
  content: "a message of about two hundred characters ".repeat(5),
} as const;

export const startKilled: Scenario = {
  name: "start-killed",
  summary: "start after kill -9 during posts, on a store of 1,000,000 messages",
  baseline: "ours",
  supportsUrl: false,
  sizes: {
    tiny: { ...common(4, 1), messages: 1_000, durationSeconds: 0.3 },
    small: { ...common(64, 2), messages: 20_000, durationSeconds: 2 },
    full: { ...common(256, 5), messages: 1_000_000, durationSeconds: 10 },
  },
  run,
};

function common(connections: number, runs: number) {
  return { connections, ratePerSecond: 0, warmupSeconds: 0, runs, users: 0, receivers: 0 };
}

interface Start {
  readonly ms: number;
  readonly cpuSeconds: number | null;
  /** Posts that were answered before the end, and those of them that are there after the start. */
  readonly answered: number;
  readonly found: number;
}

const ends = { ours: "kill", baseline: "stop" } as const;

async function run(context: Context): Promise<Outcome> {
  const { settings, progress, workspace, own } = context;
  const { messages = 0 } = settings;
  const copy = await filled(context, { messages, topics: Math.min(1_000, messages), areUnread: true });
  const server = await Restartable.start(workspace, {}, copy);
  const { address, watch } = server;
  own({ label: "ours", address, watch, startMs: null, death: () => server.death, stop: () => server.stop() });
  const pair = { ours: [] as Start[], baseline: [] as Start[] };
  progress.plan(2 * settings.runs * settings.durationSeconds);
  for (let index = 0; index < settings.runs; index += 1) {
    for (const label of index % 2 === 0 ? (["ours", "baseline"] as const) : (["baseline", "ours"] as const)) {
      progress.label(`start-killed: run ${index + 1} of ${settings.runs}, ${ends[label]}`);
      pair[label].push(await startAfter(ends[label], server, settings));
      progress.advance(settings.durationSeconds);
    }
  }
  return {
    measures: [
      measureOf(
        { key: "ready_ms", title: `start to first answer after a kill; after a stop`, unit: "ms", better: "lower" },
        pair,
        ({ ms }) => ms,
      ),
      measureOf({ key: "start_cpu_ms", title: "CPU used by then", unit: "ms", better: "lower" }, pair, (start) =>
        start.cpuSeconds === null ? null : start.cpuSeconds * 1000,
      ),
      measureOf(
        { key: "posts", title: "posts before the end", unit: "", better: "higher" },
        pair,
        (start) => start.answered,
      ),
    ],
    series: [],
    checks: (["ours", "baseline"] as const).map((label) => ({
      name: `after a ${ends[label]}, every answered post is there`,
      ok: pair[label].every(({ answered, found }) => found === answered),
      detail: pair[label].map(({ answered, found }) => `${found} of ${answered}`).join(", "),
    })),
    notes: [`The target is a start within ${TARGET_MS / 1000} s on a store of 1,000,000 messages.`],
  };
}

async function startAfter(end: "kill" | "stop", server: Restartable, settings: Settings): Promise<Start> {
  const { email, key } = server.credentials;
  const posters = Array.from(
    { length: settings.connections },
    () => new TimedCalls(server, basicAuthorization(email, key)),
  );
  const answered: number[] = [];
  let isOver = false;
  const posting = posters.map(async (calls) => {
    while (!isOver) {
      const answer = await calls.call("POST", "/messages", post).catch(() => null);
      if (answer === null) return;
      answered.push((JSON.parse(answer.body.toString("utf8")) as { readonly id: number }).id);
    }
  });
  await wait(settings.durationSeconds * 1000);
  if (end === "kill") await server.kill();
  isOver = true;
  await Promise.all(posting);
  if (end === "stop") await server.end();
  for (const calls of posters) calls.close();
  const from = performance.now();
  server.startAgain();
  await server.onceReady();
  const ms = performance.now() - from;
  const cpuSeconds = readCpuSeconds(server.pid);
  const api = new Api(server, server.credentials);
  return { ms, cpuSeconds, answered: answered.length, found: await countFound(api, answered) };
}

async function countFound(api: Api, ids: readonly number[]): Promise<number> {
  let found = 0;
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    const wanted = JSON.stringify(ids.slice(from, from + IDS_AT_ONCE));
    const { messages } = JSON.parse(await api.call("GET", "/messages", { message_ids: wanted })) as {
      readonly messages: readonly unknown[];
    };
    found += messages.length;
  }
  return found;
}
