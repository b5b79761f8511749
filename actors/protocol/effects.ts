/**
 * The closed list of effects that a decision may return. Effects are data. The runtime applies all effects of a turn or
 * none, and answers and publishes only after the turn's flush (M1, M2).
 */

import type { Answer, Ticket } from "../../schemas/answer.ts";
import type { EventType, Exactly, StoredBody } from "../../schemas/events.ts";
import type { CounterName, KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { Audience } from "../../schemas/runtime.ts";
import type { Command } from "./commands.ts";

/** The delivery that was abandoned, and the number of attempts. */
export type FailedDelivery = Pick<RowOf<"deadLetters">, "attempts" | "delivery">;

/** A row to write. Key and row are those of the table. */
export type PutEffect<T extends TableName = TableName> = {
  readonly [Table in T]: {
    readonly kind: "put";
    readonly table: Table;
    readonly key: KeyOf<Table>;
    readonly row: RowOf<Table>;
  };
}[T];

export type RemoveEffect<T extends TableName = TableName> = {
  readonly [Table in T]: {
    readonly kind: "remove";
    readonly table: Table;
    readonly key: KeyOf<Table>;
    readonly row: null;
  };
}[T];

/**
 * A durable event: a row of the log, in the same transaction. It takes the next `span` positions in the order of
 * effects. More than one is needed if some clients receive the event in parts, each with its own id.
 */
export type EmitEffect<T extends EventType = EventType> = {
  readonly [Type in T]: {
    readonly kind: "emit";
    readonly type: Type;
    readonly body: StoredBody<Type>;
    readonly audience: Audience;
    readonly span: number;
  };
}[T];

/**
 * A volatile event (E4): it takes a position but has no row. Undelivered older events with the same `replaces` key are
 * dropped.
 */
export type EmitVolatileEffect<T extends EventType = EventType> = {
  readonly [Type in T]: {
    readonly kind: "emitVolatile";
    readonly type: Type;
    readonly body: StoredBody<Type>;
    readonly audience: Audience;
    readonly replaces: string;
  };
}[T];

export type Effect =
  | PutEffect
  | RemoveEffect
  /** Allocates ids: sets the counter to its new last value. */
  | { readonly kind: "setCounter"; readonly counter: CounterName; readonly last: number }
  | EmitEffect
  | EmitVolatileEffect
  /**
   * A command for another actor. It runs in this turn while the turn's budget lasts, otherwise from the durable mailbox
   * (M3).
   */
  | { readonly kind: "send"; readonly command: Command }
  /**
   * The remaining part of the same command, which continues in the next turn before any other command (M7) except those
   * of between-slices.ts. At most one.
   */
  | { readonly kind: "continueNextTurn"; readonly command: Command }
  /** A durable timer (M8). */
  | { readonly kind: "schedule"; readonly dueAt: number; readonly command: Command }
  /** A dead letter: a command that is no longer retried, and the reason. */
  | { readonly kind: "deadLetter"; readonly command: Command; readonly error: string; readonly cause: FailedDelivery }
  /** A volatile timer; a later one with the same name replaces it. */
  | { readonly kind: "setVolatileTimer"; readonly name: string; readonly afterMs: number; readonly command: Command }
  /** Answers a request that an earlier turn left waiting. */
  | { readonly kind: "reply"; readonly ticket: Ticket; readonly answer: Answer }
  /**
   * A file that no row references any more. It is removed after the flush; if the process crashes before that, a sweep
   * removes it.
   */
  | { readonly kind: "discard"; readonly file: string }
  /** A user's latest presence, in memory; rows are written in batches (E4). */
  | { readonly kind: "updatePresence"; readonly row: RowOf<"presence"> };

/** The body has exactly the fields that schemas/events.ts declares for the type and op. */
function emit<T extends EventType, B extends StoredBody<T>>(
  type: T,
  body: Exactly<B, StoredBody<T>>,
  audience: Audience,
  span = 1,
): EmitEffect<T> {
  return { kind: "emit", type, body, audience, span };
}

function emitVolatile<T extends EventType, B extends StoredBody<T>>(
  type: T,
  body: Exactly<B, StoredBody<T>>,
  audience: Audience,
  replaces: string,
): EmitVolatileEffect<T> {
  return { kind: "emitVolatile", type, body, audience, replaces };
}

function put<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T>): PutEffect<T> {
  return { kind: "put", table, key, row };
}

function remove<T extends TableName>(table: T, key: KeyOf<T>): RemoveEffect<T> {
  return { kind: "remove", table, key, row: null };
}

/** Effect builders. */
export const effects = {
  put,
  remove,
  setCounter: (counter: CounterName, last: number): Effect => ({ kind: "setCounter", counter, last }),
  emit,
  emitVolatile,
  send: (command: Command): Effect => ({ kind: "send", command }),
  continueNextTurn: (command: Command): Effect => ({ kind: "continueNextTurn", command }),
  schedule: (dueAt: number, command: Command): Effect => ({ kind: "schedule", dueAt, command }),
  deadLetter: (command: Command, error: string, cause: FailedDelivery): Effect => ({
    kind: "deadLetter",
    command,
    error,
    cause,
  }),
  setVolatileTimer: (name: string, afterMs: number, command: Command): Effect => ({
    kind: "setVolatileTimer",
    name,
    afterMs,
    command,
  }),
  reply: (ticket: Ticket, answer: Answer): Effect => ({ kind: "reply", ticket, answer }),
  discard: (file: string): Effect => ({ kind: "discard", file }),
  updatePresence: (row: RowOf<"presence">): Effect => ({ kind: "updatePresence", row }),
} as const;
