/**
 * The runtime's own tables (architecture, The path of a write): mailbox, timers, event log, snapshots, stored answers
 * and dead letters.
 */
import { defineArea, defineTable } from "./area.ts";
import type { EventType, StoredBody } from "./events.ts";

/**
 * The recipients of an event, determined from projections on delivery and again on replay (realtime.md, Who gets what).
 * `archives` restricts it to clients with (`shown`) or without (`hidden`) support for archived channels, the capability
 * `archived_channels`. Absent: all clients.
 */
export type Audience = Addressees & { readonly archives?: "shown" | "hidden" };

type Addressees =
  | { readonly to: "realm" }
  | { readonly to: "users"; readonly ids: readonly number[] }
  /**
   * Subscribers of the channel at that position, for public channels also queues with all_public_streams, and the users
   * in `also`, who are affected without being subscribed.
   */
  | { readonly to: "channel"; readonly id: number; readonly also: readonly number[] }
  /**
   * Users who can see the channel, without `except`; on replay, only those who could see it at that time
   * (`channelVisibility`).
   */
  | { readonly to: "channel-watchers"; readonly id: number; readonly except: readonly number[] };

/** A row of the event log, typed by the event's type (schemas/events.ts). */
export type EventRecord<T extends EventType = EventType> = {
  readonly [Type in T]: {
    /** The last of the positions that the event took. */
    readonly position: number;
    readonly at: number;
    readonly type: Type;
    readonly audience: Audience;
    /** References, and fields that only the event has; realtime/event-bodies.ts builds the event that is sent. */
    readonly body: StoredBody<Type>;
  };
}[T];

/** A command that was accepted but not completed in its turn (M3). `attempts` counts the failed attempts (M6). */
export interface MailboxRecord {
  readonly sequence: number;
  readonly command: unknown;
  readonly attempts: number;
}

export interface TimerRecord {
  readonly dueAt: number;
  readonly sequence: number;
  readonly command: unknown;
}

export interface DeadLetterRecord {
  readonly sequence: number;
  readonly command: unknown;
  readonly diedAt: number;
  readonly error: string;
  /** Number of attempts; null in rows from older versions. */
  readonly attempts: number | null;
  /** The failed delivery; null: the command itself threw, and a retry would run it again. */
  readonly delivery: DeadDelivery | null;
}

export type DeadDelivery =
  /** The email's content is in `deadMails`, unless it contains a key (S2). */
  | { readonly kind: "mail"; readonly id: number; readonly template: string; readonly to: string }
  | {
      readonly kind: "webhook";
      readonly id: number;
      readonly botId: number;
      readonly messageId: number;
      readonly trigger: string;
      readonly createdAt: number;
    };

/** The stored first answer of an Idempotency-Key (D25). */
export interface IdempotencyRecord {
  readonly paramsHash: string;
  readonly status: number;
  readonly body: string;
  readonly at: number;
}

/** Snapshot of a machine: state name and context, with the machine's version (M4, passivation). */
export interface SnapshotRecord {
  readonly version: number;
  readonly state: string;
  readonly context: unknown;
}

type Row = Record<string, unknown>;

/** Former names of command types, as they may occur in stored rows. */
const commandTypes: Readonly<Record<string, string>> = {
  "messages.take-in": "messages.import",
  "realm.found": "realm.create",
  "retention.look": "retention.check",
  "topic.recount": "topic.refreshLastMessage",
};

/** Renamed later, so in rows of version 2, too. */
const laterCommandTypes: Readonly<Record<string, string>> = {
  "attachments.recount": "attachments.recheck",
  "channels.tell-inactive": "channels.announce-inactive",
  "missed-messages.gather": "missed-messages.collect",
  "topic.tell-rename": "topic.announce-rename",
};

const laterParams: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "mail.abandon": { isTaken: "wasAccepted" },
  "webhook.abandon": { isTaken: "wasAnswered" },
};

function renameCommand(row: Row): Row {
  const command = row["command"] as Row;
  const type = String(command["type"]);
  return { ...row, command: { ...command, type: commandTypes[type] ?? type, params: renameParams(command["params"]) } };
}

function renameCommandLater(row: Row): Row {
  const command = row["command"] as Row;
  const type = String(command["type"]);
  const names = laterParams[type];
  const { params } = command;
  const renamed =
    names === undefined || typeof params !== "object" || params === null
      ? params
      : Object.fromEntries(Object.entries(params).map(([name, value]) => [names[name] ?? name, value]));
  return { ...row, command: { ...command, type: laterCommandTypes[type] ?? type, params: renamed } };
}

function renameParams(params: unknown): unknown {
  if (typeof params !== "object" || params === null) return params;
  const { isLimitedToSight, before, ...rest } = params as Row;
  return {
    ...rest,
    ...(isLimitedToSight === undefined ? {} : { isLimitedToVisible: isLimitedToSight }),
    ...(before === undefined ? {} : { before: Array.isArray(before) ? before.map(renameWatermark) : before }),
  };
}

function renameWatermark(row: Row): Row {
  const { floor, ...rest } = row;
  return floor === undefined ? row : { ...rest, watermark: floor };
}

export const runtimeArea = defineArea({
  tables: {
    meta: defineTable<string, { readonly value: unknown }>({
      fields: ["value"],
    }),
    snapshots: defineTable<string, SnapshotRecord>({
      fields: ["version", "state", "context"],
    }),
    events: defineTable<number, EventRecord>({
      fields: ["position", "at", "type", "audience", "body"],
      dates: ["at"],
    }),
    mailbox: defineTable<number, MailboxRecord>({
      fields: ["sequence", "command", "attempts"],
      migrations: {
        1: renameCommand,
        2: renameCommandLater,
      },
    }),
    timers: defineTable<readonly [dueAt: number, sequence: number], TimerRecord>({
      fields: ["dueAt", "sequence", "command"],
      migrations: {
        1: renameCommand,
        2: renameCommandLater,
      },
    }),
    deadLetters: defineTable<number, DeadLetterRecord>({
      fields: ["sequence", "command", "diedAt", "error", "attempts", "delivery"],
      dates: ["diedAt"],
      migrations: {
        1: renameCommand,
        2: renameCommandLater,
      },
    }),
    idempotency: defineTable<readonly [userId: number, keyHash: string], IdempotencyRecord>({
      fields: ["paramsHash", "status", "body", "at"],
      dates: ["at"],
    }),
    /** Rows that an older program wrote count as empty; they are removed after a day. */
    idempotencyAges: defineTable<readonly [userId: number, at: number, keyHash: string], { readonly bytes: number }>({
      fields: ["bytes"],
      migrations: { 1: () => ({ bytes: 0 }) },
    }),
  },
  counters: ["sequence", "boot"],
});
