/**
 * Sets a realm's time back after the clock was ahead; the server must not run. Rows dated in the future get the present
 * time. The newest messages keep their order, because they all get the same time. The work is done in slices: after a
 * crash the realm is still ahead, and the command can be repeated.
 */
import { limits } from "../../schemas/limits.ts";
import { type CounterName, datedFields, type KeyOf, type RowOf, type TableName } from "../../schemas/records.ts";
import type { TimerRecord } from "../../schemas/runtime.ts";
import type { Lmdb } from "./lmdb.ts";

/** Timers at times chosen by users: they stay. */
const chosen: ReadonlySet<string> = new Set(["scheduled-messages.due", "reminders.due"]);

/** Counters that hold a time. */
const timeCounters: readonly CounterName[] = ["waitingPeriodsEnded", "inactivityTold"];

const rowsPerSlice = 1000;

interface RealmCountersTimes {
  readonly turnAt: number;
  readonly counters: Readonly<Record<string, number>>;
}

/** Time of the realm's last turn; 0 if there was none. */
export function lastTurnAt(lmdb: Lmdb): number {
  return realmCountersOf(lmdb)?.turnAt ?? 0;
}

function realmCountersOf(lmdb: Lmdb): RealmCountersTimes | undefined {
  return lmdb.get("meta", "counters")?.value as RealmCountersTimes | undefined;
}

/** @returns the number of rows with a changed date; null if the realm is not ahead of `now`, and nothing was changed */
export function setTime(lmdb: Lmdb, now: number): number | null {
  const realmCounters = realmCountersOf(lmdb);
  if (realmCounters === undefined || realmCounters.turnAt <= now) return null;
  const aheadMs = realmCounters.turnAt - now;
  let changed = 0;
  const tables = Object.entries(datedFields) as [TableName, readonly string[]][];
  for (const [table, fields] of tables) {
    changed += rewrite(lmdb, table, (row) => clamped(row, fields, now));
  }
  changed += rewrite(lmdb, "invitations", (row) => {
    const lateMs = row.createdAt - now;
    const expiresAt = row.expiresAt === null ? null : row.expiresAt - lateMs;
    return lateMs <= 0 ? null : { ...row, createdAt: now, expiresAt };
  });
  forgetSends(lmdb, now);
  copyTimers(lmdb, realmCounters.turnAt, aheadMs);
  lmdb.transaction(() => {
    const { counters, ...rest } = realmCounters;
    const last = realmCountersOf(lmdb)?.counters ?? counters;
    const times = Object.fromEntries(timeCounters.map((name) => [name, Math.min(counters[name] ?? 0, now)]));
    const value = { ...rest, counters: { ...last, ...times }, turnAt: now, mark: undefined };
    lmdb.put("meta", "counters", { value });
  });
  return changed;
}

function clamped(row: object, fields: readonly string[], now: number): object | null {
  const known = row as Readonly<Record<string, unknown>>;
  const late = fields.filter((field) => Number(known[field] ?? 0) > now);
  return late.length === 0 ? null : { ...row, ...Object.fromEntries(late.map((field) => [field, now])) };
}

/**
 * @param change returns null to leave the row unchanged
 * @returns the number of changed rows
 */
function rewrite<T extends TableName>(lmdb: Lmdb, table: T, change: (row: RowOf<T>) => object | null): number {
  let changed = 0;
  let after: KeyOf<T> | null = null;
  for (;;) {
    const slice: { key: KeyOf<T>; row: RowOf<T> }[] = lmdb.rows(table, rangeAfter(after));
    lmdb.transaction(() => {
      for (const { key, row } of slice) {
        const next = change(row);
        if (next === null) continue;
        lmdb.put(table, key, next as RowOf<T>);
        changed++;
      }
    });
    if (slice.length <= 1) return changed;
    after = slice.at(-1)?.key ?? null;
  }
}

/** `start` is inclusive: each slice begins with the last row of the previous one, which is already correct. */
function rangeAfter(after: unknown): { readonly start?: unknown; readonly limit: number } {
  return after === null ? { limit: rowsPerSlice } : { start: after, limit: rowsPerSlice };
}

/** Sends dated in the future would count against the daily limit until that day. */
function forgetSends(lmdb: Lmdb, now: number): void {
  const late = lmdb.keys("invitationSends", { limit: Number.MAX_SAFE_INTEGER }).filter(([, at]) => at > now);
  lmdb.transaction(() => {
    for (const key of late) lmdb.remove("invitationSends", key);
  });
}

/**
 * A timer set relative to the wrong time (e.g. a week later) gets a copy that is earlier by the difference. The
 * original stays, because it may be right; a timer that fires without reason changes nothing.
 */
function copyTimers(lmdb: Lmdb, turnAt: number, aheadMs: number): void {
  const later = lmdb
    .rows("timers", { start: [turnAt], limit: Number.MAX_SAFE_INTEGER })
    .map(({ row }) => row)
    .filter(({ command }) => !chosen.has((command as { readonly type: string }).type));
  for (let at = 0; at < later.length; at += limits.turn_commands_max) {
    const slice = later.slice(at, at + limits.turn_commands_max);
    lmdb.transaction(() => copySlice(lmdb, slice, aheadMs));
  }
}

function copySlice(lmdb: Lmdb, timers: readonly TimerRecord[], aheadMs: number): void {
  const realmCounters = realmCountersOf(lmdb) as RealmCountersTimes;
  let sequence = realmCounters.counters["sequence"] ?? 0;
  for (const timer of timers) {
    sequence++;
    const dueAt = timer.dueAt - aheadMs;
    lmdb.put("timers", [dueAt, sequence], { ...timer, dueAt, sequence });
  }
  lmdb.put("meta", "counters", {
    value: { ...realmCounters, counters: { ...realmCounters.counters, sequence } },
  });
}
