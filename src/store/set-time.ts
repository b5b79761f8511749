/**
 * Brings a realm's time back after the clock was ahead (M4: the time of a realm never goes back by itself, so one wrong moment
 * stays). The server must not run. Rows that are dated in the future get the present: the newest messages keep their order, as they
 * all get the same time. Work in slices: a crash in between leaves a realm that is still ahead, and the command can be repeated.
 */
import { limits } from "../../schemas/limits.ts";
import type { KeyOf, RowOf, TableName, TimerRecord } from "../../schemas/records.ts";
import type { Environment } from "./environment.ts";

/** Fields that say when something happened. `expiresAt` and the times that people chose are not among them. */
export const datedFields: { readonly [T in TableName]?: readonly (keyof RowOf<T> & string)[] } = {
  realm: ["createdAt", "deactivatedAt"],
  users: ["joinedAt"],
  apiKeys: ["createdAt"],
  groups: ["createdAt"],
  channelFolders: ["createdAt"],
  userTopics: ["changedAt"],
  channels: ["createdAt"],
  messages: ["sentAt", "editedAt"],
  messageEdits: ["at"],
  topicRenames: ["at"],
  messageMoves: ["at"],
  readAnnouncements: ["startedAt"],
  events: ["at"],
  queues: ["createdAt"],
  deadLetters: ["diedAt"],
  idempotency: ["at"],
  presence: ["activeAt", "connectedAt"],
  savedSnippets: ["createdAt"],
  drafts: ["changedAt"],
  mutedUsers: ["mutedAt"],
  realmEmoji: ["createdAt"],
  emailChanges: ["createdAt"],
  // Deliveries are tried again at once.
  mails: ["createdAt", "dueAt"],
  deadMails: ["createdAt", "dueAt"],
  webhookDeliveries: ["createdAt", "dueAt"],
  webhookReports: ["reportedAt"],
  missedMessages: ["startedAt", "dueAt", "ringsAt", "hourStartedAt"],
  attachments: ["createdAt", "unclaimedSince"],
  logins: ["seenAt"],
  pushTokens: ["addedAt"],
  devices: ["registeredAt"],
};

/** Timers at moments that people chose: they stay. */
const chosen: ReadonlySet<string> = new Set(["scheduled-messages.due", "reminders.due"]);

const rowsPerSlice = 1000;

interface LedgerTimes {
  readonly turnAt: number;
  readonly counters: Readonly<Record<string, number>>;
}

/** When the realm's last turn was; 0: it had none. */
export function lastTurnAt(environment: Environment): number {
  return ledgerOf(environment)?.turnAt ?? 0;
}

function ledgerOf(environment: Environment): LedgerTimes | undefined {
  return environment.get("meta", "ledger")?.value as LedgerTimes | undefined;
}

/** @returns how many rows were dated later; null: the realm is not ahead of `now`, and nothing was changed */
export function setTime(environment: Environment, now: number): number | null {
  const ledger = ledgerOf(environment);
  if (ledger === undefined || ledger.turnAt <= now) return null;
  const aheadMs = ledger.turnAt - now;
  let changed = 0;
  const tables = Object.entries(datedFields) as [TableName, readonly string[]][];
  for (const [table, fields] of tables) {
    changed += rewrite(environment, table, (row) => clamped(row, fields, now));
  }
  changed += rewrite(environment, "invitations", (row) => {
    const lateMs = row.createdAt - now;
    const expiresAt = row.expiresAt === null ? null : row.expiresAt - lateMs;
    return lateMs <= 0 ? null : { ...row, createdAt: now, expiresAt };
  });
  forgetSends(environment, now);
  copyTimers(environment, ledger.turnAt, aheadMs);
  environment.transaction(() => {
    const { counters, ...rest } = ledger;
    const told = { waitingPeriodsEnded: 0, inactivityTold: 0 };
    for (const name of Object.keys(told) as (keyof typeof told)[]) told[name] = Math.min(counters[name] ?? 0, now);
    const last = ledgerOf(environment)?.counters ?? counters;
    const value = { ...rest, counters: { ...last, ...told }, turnAt: now, mark: undefined };
    environment.put("meta", "ledger", { value });
  });
  return changed;
}

function clamped(row: object, fields: readonly string[], now: number): object | null {
  const known = row as Readonly<Record<string, unknown>>;
  const late = fields.filter((field) => Number(known[field] ?? 0) > now);
  return late.length === 0 ? null : { ...row, ...Object.fromEntries(late.map((field) => [field, now])) };
}

/** @param change null: the row stays. @returns how many rows changed */
function rewrite<T extends TableName>(
  environment: Environment,
  table: T,
  change: (row: RowOf<T>) => object | null,
): number {
  let changed = 0;
  let after: KeyOf<T> | null = null;
  for (;;) {
    const slice: { key: KeyOf<T>; row: RowOf<T> }[] = environment.rows(table, rangeAfter(after));
    environment.transaction(() => {
      for (const { key, row } of slice) {
        const next = change(row);
        if (next === null) continue;
        environment.put(table, key, next as RowOf<T>);
        changed++;
      }
    });
    if (slice.length <= 1) return changed;
    after = slice.at(-1)?.key ?? null;
  }
}

/** `start` is inclusive: each slice begins with the last row of the one before, which is right by then. */
function rangeAfter(after: unknown): { readonly start?: unknown; readonly limit: number } {
  return after === null ? { limit: rowsPerSlice } : { start: after, limit: rowsPerSlice };
}

/** What counts for a daily limit would count until that day comes. */
function forgetSends(environment: Environment, now: number): void {
  const late = environment.keys("invitationSends", { limit: Number.MAX_SAFE_INTEGER }).filter(([, at]) => at > now);
  environment.transaction(() => {
    for (const key of late) environment.remove("invitationSends", key);
  });
}

/**
 * A timer after the wrong time may have been set by it, e.g. a week later: it gets a twin that much earlier. The other one stays,
 * as it may have been meant; one that rings without a reason changes nothing.
 */
function copyTimers(environment: Environment, turnAt: number, aheadMs: number): void {
  const later = environment
    .rows("timers", { start: [turnAt], limit: Number.MAX_SAFE_INTEGER })
    .map(({ row }) => row)
    .filter(({ command }) => !chosen.has((command as { readonly type: string }).type));
  for (let at = 0; at < later.length; at += limits.turn_commands_max) {
    const slice = later.slice(at, at + limits.turn_commands_max);
    environment.transaction(() => copySlice(environment, slice, aheadMs));
  }
}

function copySlice(environment: Environment, timers: readonly TimerRecord[], aheadMs: number): void {
  const ledger = ledgerOf(environment) as LedgerTimes;
  let sequence = ledger.counters["sequence"] ?? 0;
  for (const timer of timers) {
    sequence++;
    const dueAt = timer.dueAt - aheadMs;
    environment.put("timers", [dueAt, sequence], { ...timer, dueAt, sequence });
  }
  environment.put("meta", "ledger", { value: { ...ledger, counters: { ...ledger.counters, sequence } } });
}
