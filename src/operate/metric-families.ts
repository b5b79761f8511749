/**
 * Every metric of the server, in one table. docs/metrics.md repeats names, types and labels, and a test compares both.
 * Labels are bounded: operations and statuses are declared, and only the largest organizations have a label.
 */
import { readFileSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { limits } from "../../schemas/limits.ts";
import { serverVersion } from "../../schemas/server.ts";
import type { Lag } from "../durability/journal/durability.ts";
import type { OpenHubs } from "../edge/realtime/open-hubs.ts";
import type { SocketServer } from "../edge/realtime/socket-server.ts";
import { askSystem, by, one, type RequestCounter, type Sample } from "../metrics/instruments.ts";
import type { Meters } from "../metrics/meters.ts";
import type { Realm } from "../runtime/realm.ts";
import type { RealmHost } from "../runtime/realm-host.ts";
import type { UnsentBytes } from "../runtime/unsent-bytes.ts";
import { searchStateIn } from "../store/search-index.ts";
import type { Family } from "./admin/exposition.ts";
import type { ProcessWatch } from "./admin/process-watch.ts";
import { lastBackupName } from "./backup-run.ts";
import { clusterMetrics, type NodeFigures } from "./cluster-metrics.ts";

/** The figures that the parts of the server report. */
export interface MetricSources {
  readonly dataDir: string;
  readonly transport: string;
  readonly startedAt: number;
  readonly meters: Meters;
  readonly requests: RequestCounter;
  readonly requestsPending: () => number;
  readonly host: RealmHost;
  readonly hubs: OpenHubs;
  readonly sockets: SocketServer;
  readonly unsent: UnsentBytes;
  readonly durability: { readonly lag: Lag };
  readonly acceptsWrites: () => boolean;
  /** Null: the server is no node of a cluster. */
  readonly cluster: (() => NodeFigures) | null;
  readonly watch: ProcessWatch;
}

export function metricFamilies(sources: MetricSources): Family[] {
  return [
    ...serving(sources),
    ...writing(sources),
    ...running(sources),
    ...organizations(sources),
    ...clusterMetrics(sources.cluster),
  ];
}

function serving({ meters, requests, requestsPending, sockets, hubs, unsent }: MetricSources): Family[] {
  return [
    {
      name: "colloquy_requests_total",
      type: "counter",
      help: "Answers to calls over HTTP and WebSocket, by operation and HTTP status.",
      read: () => requests.samples,
    },
    {
      name: "colloquy_requests_pending",
      type: "gauge",
      help: "HTTP requests that are not answered yet, held polls included.",
      read: () => one(requestsPending()),
    },
    {
      name: "colloquy_failed_logins_total",
      type: "counter",
      help: "Wrong API keys and passwords.",
      read: () => meters.failedLogins.samples,
    },
    { name: "colloquy_sockets", type: "gauge", help: "Open WebSockets.", read: () => one(sockets.size) },
    {
      name: "colloquy_sockets_closed_total",
      type: "counter",
      help: "WebSockets that the server closed, by close code; 4508 are slow readers.",
      read: () => sockets.closed.samples,
    },
    {
      name: "colloquy_event_queues",
      type: "gauge",
      help: "Event queues of open organizations.",
      read: () => one(sum([...hubs.all()].map(({ queueCount }) => queueCount))),
    },
    {
      name: "colloquy_events_delivered_total",
      type: "counter",
      help: "Copies of events that were handed to readers.",
      read: () => meters.events.samples,
    },
    {
      name: "colloquy_unsent_bytes",
      type: "gauge",
      help: "Bytes of answers and events that clients have not read yet.",
      read: () => one(unsent.sum),
    },
    {
      name: "colloquy_mail_deliveries_total",
      type: "counter",
      help: "Attempts to deliver an email, by outcome.",
      read: () => meters.mails.samples,
    },
    {
      name: "colloquy_webhook_deliveries_total",
      type: "counter",
      help: "Attempts to deliver an outgoing webhook, by outcome.",
      read: () => meters.webhooks.samples,
    },
  ];
}

function writing({ meters, host, durability, acceptsWrites, dataDir }: MetricSources): Family[] {
  return [
    {
      name: "colloquy_turn_seconds",
      type: "histogram",
      help: "Time that a turn held the event loop.",
      read: () => meters.turns.samples,
    },
    {
      name: "colloquy_flush_seconds",
      type: "histogram",
      help: "Time from a record in the journal until it was durable, for the oldest record of each flush.",
      read: () => meters.flushes.samples,
    },
    {
      name: "colloquy_commands_waiting",
      type: "gauge",
      help: "Commands that wait for a turn.",
      read: () => one(sum([...host.openRealms].map(({ dispatcher }) => dispatcher.queueLength))),
    },
    {
      name: "colloquy_journal_unflushed_bytes",
      type: "gauge",
      help: "Bytes of turns that are not durable yet.",
      read: () => one(durability.lag.unflushedBytes),
    },
    {
      name: "colloquy_checkpoint_lag_bytes",
      type: "gauge",
      help: "Bytes of durable turns that the stores do not have yet.",
      read: () => one(durability.lag.uncheckpointedBytes),
    },
    {
      name: "colloquy_writes_accepted",
      type: "gauge",
      help: "1 while changes are accepted, 0 while the disk is nearly full or over the quota.",
      read: () => one(acceptsWrites() ? 1 : 0),
    },
    {
      name: "colloquy_disk_bytes",
      type: "gauge",
      help: "Size of the disk of DATA_DIR, and its free space.",
      read: () => diskSamples(dataDir),
    },
    {
      name: "colloquy_backup_last_success_timestamp_seconds",
      type: "gauge",
      help: "Unix time of the last backup that succeeded, by schedule or on the command line; 0 if there was none.",
      read: () => one(lastBackupAt(dataDir)),
    },
  ];
}

/** 0: never, or the note of it is lost. */
function lastBackupAt(dataDir: string): number {
  try {
    const { at } = JSON.parse(readFileSync(join(dataDir, lastBackupName), "utf8")) as { readonly at?: unknown };
    return typeof at === "number" ? at / 1000 : 0;
  } catch {
    return 0;
  }
}

function diskSamples(dataDir: string): Sample[] {
  const { blocks, bavail, bsize } = statfsSync(dataDir);
  return by("kind", { total: blocks * bsize, free: bavail * bsize });
}

function running({ transport, startedAt, watch }: MetricSources): Family[] {
  return [
    {
      name: "colloquy_build_info",
      type: "gauge",
      help: "Always 1; its labels say what runs.",
      read: () => [{ labels: { version: serverVersion, node: process.versions.node, transport }, value: 1 }],
    },
    {
      name: "colloquy_start_time_seconds",
      type: "gauge",
      help: "Unix time of the start.",
      read: () => one(startedAt / 1000),
    },
    {
      name: "colloquy_cpu_seconds_total",
      type: "counter",
      help: "CPU time of the process with all its threads.",
      read: cpuSamples,
    },
    { name: "colloquy_memory_bytes", type: "gauge", help: "Memory of the process.", read: memorySamples },
    {
      name: "colloquy_event_loop_active_seconds_total",
      type: "counter",
      help: "Time that the event loop was busy.",
      read: () => one(performance.eventLoopUtilization().active / 1000),
    },
    {
      name: "colloquy_event_loop_delay_seconds",
      type: "gauge",
      help: "How late timers were since the last reading; measured while somebody reads.",
      read: () => watch.takeDelays(),
    },
    {
      name: "colloquy_gc_total",
      type: "counter",
      help: "Garbage collections; counted while somebody reads.",
      read: () => one(watch.collections),
    },
    {
      name: "colloquy_gc_seconds_total",
      type: "counter",
      help: "Time of garbage collections; measured while somebody reads.",
      read: () => one(watch.collectionSeconds),
    },
  ];
}

function cpuSamples(): Sample[] {
  const { user, system } = process.cpuUsage();
  return by("mode", { user: user / 1e6, system: system / 1e6 });
}

function memorySamples(): Sample[] {
  const usage = askSystem(() => process.memoryUsage(), null);
  if (usage === null) return [];
  const { rss, heapUsed, heapTotal, external, arrayBuffers } = usage;
  return by("kind", { rss, heap_used: heapUsed, heap_total: heapTotal, external, array_buffers: arrayBuffers });
}

function organizations({ host, hubs }: MetricSources): Family[] {
  const family = (name: string, help: string, of: (realm: Realm) => number): Family => ({
    name,
    type: "gauge",
    help: `${help}, by organization; (other) has all but the ${limits.metrics_realms_max} with the most messages. Closed ones are not read.`,
    read: () => sizeSamples(host, of),
  });
  return [
    {
      name: "colloquy_realms",
      type: "gauge",
      help: "Organizations: all, and those that are open.",
      read: () => by("state", { all: host.all.length, open: [...host.openRealms].length }),
    },
    family("colloquy_realm_messages", "Messages that were ever sent", messagesOf),
    family("colloquy_realm_users", "Accounts", ({ view }) => view.users.size),
    family("colloquy_realm_store_bytes", "Size of the store", storeBytesOf),
    family("colloquy_realm_file_bytes", "Size of the uploaded files", ({ files }) => files.bytes),
    family("colloquy_realm_event_queues", "Event queues", (realm) => hubs.get(realm).queueCount),
    family("colloquy_realm_dead_letters", "Commands, emails and webhooks that failed too often", rowsOf("deadLetters")),
    inAll("colloquy_dead_letters", "Commands, emails and webhooks that failed too often", host, rowsOf("deadLetters")),
    inAll("colloquy_mailbox_commands", "Accepted commands that later turns continue", host, rowsOf("mailbox")),
    inAll("colloquy_timers", "Durable timers", host, rowsOf("timers")),
    {
      name: "colloquy_search_backlog_messages",
      type: "gauge",
      help: "Messages of open organizations that the search index does not have yet; searches read them one by one.",
      read: () => one(sum([...host.openRealms].map(backlogOf))),
    },
  ];
}

/** A sum over the open organizations. */
function inAll(name: string, what: string, host: RealmHost, of: (realm: Realm) => number): Family {
  const help = `${what}, in open organizations.`;
  return { name, type: "gauge", help, read: () => one(sum([...host.openRealms].map(of))) };
}

function rowsOf(table: "deadLetters" | "mailbox" | "timers"): (realm: Realm) => number {
  return ({ lmdb }) => lmdb.count(table);
}

function messagesOf({ view }: Realm): number {
  return view.counter("message");
}

function storeBytesOf({ lmdb }: Realm): number {
  return statSync(lmdb.file, { throwIfNoEntry: false })?.size ?? 0;
}

function backlogOf({ view }: Realm): number {
  return view.counter("message") - searchStateIn(view).messagesUpTo;
}

/** By organization, the same ones in each metric, and the sum of all others. A label has no parentheses, so "(other)" is none. */
function sizeSamples(host: RealmHost, of: (realm: Realm) => number): Sample[] {
  const open = host.all.flatMap(({ entry, realm }) => (realm === null ? [] : [{ label: entry.label, realm }]));
  const ranked = open.toSorted((a, b) => messagesOf(b.realm) - messagesOf(a.realm));
  const rest = ranked.splice(limits.metrics_realms_max);
  const samples = ranked.map(({ label, realm }) => ({ labels: { realm: label }, value: of(realm) }));
  if (rest.length === 0) return samples;
  return [...samples, { labels: { realm: "(other)" }, value: sum(rest.map(({ realm }) => of(realm))) }];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
