/**
 * Turns the effects of one command into prepared writes and notes of what follows from them. Nothing is written and nothing
 * in memory changes meanwhile: whatever throws, throws before the first write, and the command is refused alone (M6). The notes
 * are data: the dispatcher applies them to memory after the writes (M9), and answers and publishes after the turn's flush (M1).
 */
import type { Command } from "../../actors/commands.ts";
import type { Answer, Effect, Ticket } from "../../actors/effects.ts";
import type { CounterName, EventRecord, KeyOf, PresenceRecord, RowOf, TableName } from "../../schemas/records.ts";
import { type PreparedWrite, prepared } from "../store/environment.ts";
import type { Delta } from "../store/projections/projection.ts";
import type { TurnState } from "./realm-view.ts";

export interface StagedEvent {
  readonly record: EventRecord;
  /** null: durable. Otherwise older undelivered volatile events with this key are dropped (E4). */
  readonly replaces: string | null;
}

/** What a command did, to be applied to memory when its transaction has returned. */
export interface Staged {
  /** In the order of the effects. */
  readonly writes: PreparedWrite[];
  readonly deltas: Delta[];
  readonly events: StagedEvent[];
  readonly tells: Command[];
  /** The rest of the command; null: it is done. */
  rest: Command | null;
  readonly wakes: { name: string; afterMs: number; command: Command }[];
  readonly replies: { ticket: Ticket; answer: Answer }[];
  readonly presences: PresenceRecord[];
  /** Files that no row claims any more. */
  readonly discards: string[];
  readonly counters: [CounterName, number][];
  earliestTimer: number | null;
  position: number;
  sequence: number;
  bytes: number;
  eventBytes: number;
}

export function newStage(): Staged {
  return {
    writes: [],
    deltas: [],
    events: [],
    tells: [],
    rest: null,
    wakes: [],
    replies: [],
    presences: [],
    discards: [],
    counters: [],
    earliestTimer: null,
    position: 0,
    sequence: 0,
    bytes: 0,
    eventBytes: 0,
  };
}

/** Makes a stage ready for the next command: one serves all, so that a turn makes little garbage. */
export function clearStage(staged: Staged, turn: TurnState): void {
  clear(staged.writes);
  clear(staged.deltas);
  clear(staged.events);
  clear(staged.tells);
  staged.rest = null;
  clear(staged.wakes);
  clear(staged.replies);
  clear(staged.presences);
  clear(staged.discards);
  clear(staged.counters);
  staged.earliestTimer = null;
  staged.position = turn.position;
  staged.sequence = turn.counters.sequence;
  staged.bytes = 0;
  staged.eventBytes = 0;
}

/** Emptying an array costs a call into the engine and its room; most are empty already. */
function clear(list: unknown[]): void {
  if (list.length > 0) list.length = 0;
}

/** A row that will be written. @returns its bytes. @throws Error when it cannot be */
export function stageRow<T extends TableName>(staged: Staged, table: T, key: KeyOf<T>, row: RowOf<T> | null): number {
  const write = prepared(table, key, row);
  const bytes = write.bytes?.length ?? 0;
  staged.writes.push(write);
  staged.bytes += bytes;
  return bytes;
}

/** @throws Error when a row cannot be encoded or its key is too long: the command is refused alone (M6) */
export function stageEffect(effect: Effect, turn: TurnState, staged: Staged): void {
  switch (effect.kind) {
    case "put":
      stageRow(staged, effect.table, effect.key as KeyOf<TableName>, effect.row as RowOf<TableName>);
      staged.deltas.push({ table: effect.table, key: effect.key, row: effect.row as RowOf<TableName> });
      return;
    case "remove":
      stageRow(staged, effect.table, effect.key as KeyOf<TableName>, null);
      staged.deltas.push({ table: effect.table, key: effect.key, row: null });
      return;
    case "count":
      staged.counters.push([effect.counter, effect.last]);
      return;
    case "emit": {
      const record = eventRecord(effect, turn, staged);
      staged.eventBytes += stageRow(staged, "events", record.position, record);
      staged.events.push({ record, replaces: null });
      return;
    }
    case "signal":
      staged.events.push({ record: eventRecord(effect, turn, staged), replaces: effect.replaces });
      return;
    case "tell":
      staged.tells.push(effect.command);
      return;
    case "go-on":
      if (staged.rest !== null) throw new Error(`${effect.command.type}: a command goes on in one way`);
      staged.rest = effect.command;
      return;
    case "schedule":
      staged.sequence++;
      stageRow(staged, "timers", [effect.dueAt, staged.sequence], {
        dueAt: effect.dueAt,
        sequence: staged.sequence,
        command: effect.command,
      });
      staged.earliestTimer = Math.min(staged.earliestTimer ?? effect.dueAt, effect.dueAt);
      return;
    case "bury": {
      const { command, error, cause } = effect;
      const sequence = ++staged.sequence;
      stageRow(staged, "deadLetters", sequence, { sequence, command, diedAt: turn.now, error, ...cause });
      return;
    }
    case "wake":
      staged.wakes.push({ name: effect.name, afterMs: effect.afterMs, command: effect.command });
      return;
    case "reply":
      staged.replies.push({ ticket: effect.ticket, answer: effect.answer });
      return;
    case "discard":
      staged.discards.push(effect.file);
      return;
    case "present":
      // The row took the position as its update id (E1).
      staged.position++;
      staged.presences.push(effect.row);
      return;
    default:
      effect satisfies never;
  }
}

function eventRecord(
  effect: Extract<Effect, { kind: "emit" | "signal" }>,
  turn: TurnState,
  staged: Staged,
): EventRecord {
  staged.position += effect.kind === "emit" ? effect.span : 1;
  const position = staged.position - 1;
  return { position, at: turn.now, type: effect.type, audience: effect.audience, body: effect.body };
}
