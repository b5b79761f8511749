// `backup`: posts at a fixed rate while backups are made one after the other, each in a process of its own with a low
// priority, as BACKUP_SCHEDULE does; compared with the same posts on the same server while none is made. The store is
// large enough that a backup takes some seconds.

import { rmSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { Api } from "../lib/api.ts";
import { Child } from "../lib/child.ts";
import { filled } from "../lib/filled.ts";
import type { HttpLoadResult } from "../lib/job.ts";
import {
  disturbanceNotes,
  failureChecks,
  latencyMeasures,
  latencySeries,
  measureOf,
  undivided,
} from "../lib/measures.ts";
import { GENERAL } from "../lib/organization.ts";
import type { Check, Outcome } from "../lib/result.ts";
import { type Context, generate, paceOf, runSeconds, type Scenario } from "../lib/scenario.ts";
import type { Server } from "../lib/target.ts";
import { PROJECT_ROOT } from "../lib/workspace.ts";
import { messageCycles } from "./send.ts";

const TARGET_RATIO = 1.3;
const TOPICS = 100;

export const backup: Scenario = {
  name: "backup",
  summary: "posts at a fixed rate beside backups, compared with the same posts without",
  baseline: "ours",
  supportsUrl: false,
  sizes: {
    tiny: { ...common(2, 50), durationSeconds: 0.3, warmupSeconds: 0.1, runs: 1, messages: 500 },
    small: { ...common(16, 500), durationSeconds: 5, warmupSeconds: 1, runs: 2, messages: 20_000 },
    full: { ...common(64, 1_000), durationSeconds: 10, warmupSeconds: 2, runs: 5, messages: 200_000 },
  },
  run,
};

function common(connections: number, ratePerSecond: number) {
  return { connections, ratePerSecond, users: 0, receivers: 0 };
}

async function run(context: Context): Promise<Outcome> {
  const { settings, progress, seed } = context;
  const messages = settings.messages ?? 0;
  const prepare = await filled(context, { messages, topics: TOPICS, areUnread: true, areRowsOnly: true });
  let dataFolder = "";
  const server = await context.openServer((folder) => {
    dataFolder = folder;
    return prepare(folder);
  });
  const { authorization } = new Api(server, server.credentials);
  const cycles = messageCycles({ server, authorization, channelId: GENERAL, seed });
  const post = (): Promise<HttpLoadResult> => postsTo(context, server, cycles);
  const pair = { ours: [] as HttpLoadResult[], baseline: [] as HttpLoadResult[] };
  const backups: Made[] = [];
  const sides = {
    baseline: async () => void pair.baseline.push(await post()),
    ours: async () => {
      const series = new BackupSeries(dataFolder, context.workspace.makeFolder("backups"));
      try {
        pair.ours.push(await post());
      } finally {
        backups.push(...(await series.end()));
      }
    },
  };
  progress.plan(2 * settings.runs * runSeconds(settings));
  for (let index = 0; index < settings.runs; index += 1) {
    for (const side of index % 2 === 0 ? (["baseline", "ours"] as const) : (["ours", "baseline"] as const)) {
      progress.label(`backup: run ${index + 1} of ${settings.runs}, ${side === "ours" ? "beside backups" : "without"}`);
      await sides[side]();
      progress.advance(runSeconds(settings));
    }
  }
  return outcomeOf(context, pair, backups);
}

function postsTo(context: Context, server: Server, cycles: ReturnType<typeof messageCycles>): Promise<HttpLoadResult> {
  const { settings } = context;
  return generate(context, {
    kind: "http-load",
    address: server.address,
    watch: server.watch,
    cycles,
    connections: settings.connections,
    pace: paceOf(settings, settings.ratePerSecond),
  });
}

/** A backup that was made. */
interface Made {
  readonly seconds: number;
  /** Why it failed; null: it is complete. */
  readonly problem: string | null;
}

/** Makes backups one after the other, until it is ended; the last one is finished. */
class BackupSeries {
  readonly #dataFolder: string;
  readonly #target: string;
  readonly #made: Made[] = [];
  readonly #isOver: Promise<void>;
  #isEnding = false;

  constructor(dataFolder: string, target: string) {
    this.#dataFolder = dataFolder;
    this.#target = target;
    this.#isOver = this.#goOn();
  }

  async #goOn(): Promise<void> {
    for (let number = 1; !this.#isEnding || number === 1; number += 1) {
      const folder = join(this.#target, String(number));
      this.#made.push(await makeBackup(this.#dataFolder, folder));
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async end(): Promise<readonly Made[]> {
    this.#isEnding = true;
    await this.#isOver;
    return this.#made;
  }
}

async function makeBackup(dataFolder: string, folder: string): Promise<Made> {
  const startedAt = performance.now();
  const child = new Child({
    arguments: ["colloquy.mjs", "backup", folder],
    environment: { DATA_DIR: dataFolder },
    folder: PROJECT_ROOT,
    channel: false,
  });
  setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const { code } = await child.exited;
  return { seconds: (performance.now() - startedAt) / 1000, problem: code === 0 ? null : child.output };
}

function outcomeOf(
  { settings }: Context,
  pair: { readonly ours: readonly HttpLoadResult[]; readonly baseline: readonly HttpLoadResult[] },
  backups: readonly Made[],
): Outcome {
  const problems = backups.flatMap(({ problem }) => problem ?? []);
  const check: Check = {
    name: "every backup beside the posts is complete",
    ok: backups.length > 0 && problems.length === 0,
    detail: problems[0] ?? `${backups.length} backups`,
  };
  const title = `posts at ${settings.ratePerSecond}/s beside backups; without`;
  // One value per run, as of the other measures: runs have several backups, or a part of one.
  const seconds = backups.reduce((sum, made) => sum + made.seconds, 0) / Math.max(1, backups.length);
  return {
    measures: [
      ...latencyMeasures({ prefix: "posts", title }, pair, ({ latency }) => latency),
      undivided(
        measureOf(
          {
            key: "backup_s",
            title: `a backup of ${settings.messages ?? 0} messages, mean`,
            unit: "s",
            better: "lower",
          },
          { ours: pair.ours.map(() => seconds), baseline: [] },
          (value) => value,
        ),
      ),
    ],
    series: [latencySeries("posts beside backups (ours), without (baseline)", pair, ({ latency }) => latency)],
    checks: [...failureChecks("posts", pair), check],
    notes: [
      `The target is a p99 within ${TARGET_RATIO} times that without backups.`,
      "Each backup is verified, and all pages, rows and files in it are read.",
      ...disturbanceNotes("posts", pair),
    ],
  };
}
