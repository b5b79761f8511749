/**
 * What a decision may want from the world: the closed list. Effects are data; the runtime carries them out
 * whole or not at all, and answers and publishes only after the turn's flush (M1, M2).
 */
import type { Audience, CounterName, KeyOf, RowOf, TableName } from "../schemas/records.ts";
import type { Command } from "./commands.ts";

/** Names a request that waits for an answer in this process; meaningless after a restart (see `View.counter("boot")`). */
export type Ticket = number;

export type Answer = Readonly<Record<string, unknown>>;

/** What was given up, and after how many attempts. */
export type Cause = Pick<RowOf<"deadLetters">, "attempts" | "delivery">;

export type Effect =
  | { readonly kind: "put"; readonly table: TableName; readonly key: unknown; readonly row: unknown }
  | { readonly kind: "remove"; readonly table: TableName; readonly key: unknown }
  /** Takes ids: the counter's new last value. */
  | { readonly kind: "count"; readonly counter: CounterName; readonly last: number }
  /**
   * A durable event: a row of the log, in the same transaction. It takes the next `span` positions, in order of effects;
   * more than one where some clients get it in pieces, each of which needs an id of its own.
   */
  | {
      readonly kind: "emit";
      readonly type: string;
      readonly body: Answer;
      readonly audience: Audience;
      readonly span: number;
    }
  /** A volatile event (E4): a position, no row. `replaces`: older undelivered ones with this key are dropped. */
  | {
      readonly kind: "signal";
      readonly type: string;
      readonly body: Answer;
      readonly audience: Audience;
      readonly replaces: string;
    }
  /** A command for another actor: this turn while its budget lasts, else from the durable mailbox (M3). */
  | { readonly kind: "tell"; readonly command: Command }
  /** The rest of the same command, in the next turn: nothing else is decided in between (M7). One at most. */
  | { readonly kind: "go-on"; readonly command: Command }
  /** A durable timer (M8). */
  | { readonly kind: "schedule"; readonly dueAt: number; readonly command: Command }
  /** A dead letter: a command of whose matter nothing more will come, and why. */
  | { readonly kind: "bury"; readonly command: Command; readonly error: string; readonly cause: Cause }
  /** A volatile timer on the wheel; a later one with the same name replaces it. */
  | { readonly kind: "wake"; readonly name: string; readonly afterMs: number; readonly command: Command }
  /** Answers a request that was left waiting in an earlier turn. */
  | { readonly kind: "reply"; readonly ticket: Ticket; readonly answer: Answer }
  /** A file of the realm that no row claims any more: removed after the flush; a crash in between leaves it to the sweep. */
  | { readonly kind: "discard"; readonly file: string }
  /** The latest presence of a person, in memory; rows follow in batches (E4). */
  | { readonly kind: "present"; readonly row: RowOf<"presence"> };

/** Builders, so that a table's key and row are checked where an effect is made. */
export const effects = {
  put: <T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T>): Effect => ({ kind: "put", table, key, row }),
  remove: <T extends TableName>(table: T, key: KeyOf<T>): Effect => ({ kind: "remove", table, key }),
  count: (counter: CounterName, last: number): Effect => ({ kind: "count", counter, last }),
  emit: (type: string, body: Answer, audience: Audience, span = 1): Effect => ({
    kind: "emit",
    type,
    body,
    audience,
    span,
  }),
  signal: (type: string, body: Answer, audience: Audience, replaces: string): Effect => ({
    kind: "signal",
    type,
    body,
    audience,
    replaces,
  }),
  tell: (command: Command): Effect => ({ kind: "tell", command }),
  goOn: (command: Command): Effect => ({ kind: "go-on", command }),
  schedule: (dueAt: number, command: Command): Effect => ({ kind: "schedule", dueAt, command }),
  bury: (command: Command, error: string, cause: Cause): Effect => ({ kind: "bury", command, error, cause }),
  wake: (name: string, afterMs: number, command: Command): Effect => ({ kind: "wake", name, afterMs, command }),
  reply: (ticket: Ticket, answer: Answer): Effect => ({ kind: "reply", ticket, answer }),
  discard: (file: string): Effect => ({ kind: "discard", file }),
  present: (row: RowOf<"presence">): Effect => ({ kind: "present", row }),
} as const;
