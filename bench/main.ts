// `npm run bench`: all scenarios, small. `npm run bench -- <scenario> [options]`: one scenario, in full. Without --url
// a server is built and started on an empty directory; with --url any server with the same API is measured. See
// bench/README.md. Exit code 0: done; 1: a scenario or one of its checks failed; 2: wrong command line.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { stopChildren } from "./lib/child.ts";
import { CLUSTER_NODES_MAX, clusterObstacle } from "./lib/cluster.ts";
import { formatHtml } from "./lib/html-report.ts";
import { CONNECTIONS_MAX, DURATION_SECONDS_MAX, RATE_PER_SECOND_MAX, RUNS_MAX } from "./lib/limits.ts";
import { describeMachine } from "./lib/machine.ts";
import { readOpenFilesMax } from "./lib/process-usage.ts";
import { startProgress } from "./lib/progress.ts";
import type { Report, ScenarioResult, Settings } from "./lib/result.ts";
import { type ForeignServer, runScenario } from "./lib/runner.ts";
import type { Scenario, Size } from "./lib/scenario.ts";
import { PEER_NAMES, type PeerName } from "./lib/target.ts";
import { formatText } from "./lib/text-report.ts";
import { openWorkspace, PROJECT_ROOT } from "./lib/workspace.ts";
import { readZuliprc } from "./lib/zuliprc.ts";
import { peerKinds } from "./peers/all.ts";
import { scenarios } from "./scenarios/all.ts";

const EXIT = { failed: 1, usage: 2, interrupted: 130 } as const;
const ALL_PEERS = "all";
const SEED_DEFAULT = 20_261_121;
/** Files that a generator or a server has open in addition to its sockets. */
const OPEN_FILES_SPARE = 200;

interface Flags {
  readonly url?: URL;
  readonly zuliprc?: string;
  readonly pid?: number;
  readonly connections?: number;
  readonly rate?: number;
  readonly duration?: number;
  readonly runs?: number;
  readonly size?: Size;
  readonly seed: number;
  readonly peer: readonly PeerName[];
  readonly cluster?: number;
  readonly json?: string;
  readonly html?: string;
}

const command = new Command("bench")
  .description("Load-tests a server, this one or any other with the same API, and the baseline of each scenario.")
  .argument("[scenario]", `one of ${scenarios.map(({ name }) => name).join(", ")}; default: all of them, small`)
  .option("--url <url>", "a running server (http only); by default one is started", parseUrl)
  .option("--zuliprc <file>", "credentials of an owner or administrator of that server")
  .option("--pid <pid>", "its process id, if it runs on this machine, to measure CPU and memory", numberUpTo(2 ** 22))
  .option("--connections <n>", "connections, receivers or sockets", numberUpTo(CONNECTIONS_MAX))
  .option("--rate <n>", "arrivals per second where a fixed rate is measured", numberUpTo(RATE_PER_SECOND_MAX))
  .option("--duration <s>", "measured seconds of each run", numberUpTo(DURATION_SECONDS_MAX, { whole: false }))
  .option("--runs <n>", "runs of each phase and server", numberUpTo(RUNS_MAX))
  .addOption(new Option("--size <size>", "defaults for all options above").choices(["tiny", "small", "full"]))
  .option("--cluster <nodes>", "measure a cluster against our server alone", numberUpTo(CLUSTER_NODES_MAX))
  .option("--seed <n>", "seed of all random values", numberUpTo(2 ** 32 - 1), SEED_DEFAULT)
  .addOption(
    new Option("--peer <name>", `a peer to measure as well: ${PEER_NAMES.join(", ")} or ${ALL_PEERS}; may be repeated`)
      .argParser(addPeer)
      .default([]),
  )
  .option("--json <file>", "write the result as JSON")
  .option("--html <file>", "write the result as an HTML page with plots")
  .exitOverride();

await main();

async function main(): Promise<void> {
  try {
    command.parse();
    const flags = command.opts<Flags>();
    const chosen = chooseScenarios(command.args[0], flags);
    process.exitCode = await run(chosen, flags);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage;
      return;
    }
    process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = EXIT.failed;
  }
}

/** Runs the chosen scenarios, prints and writes the report. @returns the exit code */
async function run(chosen: readonly Scenario[], flags: Flags): Promise<number> {
  const size = flags.size ?? (command.args[0] === undefined ? "small" : "full");
  const workspace = openWorkspace();
  const progress = startProgress(process.stdout);
  const interrupt = (): void => {
    progress.stop();
    void stopChildren().finally(() => {
      workspace.remove();
      process.exit(EXIT.interrupted);
    });
  };
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  try {
    const machine = describeMachine(workspace.folder);
    const revision = readRevision();
    const server = foreignServerOf(flags);
    const results: ScenarioResult[] = [];
    const peers = flags.peer.map((name) => peerKinds[name]);
    const cluster = flags.cluster ?? null;
    for (const scenario of chosen) {
      const overrides = overridesOf(flags);
      checkOpenFiles({ ...scenario.sizes[size], ...overrides });
      results.push(
        await runScenario(scenario, { size, overrides, seed: flags.seed, server, workspace, progress, peers, cluster }),
      );
    }
    progress.stop();
    const report: Report = {
      format: 1,
      date: new Date().toISOString(),
      command: `npm run bench -- ${process.argv.slice(2).join(" ")}`.replace(/ -- $/, ""),
      server: server?.url.origin ?? `revision ${revision}, started for each scenario`,
      seed: flags.seed,
      machine,
      scenarios: results,
    };
    writeReport(report, flags);
    return results.every((result) => result.checks.every((check) => check.ok)) ? 0 : EXIT.failed;
  } finally {
    progress.stop();
    workspace.remove();
  }
}

