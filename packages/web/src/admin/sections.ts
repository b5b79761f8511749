/** What the page shows, in one table: tiles with the last hour of a figure, and facts without. docs/metrics.md explains them. */
import { age, bytes, dateOf, shown, type Unit } from "./format.ts";
import { metric, type Series, series, serverNow } from "./live.ts";

export interface Tile {
  readonly label: string;
  readonly unit: Unit;
  /** By name of the figure, with the words for it. */
  readonly lines: Readonly<Record<string, string>>;
  /** The sum of the hour instead of the newest value. */
  readonly isSum?: boolean;
  readonly isAlarming?: (value: number) => boolean;
}

export interface Fact {
  readonly label: string;
  readonly text: () => string;
}

export interface Section {
  readonly title: string;
  readonly tiles: readonly Tile[];
  readonly facts: readonly Fact[];
}

function count(label: string, name: string, value = ""): Fact {
  return { label, text: () => shown(metric(name, value), "count") };
}

const percentiles = (name: string) => ({ [`${name}_p50_seconds`]: "median", [`${name}_p99_seconds`]: "99 %" });

const outcomes = (name: string) => ({
  [`${name}_delivered`]: "delivered",
  [`${name}_retried`]: "retried",
  [`${name}_dead`]: "dead",
});

export const sections: readonly Section[] = [
  {
    title: "Traffic",
    tiles: [
      { label: "Requests", unit: "perSecond", lines: { requests_per_second: "now" } },
      { label: "Posts", unit: "perSecond", lines: { posts_per_second: "now" } },
      { label: "Deliveries of events", unit: "perSecond", lines: { deliveries_per_second: "now" } },
      {
        label: "Answers 500 and 503",
        unit: "count",
        lines: { failed_requests: "in the hour" },
        isSum: true,
        isAlarming: (value) => value > 0,
      },
    ],
    facts: [
      count("Requests not answered yet, held polls included", "colloquy_requests_pending"),
      {
        label: "Failed logins in the hour",
        text: () => shown(sum(series("failed_logins")), "count"),
      },
    ],
  },
  {
    title: "Writes",
    tiles: [
      { label: "Turn", unit: "seconds", lines: percentiles("turn") },
      { label: "Flush", unit: "seconds", lines: percentiles("flush") },
      { label: "Commands waiting", unit: "count", lines: { commands_waiting: "now" } },
      { label: "Journal not flushed", unit: "bytes", lines: { journal_unflushed_bytes: "now" } },
      { label: "Checkpoint lag", unit: "bytes", lines: { checkpoint_lag_bytes: "now" } },
    ],
    facts: [
      count("Commands in mailboxes", "colloquy_mailbox_commands"),
      count("Durable timers", "colloquy_timers"),
      count("Messages that the search index lacks", "colloquy_search_backlog_messages"),
    ],
  },
  {
    title: "Readers",
    tiles: [
      { label: "WebSockets", unit: "count", lines: { sockets: "now" } },
      { label: "Event queues", unit: "count", lines: { event_queues: "now" } },
      { label: "Bytes not read yet", unit: "bytes", lines: { unsent_bytes: "now" } },
      {
        label: "Slow readers closed",
        unit: "count",
        lines: { slow_readers_closed: "in the hour" },
        isSum: true,
        isAlarming: (value) => value > 0,
      },
    ],
    facts: [],
  },
  {
    title: "Emails and webhooks",
    tiles: [
      { label: "Emails", unit: "count", lines: outcomes("mails"), isSum: true },
      { label: "Outgoing webhooks", unit: "count", lines: outcomes("webhooks"), isSum: true },
    ],
    facts: [
      { label: "Emails since the start", text: () => outcomesOf("colloquy_mail_deliveries_total") },
      { label: "Webhooks since the start", text: () => outcomesOf("colloquy_webhook_deliveries_total") },
    ],
  },
  {
    title: "Process and disk",
    tiles: [
      { label: "CPU", unit: "ratio", lines: { cpu_cores: "of one core" } },
      {
        label: "Event loop busy",
        unit: "ratio",
        lines: { loop_busy_ratio: "now" },
        isAlarming: (value) => value > 0.9,
      },
      {
        label: "Event loop delay",
        unit: "seconds",
        lines: { loop_delay_p99_seconds: "99 %" },
        isAlarming: (value) => value > 0.1,
      },
      { label: "Memory", unit: "bytes", lines: { memory_rss_bytes: "resident" } },
    ],
    facts: [
      { label: "JavaScript heap", text: () => shown(metric("colloquy_memory_bytes", "heap_used"), "bytes") },
      { label: "Disk", text: diskText },
      { label: "Last backup", text: backupText },
    ],
  },
];

export function sum(values: Series): number | null {
  if (values.length === 0) return null;
  return values.reduce<number>((total, value) => total + (value ?? 0), 0);
}

function outcomesOf(name: string): string {
  const part = (outcome: string) => `${shown(metric(name, outcome), "count")} ${outcome}`;
  return [part("delivered"), part("retried"), part("dead")].join(" · ");
}

function diskText(): string {
  const [free, total] = [metric("colloquy_disk_bytes", "free"), metric("colloquy_disk_bytes", "total")];
  return free === undefined || total === undefined ? "–" : `${bytes(free)} free of ${bytes(total)}`;
}

function backupText(): string {
  const at = metric("colloquy_backup_last_success_timestamp_seconds");
  if (at === undefined) return "–";
  return at === 0 ? "none yet" : `${age(serverNow() - at * 1000)} ago (${dateOf(at * 1000)})`;
}

/** What an operator should look at now; docs/metrics.md has the same list. */
export function worries(unready: string | null): string[] {
  const [free = 1, total = 1] = [metric("colloquy_disk_bytes", "free"), metric("colloquy_disk_bytes", "total")];
  const found: readonly (readonly [boolean, string])[] = [
    [unready !== null, unready ?? ""],
    [free / total < 0.05, `The disk is nearly full: ${bytes(free)} are free.`],
    [(metric("colloquy_dead_letters") ?? 0) > 0, "Dead letters wait for a decision: see below."],
    [(sum(series("slow_readers_closed")) ?? 0) > 0, "Slow readers were disconnected in the last hour."],
    [(sum(series("failed_requests")) ?? 0) > 0, "Requests were answered 500 or 503 in the last hour: see the log."],
    [
      (series("loop_delay_p99_seconds").at(-1) ?? 0) > 0.1,
      "The event loop is late: requests wait for more than 100 ms.",
    ],
  ];
  return found.filter(([isTrue]) => isTrue).map(([, text]) => text);
}
