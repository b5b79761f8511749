// Closed-loop HTTP load by wrk, a generator in C that needs a fraction of Node's CPU per request. Each run is two runs
// of wrk: the warm-up, in which every answer is inspected, and the measured window, in which wrk only counts.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address } from "../lib/http-connection.ts";
import type { Failures, HttpLoadJob, HttpLoadResult, Wrk } from "../lib/job.ts";
import { WRK_OUTPUT_BYTES_MAX, WRK_TIMEOUT_SECONDS } from "../lib/limits.ts";
import { Probe } from "../lib/probe.ts";
import { formatPlan, parseWrkReport, roundRequests, type WrkPlan, type WrkReport } from "../lib/wrk-plan.ts";

/** What wrk is to send, for how long, and what happens around the measured window. */
export interface WrkLoad extends WrkPlan {
  readonly wrk: Wrk;
  readonly address: Address;
  readonly warmupMs: number;
  readonly durationMs: number;
  /** The measured window begins. */
  readonly onOpen: () => void;
  /** It has ended, and lasted so long. */
  readonly onClose: (seconds: number) => void;
}

export interface WrkRuns {
  readonly warmup: WrkReport;
  readonly measured: WrkReport;
  readonly failures: Failures;
}

export async function runWrkLoad(job: HttpLoadJob, wrk: Wrk): Promise<HttpLoadResult> {
  const { address, cycles, connections, pace } = job;
  const probe = new Probe(job.watch);
  const { warmup, measured, failures } = await runWrk({
    ...{ wrk, address, cycles, connections, firstMarker: 0 },
    ...{ warmupMs: pace.warmupMs, durationMs: pace.durationMs },
    onOpen: () => probe.open(),
    onClose: (seconds) => probe.close(seconds),
  });
  return {
    sender: `wrk ${wrk.version}`,
    completed: measured.answered,
    perSecond: measured.answered / measured.seconds,
    latency: measured.latency,
    throughput: [],
    bodyBytes: measured.answered * (warmup.meanBodyBytes ?? 0),
    failures,
    usage: await probe.report(),
  };
}

/** Warm-up and measured window. Their markers differ, so that every post of both is distinct. */
export async function runWrk(load: WrkLoad): Promise<WrkRuns> {
  const { durationMs, warmupMs, firstMarker } = load;
  const warmup = await runOnce(load, { plan: load, durationMs: warmupMs, inspects: true });
  const rounds = Math.ceil(warmup.sent / roundRequests(load));
  const next = { ...load, firstMarker: firstMarker + rounds * roundRequests(load) };
  load.onOpen();
  const measured = await runOnce(load, { plan: next, durationMs, inspects: false });
  load.onClose(measured.seconds);
  return { warmup, measured, failures: addFailures(warmup.failures, measured.failures) };
}

/** wrk counts whole seconds. */
async function runOnce(
  { wrk, address, connections }: WrkLoad,
  run: { readonly plan: WrkPlan; readonly durationMs: number; readonly inspects: boolean },
): Promise<WrkReport> {
  const folder = mkdtempSync(join(tmpdir(), "bench-wrk-"));
  try {
    const plan = join(folder, "plan.lua");
    writeFileSync(plan, formatPlan(run.plan));
    const output = await outputOf("wrk", [
      ...["-t1", `-c${connections}`, `-d${Math.max(1, Math.ceil(run.durationMs / 1000))}s`],
      ...["--timeout", `${WRK_TIMEOUT_SECONDS}s`, "-s", wrk.script, `http://${address.host}:${address.port}`],
      ...["--", plan, ...(run.inspects ? ["check"] : [])],
    ]);
    return parseWrkReport(output);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the program writes to stdout and stderr until it ends. It does not outlive this process. */
function outputOf(program: string, parameters: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, { stdio: ["ignore", "pipe", "pipe"] });
    const kill = (): void => {
      child.kill("SIGKILL");
    };
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output = (output + chunk.toString("utf8")).slice(-WRK_OUTPUT_BYTES_MAX);
      });
    }
    process.once("exit", kill);
    child.once("error", reject);
    child.once("close", () => {
      process.off("exit", kill);
      resolve(output);
    });
  });
}

function addFailures(one: Failures, other: Failures): Failures {
  const statuses = { ...one.statuses };
  for (const [status, count] of Object.entries(other.statuses)) statuses[status] = (statuses[status] ?? 0) + count;
  return {
    statuses,
    firstBody: one.firstBody === "" ? other.firstBody : one.firstBody,
    brokenConnections: one.brokenConnections + other.brokenConnections,
    firstBreak: one.firstBreak === "" ? other.firstBreak : one.firstBreak,
    unanswered: one.unanswered + other.unanswered,
  };
}
