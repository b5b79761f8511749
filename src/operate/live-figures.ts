/**
 * The figures of the operator's page (docs/metrics.md, The live page): values with the last hour of each, and metrics
 * as they are now. Everything is of this process.
 */

import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { limits } from "../../schemas/limits.ts";
import { programVersion } from "../../schemas/server.ts";
import { askSystem, type Histogram } from "../metrics/instruments.ts";
import { deliveryOutcomes } from "../metrics/meters.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Family } from "./admin/exposition.ts";
import { type Figure, History } from "./admin/history.ts";
import type { LiveSource } from "./admin/page-routes.ts";
import { ProcessWatch } from "./admin/process-watch.ts";
import { type MetricSources, metricFamilies } from "./metric-families.ts";

type Read = Figure["read"];

/** Metrics that cost little to read. */
const currentMetrics = [
  "colloquy_requests_pending",
  "colloquy_failed_logins_total",
  "colloquy_sockets",
  "colloquy_sockets_closed_total",
  "colloquy_event_queues",
  "colloquy_unsent_bytes",
  "colloquy_mail_deliveries_total",
  "colloquy_webhook_deliveries_total",
  "colloquy_commands_waiting",
  "colloquy_journal_unflushed_bytes",
  "colloquy_checkpoint_lag_bytes",
  "colloquy_writes_accepted",
  "colloquy_disk_bytes",
  "colloquy_backup_last_success_timestamp_seconds",
  "colloquy_memory_bytes",
] as const;

/** Metrics that look at every open organization: asked for less often. */
const organizationMetrics = [
  "colloquy_realms",
  "colloquy_realm_messages",
  "colloquy_realm_users",
  "colloquy_realm_store_bytes",
  "colloquy_realm_file_bytes",
  "colloquy_realm_event_queues",
  "colloquy_realm_dead_letters",
  "colloquy_dead_letters",
  "colloquy_mailbox_commands",
  "colloquy_timers",
  "colloquy_search_backlog_messages",
] as const;

export interface LiveFiguresOptions {
  readonly sources: MetricSources;
  readonly clock: Pick<Clock, "after" | "monotonic" | "now">;
  /** Why the server does not want traffic; null: it does. */
  readonly unready: () => string | null;
}

export class LiveFigures implements LiveSource {
  readonly #options: LiveFiguresOptions;
  readonly #families: ReadonlyMap<string, Family>;
  readonly #history: History;
  /** One of its own: a reading of /metrics must not take what the page measures. */
  readonly #watch: ProcessWatch;
  #sampledAt: number;

