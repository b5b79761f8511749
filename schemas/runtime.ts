/**
 * The runtime's own tables (architecture, The path of a write): mailbox, timers, event log, snapshots, stored answers
 * and dead letters.
 */

import { defineArea, defineTable } from "./area.ts";
import type { EventType, StoredBody } from "./events.ts";
import type { EventPosition, MessageId, UserId } from "./ids.ts";

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
    readonly position: EventPosition;
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
      readonly botId: UserId;
      readonly messageId: MessageId;
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

export const runtimeArea = defineArea({
  tables: {
    meta: defineTable<string, { readonly value: unknown }>({
      fields: ["value"],
    }),
    snapshots: defineTable<string, SnapshotRecord>({
      fields: ["version", "state", "context"],
    }),
    events: defineTable<EventPosition, EventRecord>({
      fields: ["position", "at", "type", "audience", "body"],
      dates: ["at"],
    }),
    mailbox: defineTable<number, MailboxRecord>({
      fields: ["sequence", "command", "attempts"],
    }),
    timers: defineTable<readonly [dueAt: number, sequence: number], TimerRecord>({
      fields: ["dueAt", "sequence", "command"],
    }),
    deadLetters: defineTable<number, DeadLetterRecord>({
      fields: ["sequence", "command", "diedAt", "error", "attempts", "delivery"],
      dates: ["diedAt"],
    }),
    idempotency: defineTable<readonly [userId: UserId, keyHash: string], IdempotencyRecord>({
      fields: ["paramsHash", "status", "body", "at"],
      dates: ["at"],
    }),
    idempotencyAges: defineTable<readonly [userId: UserId, at: number, keyHash: string], { readonly bytes: number }>({
      fields: ["bytes"],
    }),
  },
  counters: ["sequence", "boot"],
});