/**
 * Short commit id of the measured project, with "+changes" when the work tree differs from it; "unknown" outside a git
 * checkout.
 */
function readRevision(): string {
  const git = (...parts: string[]): string =>
    execFileSync("git", parts, { cwd: PROJECT_ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    const changes = git(
      "status",
      "--porcelain",
      "--",
      "src",
      "actors",
      "domain",
      "schemas",
      "bench",
      "package-lock.json",
    );
    return `${git("rev-parse", "--short", "HEAD")}${changes === "" ? "" : "+changes"}`;
  } catch {
    return "unknown";
  }
}

function writeReport(report: Report, flags: Flags): void {
  process.stdout.write(`${formatText(report)}\n`);
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(report, null, 2)}\n`);
  if (flags.html !== undefined) writeFileSync(flags.html, formatHtml(report));
}

function chooseScenarios(name: string | undefined, flags: Flags): readonly Scenario[] {
  if (
    flags.peer.length > 0 &&
    !scenarios.some(({ name: one, supportsPeers }) => supportsPeers && (one === name || !name))
  ) {
    const names = scenarios.filter(({ supportsPeers }) => supportsPeers).map((scenario) => scenario.name);
    command.error(`bench: ${name} cannot run with peers; those that can are ${names.join(", ")}`);
  }
  requireClusterScenario(name, flags);
  const ofKind = scenarios.filter(({ supportsCluster }) =>
    flags.cluster === undefined ? supportsCluster !== "only" : supportsCluster !== undefined,
  );
  const possible = flags.url === undefined ? ofKind : ofKind.filter((scenario) => scenario.supportsUrl);
  for (const skipped of ofKind.filter((scenario) => !possible.includes(scenario))) {
    if (name === undefined || name === skipped.name) {
      process.stderr.write(`bench: ${skipped.name} starts the server itself and is skipped with --url\n`);
    }
  }
  const runnable = possible.filter(({ name: one, missing }) => {
    const line = missing?.() ?? null;
    if (line !== null && (name === undefined || name === one)) {
      process.stderr.write(`bench: ${one} is skipped: ${line}\n`);
    }
    return line === null;
  });
  if (name === undefined) return runnable;
  if (!scenarios.some((scenario) => scenario.name === name)) {
    command.error(
      `bench: unknown scenario ${name}; known are ${scenarios.map((scenario) => scenario.name).join(", ")}`,
    );
  }
  return runnable.filter((scenario) => scenario.name === name);
}

/** Ends with a line that says why there can be no such run. */
function requireClusterScenario(name: string | undefined, { cluster, url, peer }: Flags): void {
  const known = scenarios.find((scenario) => scenario.name === name);
  if (cluster === undefined) {
    if (known?.supportsCluster === "only") command.error(`bench: ${name} needs --cluster, such as --cluster 3`);
    return;
  }
  if (url !== undefined || peer.length > 0) command.error("bench: --cluster starts servers: without --url and --peer");
  if (known !== undefined && known.supportsCluster === undefined) {
    const names = scenarios.filter(({ supportsCluster }) => supportsCluster).map((scenario) => scenario.name);
    command.error(`bench: ${name} cannot run with --cluster; those that can are ${names.join(", ")}`);
  }
  const obstacle = clusterObstacle();
  if (obstacle !== null) command.error(`bench: --cluster is not possible: ${obstacle}`);
}

function foreignServerOf(flags: Flags): ForeignServer | null {
  if (flags.url === undefined) return null;
  if (flags.zuliprc === undefined) command.error("bench: --url needs --zuliprc, the file with the account's key");
  return { url: flags.url, credentials: readZuliprc(flags.zuliprc ?? ""), pid: flags.pid ?? null };
}

function overridesOf(flags: Flags): Partial<Settings> {
  return {
    ...(flags.connections === undefined ? {} : { connections: flags.connections }),
    ...(flags.rate === undefined ? {} : { ratePerSecond: flags.rate }),
    ...(flags.duration === undefined ? {} : { durationSeconds: flags.duration }),
    ...(flags.runs === undefined ? {} : { runs: flags.runs }),
  };
}

/** Fails before anything is started, instead of with EMFILE in the middle of a run. */
function checkOpenFiles(settings: Settings): void {
  const max = readOpenFilesMax();
  const wanted = settings.connections + settings.receivers + OPEN_FILES_SPARE;
  if (max !== null && wanted > max) {
    command.error(
      `bench: ${settings.connections} connections need about ${wanted} open files, the limit is ${max} (ulimit -n)`,
    );
  }
}

/** Each name once, in the given order. */
function addPeer(text: string, before: readonly PeerName[]): readonly PeerName[] {
  const added = text === ALL_PEERS ? PEER_NAMES : PEER_NAMES.filter((name) => name === text);
  if (added.length === 0) throw new InvalidArgumentError(`Known peers are ${PEER_NAMES.join(", ")}, and ${ALL_PEERS}.`);
  return [...new Set([...before, ...added])];
}

function numberUpTo(max: number, { whole = true }: { readonly whole?: boolean } = {}): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!(value > 0 && value <= max) || (whole && !Number.isInteger(value))) {
      throw new InvalidArgumentError(`It must be a ${whole ? "whole " : ""}number above 0 and at most ${max}.`);
    }
    return value;
  };
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== "http:") throw new InvalidArgumentError("It must be an http:// address.");
  return url;
}