  constructor(options: LiveFiguresOptions) {
    const { sources, clock } = options;
    this.#options = options;
    this.#watch = new ProcessWatch(
      (milliseconds, callback) => clock.after(milliseconds, callback),
      limits.live_watch_ms,
    );
    this.#families = new Map(metricFamilies(sources).map((family) => [family.name, family]));
    this.#history = new History(figuresOf(sources, this.#watch));
    this.#sampledAt = clock.monotonic();
  }

  /** Has no timer of its own, so that an idle server does not wake for it. */
  sampleIfDue(): void {
    const { clock } = this.#options;
    const elapsedMs = clock.monotonic() - this.#sampledAt;
    if (elapsedMs < limits.live_sample_ms) return;
    this.#history.take(clock.now(), elapsedMs / 1000);
    this.#sampledAt += elapsedMs;
  }

  answer(after: number): object {
    const { clock, sources, unready } = this.#options;
    this.#watch.begin();
    const part = this.#history.since(after);
    return {
      version: programVersion,
      node: process.versions.node,
      transport: sources.transport,
      pid: process.pid,
      started_at: sources.startedAt,
      now: clock.now(),
      unready: unready(),
      sample_ms: limits.live_sample_ms,
      samples_max: limits.live_samples_max,
      ...part,
      metrics: Object.fromEntries(currentMetrics.map((name) => [name, this.#read(name)])),
    };
  }

  async organizations(): Promise<object> {
    const metrics: Record<string, Readonly<Record<string, number>>> = {};
    for (const name of organizationMetrics) {
      metrics[name] = this.#read(name);
      await setImmediate();
    }
    return { metrics };
  }

  /** By the value of its label, or "" */
  #read(name: string): Readonly<Record<string, number>> {
    const samples = [...(this.#families.get(name)?.read() ?? [])];
    return Object.fromEntries(samples.map(({ labels, value }) => [Object.values(labels).join(" "), value]));
  }

  end(): void {
    this.#watch.end();
  }
}

/** By second. */
function rate(total: () => number): Read {
  const grown = increase(total);
  return (seconds) => grown(seconds) / seconds;
}

/** Since the last sample. */
function increase(total: () => number): Read {
  let before = total();
  return () => {
    const now = total();
    const grown = now - before;
    before = now;
    return grown;
  };
}

/** The median and the 99th percentile of the durations since the last sample. */
function quantiles(name: string, metric: string, histogram: Histogram): Figure[] {
  return [0.5, 0.99].map((quantile) => {
    let before = histogram.snapshot();
    return {
      name: `${name}_p${quantile * 100}_seconds`,
      metric,
      read() {
        const value = histogram.quantileSince(before, quantile);
        before = histogram.snapshot();
        return value;
      },
    };
  });
}

function figuresOf(sources: MetricSources, watch: ProcessWatch): Figure[] {
  const { meters, requests, requestsPending, sockets, hubs, unsent, host, durability } = sources;
  const figure = (name: string, metric: string, read: Read): Figure => ({ name, metric, read });
  const outcomes = (name: string, metric: string, counter: typeof meters.mails) =>
    deliveryOutcomes.map((outcome) =>
      figure(
        `${name}_${outcome}`,
        metric,
        increase(() => counter.of(outcome)),
      ),
    );
  const memory = "colloquy_memory_bytes";
  return [
    figure(
      "requests_per_second",
      "colloquy_requests_total",
      rate(() => requests.total),
    ),
    figure(
      "failed_requests",
      "colloquy_requests_total",
      increase(() => requests.of(500) + requests.of(503)),
    ),
    figure(
      "posts_per_second",
      "colloquy_requests_total",
      rate(() => requests.of(200, "send-message")),
    ),
    figure(
      "deliveries_per_second",
      "colloquy_events_delivered_total",
      rate(() => meters.events.total),
    ),
    figure("requests_pending", "colloquy_requests_pending", () => requestsPending()),
    figure(
      "failed_logins",
      "colloquy_failed_logins_total",
      increase(() => meters.failedLogins.total),
    ),
    ...quantiles("turn", "colloquy_turn_seconds", meters.turns),
    ...quantiles("flush", "colloquy_flush_seconds", meters.flushes),
    figure("commands_waiting", "colloquy_commands_waiting", () => waitingIn(host)),
    figure("journal_unflushed_bytes", "colloquy_journal_unflushed_bytes", () => durability.lag.unflushedBytes),
    figure("checkpoint_lag_bytes", "colloquy_checkpoint_lag_bytes", () => durability.lag.uncheckpointedBytes),
    figure("cpu_cores", "colloquy_cpu_seconds_total", rate(cpuSeconds)),
    figure("loop_busy_ratio", "colloquy_event_loop_active_seconds_total", rate(activeSeconds)),
    figure("loop_delay_p99_seconds", "colloquy_event_loop_delay_seconds", () => delayOf(watch)),
    figure("memory_rss_bytes", memory, () => askSystem(() => process.memoryUsage.rss(), Number.NaN)),
    figure("sockets", "colloquy_sockets", () => sockets.size),
    figure("event_queues", "colloquy_event_queues", () => queuesIn(hubs)),
    figure("unsent_bytes", "colloquy_unsent_bytes", () => unsent.sum),
    figure(
      "slow_readers_closed",
      "colloquy_sockets_closed_total",
      increase(() => sockets.closed.of("4508")),
    ),
    ...outcomes("mails", "colloquy_mail_deliveries_total", meters.mails),
    ...outcomes("webhooks", "colloquy_webhook_deliveries_total", meters.webhooks),
  ];
}

function waitingIn(host: MetricSources["host"]): number {
  let waiting = 0;
  for (const { dispatcher } of host.openRealms) waiting += dispatcher.queueLength;
  return waiting;
}

function queuesIn(hubs: MetricSources["hubs"]): number {
  let queues = 0;
  for (const { queueCount } of hubs.all()) queues += queueCount;
  return queues;
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function activeSeconds(): number {
  return performance.eventLoopUtilization().active / 1000;
}

/** NaN: the page was not open in the last minute, so it was not measured. */
function delayOf(watch: ProcessWatch): number {
  return watch.takeDelays().find(({ labels }) => labels["quantile"] === 0.99)?.value ?? Number.NaN;
}
