/**
 * Prepares the writes and events of a command's effects. It writes nothing and changes nothing in memory, so whatever
 * throws does so before the first write, and the command is rejected alone (M6). The dispatcher applies the result to
 * memory after the writes (M9), and publishes and replies after the turn's flush (M1).
 */
import type { Command } from "../../actors/protocol/commands.ts";
import type { Effect, EmitEffect, EmitVolatileEffect } from "../../actors/protocol/effects.ts";
import type { EventType } from "../../schemas/events.ts";
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { EventRecord } from "../../schemas/runtime.ts";
import { type PreparedWrite, prepared } from "../store/lmdb.ts";
import type { Delta } from "../store/projections/projection.ts";
import type { TurnState } from "./realm-view.ts";

export interface StagedEvent {
  readonly record: EventRecord;
  /** null for a durable event. Otherwise older undelivered volatile events with this key are dropped (E4). */
  readonly replaces: string | null;
}

/** What one command writes, publishes and changes in memory. */
export class Staged {
  readonly effects: readonly Effect[];
  /** In the order of the effects. */
  readonly writes: PreparedWrite[] = [];
  readonly deltas: Delta[] = [];
  readonly events: StagedEvent[] = [];
  /** The command that continues this one; null if it is done. */
  rest: Command | null = null;
  earliestTimer: number | null = null;
  position: number;
  sequence: number;
  bytes = 0;
  eventBytes = 0;
  readonly #now: number;

  /** @throws Error when a row cannot be encoded or its key is too long: the command is rejected alone (M6) */
  constructor(effects: readonly Effect[], turn: TurnState) {
    this.effects = effects;
    this.position = turn.position;
    this.sequence = turn.counters.sequence;
    this.#now = turn.now;
    for (const effect of effects) this.#stage(effect);
  }

  /**
   * Stages a row to be written.
   * @returns the size of the row in bytes
   * @throws Error when the row cannot be encoded
   */
  row<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T> | null): number {
    const write = prepared(table, key, row);
    const bytes = write.bytes?.length ?? 0;
    this.writes.push(write);
    this.bytes += bytes;
    return bytes;
  }

  #stage(effect: Effect): void {
    switch (effect.kind) {
      case "put":
      case "remove":
        this.row(effect.table, effect.key, effect.row);
        this.deltas.push(effect);
        return;
      case "emit": {
        const record = this.#record(effect, effect.span);
        this.eventBytes += this.row("events", record.position, record);
        this.events.push({ record, replaces: null });
        return;
      }
      case "emitVolatile":
        this.events.push({ record: this.#record(effect, 1), replaces: effect.replaces });
        return;
      case "continueNextTurn":
        if (this.rest !== null) throw new Error(`${effect.command.type}: a command can continue only once`);
        this.rest = effect.command;
        return;
      case "schedule": {
        const { dueAt, command } = effect;
        const sequence = ++this.sequence;
        this.row("timers", [dueAt, sequence], { dueAt, sequence, command });
        this.earliestTimer = Math.min(this.earliestTimer ?? dueAt, dueAt);
        return;
      }
      case "deadLetter": {
        const { command, error, cause } = effect;
        const sequence = ++this.sequence;
        this.row("deadLetters", sequence, { sequence, command, diedAt: this.#now, error, ...cause });
        return;
      }
      case "updatePresence":
        // The row used the position as its update id (E1).
        this.position++;
        return;
      // These change memory alone: the dispatcher reads them from `effects`.
      case "setCounter":
      case "send":
      case "setVolatileTimer":
      case "reply":
      case "discard":
        return;
      default:
        effect satisfies never;
    }
  }

  #record<T extends EventType>(effect: EmitEffect<T> | EmitVolatileEffect<T>, span: number): EventRecord<T> {
    this.position += span;
    const { type, audience, body } = effect;
    return { position: this.position - 1, at: this.#now, type, audience, body };
  }
}
