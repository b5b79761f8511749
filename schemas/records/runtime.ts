/** Durable shapes of the runtime: events, queues, mailbox, timers, kept answers. The rules of `schemas/records.ts` hold. */

/**
 * Who receives an event; resolved against projections at delivery and again at replay (realtime.md, Who gets what).
 * `archives` restricts it to clients that know of archived channels (`shown`), or to those that do not (`hidden`): the
 * capability `archived_channels`. Absent: all.
 */
export type Audience = Addressees & { readonly archives?: "shown" | "hidden" };

type Addressees =
  | { readonly to: "realm" }
  | { readonly to: "users"; readonly ids: readonly number[] }
  /**
   * Subscribers of the channel at that position, for public channels also queues with all_public_streams, and the people
   * of `also`, whom it concerns though they are not subscribed.
   */
  | { readonly to: "channel"; readonly id: number; readonly also: readonly number[] }
  /** Whoever may know that the channel exists, less `except`; at a repetition, whoever has known it since then (`channelSights`). */
  | { readonly to: "channel-watchers"; readonly id: number; readonly except: readonly number[] };

export interface EventRecord {
  /** The last of the positions that it took. */
  readonly position: number;
  readonly at: number;
  readonly type: string;
  readonly audience: Audience;
  /** References and own fields; what is sent is built from it by realtime/event-bodies.ts. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface QueueRecord {
  readonly id: string;
  readonly userId: number;
  readonly createdAt: number;
  readonly createdAtPosition: number;
  readonly lifespanMs: number;
  readonly client: string;
  /** The parameters that shape its events: see realtime/queue.ts. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** A command that was accepted and not finished in its turn (M3). `attempts` counts throws (M6). */
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
  /** How often it was tried; null in rows of before. */
  readonly attempts: number | null;
  /** What was to be delivered; null: the command itself threw, and is what is tried again. */
  readonly delivery: DeadDelivery | null;
}

export type DeadDelivery =
  /** The mail itself is in `deadMails`, unless it holds a key (S2). */
  | { readonly kind: "mail"; readonly id: number; readonly template: string; readonly to: string }
  | {
      readonly kind: "webhook";
      readonly id: number;
      readonly botId: number;
      readonly messageId: number;
      readonly trigger: string;
      readonly createdAt: number;
    };

/** The kept first answer of an Idempotency-Key (D25). */
export interface IdempotencyRecord {
  readonly paramsHash: string;
  readonly status: number;
  readonly body: string;
  readonly at: number;
}

export interface PresenceRecord {
  readonly userId: number;
  readonly activeAt: number | null;
  readonly connectedAt: number;
  readonly updateId: number;
}

/** How many reports of presence told of new input (D32). */
export interface UserInputRecord {
  readonly reports: number;
}

/** Snapshot of a machine: the state's name and its context, with the machine's version (M4, passivation). */
export interface SnapshotRecord {
  readonly version: number;
  readonly state: string;
  readonly context: unknown;
}
