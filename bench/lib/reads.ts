// Measures reads: each operation at full speed over N connections, and the first also at a fixed rate. The baseline
// sends the real server's bytes (bench/baselines/answer.ts), so the difference is routing, authentication, permissions,
// lookup and encoding.

import type { Api } from "./api.ts";
import { httpPair } from "./http-pair.ts";
import { buildRequest } from "./http-request.ts";
import type { Cycle } from "./job.ts";
import {
  bottleneckNotes,
  disturbanceNotes,
  failureChecks,
  latencyMeasures,
  latencySeries,
  programNotes,
  sameSizeCheck,
  throughputMeasures,
  throughputSeries,
} from "./measures.ts";
import type { Outcome } from "./result.ts";
import { type Context, openAnswersBaseline } from "./scenario.ts";
import type { Server } from "./target.ts";

/** One read operation: its query is part of the request, its path selects the baseline's response. */
export interface ReadOperation {
  readonly key: string;
  readonly title: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

interface Reads {
  readonly context: Context;
  readonly server: Server;
  readonly api: Api;
}

export async function measureReads(reads: Reads, operations: readonly ReadOperation[]): Promise<Outcome> {
  const { settings } = reads.context;
  const parts: Outcome[] = [];
  for (const [index, operation] of operations.entries()) {
    const phase = await openPhase(reads, operation);
    const { key, title } = operation;
    const pair = await phase(null);
    parts.push({
      measures: throughputMeasures({ prefix: key, noun: "answer", title }, pair, (r) => r.perSecond),
      series: [throughputSeries(`${title}, per second`, pair, (r) => r.perSecond)],
      checks: [...failureChecks(title, pair), ...sameSizeCheck(title, pair, 0)],
      notes: [...programNotes(title, pair), ...bottleneckNotes(title, pair)],
    });
    if (index > 0) continue;
    const pacedTitle = `${title} at ${settings.ratePerSecond}/s`;
    const paced = await phase(settings.ratePerSecond);
    parts.push({
      measures: latencyMeasures(
        { prefix: `${key}_paced`, title: pacedTitle, perSecond: (r) => r.perSecond },
        paced,
        (r) => r.latency,
      ),
      series: [latencySeries(`${pacedTitle}, open loop`, paced, (r) => r.latency)],
      checks: failureChecks(pacedTitle, paced),
      notes: [...programNotes(pacedTitle, paced), ...disturbanceNotes(pacedTitle, paced)],
    });
  }
  return {
    measures: parts.flatMap((part) => part.measures),
    series: parts.flatMap((part) => part.series),
    checks: parts.flatMap((part) => part.checks),
    notes: parts.flatMap((part) => part.notes),
  };
}

/**
 * Each operation has its own baseline: baselines select responses by path, and several operations may have the same
 * path.
 */
async function openPhase({ context, server, api }: Reads, operation: ReadOperation) {
  const answers = { [`GET /api/v1${operation.path}`]: await api.call("GET", operation.path, operation.query) };
  const baseline = await openAnswersBaseline(context, answers);
  const cycles = [cycleOf(operation, server, api.authorization)];
  return (ratePerSecond: number | null) =>
    httpPair(context, { label: operation.title, server, baseline, cycles, ratePerSecond });
}

function cycleOf(operation: ReadOperation, server: Server, authorization: string): Cycle {
  const query = new URLSearchParams(operation.query).toString();
  const path = `/api/v1${operation.path}${query === "" ? "" : `?${query}`}`;
  const host = `${server.address.host}:${server.address.port}`;
  return [buildRequest({ method: "GET", path, authorization, host })];
}
