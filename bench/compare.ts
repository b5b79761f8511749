// `npm run bench:compare -- <git-rev> [scenario...]`: measures the server of another revision and that of the work
// tree, alternately (base, head, head, base, ...), both with the work tree's kit and each run on a new server. Prints
// base -> head with ranges. Exit code 0: done, whatever differs; 1: a run or one of its checks failed; 2: wrong command
// line.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { Child, stopChildren } from "./lib/child.ts";
import { compare, formatComparison } from "./lib/comparison.ts";
import { RUNS_MAX } from "./lib/limits.ts";
import type { Report } from "./lib/result.ts";
import { PROJECT_ROOT } from "./lib/workspace.ts";
import { openWorktree } from "./lib/worktree.ts";
import { scenarios } from "./scenarios/all.ts";

const EXIT = { failed: 1, usage: 2, interrupted: 130 } as const;
const RUNS_DEFAULT = 4;
const SCENARIO_DEFAULT = "send";

interface Flags {
  readonly runs: number;
  readonly size: string;
  readonly connections?: string;
  readonly rate?: string;
  readonly duration?: string;
}

const command = new Command("bench:compare")
  .description("Measures the server of another revision and that of the work tree, alternately.")
  .argument("<git-rev>", "the base: a commit, branch or tag")
  .argument(
    "[scenario...]",
    `one or more of ${scenarios.map(({ name }) => name).join(", ")}; default: ${SCENARIO_DEFAULT}`,
  )
  .option("--runs <n>", "runs of each revision and scenario", runsOf, RUNS_DEFAULT)
  .addOption(
    new Option("--size <size>", "defaults of each scenario").choices(["tiny", "small", "full"]).default("small"),
  )
  .option("--connections <n>", "as for npm run bench")
  .option("--rate <n>", "as for npm run bench")
  .option("--duration <s>", "as for npm run bench")
  .exitOverride();

try {
  command.parse();
  const [revision = "", ...names] = command.args;
  const unknown = names.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) command.error(`bench:compare: unknown scenario ${unknown}`);
  await run(revision, names.length === 0 ? [SCENARIO_DEFAULT] : names, command.opts<Flags>());
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage;
  } else {
    process.stderr.write(`bench:compare: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = EXIT.failed;
  }
}

async function run(revision: string, names: readonly string[], flags: Flags): Promise<void> {
  const worktree = openWorktree(revision);
  const results = mkdtempSync(join(tmpdir(), "bench-compare-"));
  const cleanUp = (): void => {
    rmSync(results, { recursive: true, force: true });
    worktree.remove();
  };
  const interrupt = (): void => {
    void stopChildren().finally(() => {
      cleanUp();
      process.exit(EXIT.interrupted);
    });
  };
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  const folders = { base: worktree.folder, head: PROJECT_ROOT };
  try {
    for (const name of names) {
      const reports = { base: [] as Report[], head: [] as Report[] };
      for (let index = 0; index < flags.runs; index += 1) {
        for (const side of index % 2 === 0 ? (["base", "head"] as const) : (["head", "base"] as const)) {
          process.stderr.write(`${name}, run ${index + 1} of ${flags.runs}, ${side}\n`);
          reports[side].push(await runOnce(folders[side], name, flags, join(results, `${name}-${side}-${index}.json`)));
        }
      }
      process.stdout.write(`${formatComparison(compare(reports.base, reports.head))}\n`);
    }
    process.stdout.write(
      `base ${worktree.revision}, head the work tree; ${flags.runs} runs each, median [smallest - largest]\n`,
    );
  } finally {
    cleanUp();
  }
}

/** Runs one scenario once with the kit in `folder`. Rejects with its output when it or one of its checks fails. */
async function runOnce(folder: string, name: string, flags: Flags, json: string): Promise<Report> {
  const { size, connections, rate, duration } = flags;
  const given = Object.entries({ size, connections, rate, duration }).filter(([, value]) => value !== undefined);
  const options = given.flatMap(([option, value]) => [`--${option}`, String(value)]);
  const child = new Child({
    arguments: ["--import=tsx", "bench/main.ts", name, "--runs", "1", "--json", json, ...options],
    folder,
    channel: false,
    environment: {},
  });
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`${name} failed in ${folder}:\n${child.output}`);
  return JSON.parse(readFileSync(json, "utf8")) as Report;
}

function runsOf(text: string): number {
  const runs = Number(text);
  if (!Number.isInteger(runs) || runs < 1 || runs > RUNS_MAX) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${RUNS_MAX}.`);
  }
  return runs;
}
