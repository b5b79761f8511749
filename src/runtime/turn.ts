/**
 * Prepares the writes and events of a command's effects. It writes nothing and changes nothing in memory, so whatever
 * throws does so before the first write, and the command is rejected alone (M6). The dispatcher applies the result to
 * memory after the writes (M9), and publishes and replies after the turn's flush (M1).
 *
 * The dispatcher gets from its realm the parts in `DispatcherOptions`, and reports to `Alarm`.
 */
import type { Command, Effect, EmitEffect, EmitVolatileEffect } from "../../actors/protocol/decision.ts";
import type { EventType } from "../../schemas/events.ts";
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { EventRecord } from "../../schemas/runtime.ts";
import type { DurabilityGate } from "../durability/journal/durability-gate.ts";
import type { Histogram } from "../metrics/instruments.ts";
import { damageIn } from "../store/damage.ts";
import { type Lmdb, type PreparedWrite, prepared } from "../store/lmdb.ts";
import type { Delta, Follower } from "../store/projections/projection.ts";
import type { RealmProjections } from "../store/projections/realm-projections.ts";
import type { Clock } from "./clock.ts";
import type { TurnState } from "./realm-view.ts";
import type { Reply } from "./results.ts";

interface TurnOutputsOptions {
  readonly gate: DurabilityGate;
  readonly alarm: Alarm;
  /** Removes a file that no row on disk claims. */
  readonly discard: (file: string) => void;
}

/**
 * The outputs of a turn, handed out when it ends: events first, then replies. Sockets and requests pass the realm's
 * gate by themselves; observers and the removal of files pass it here (M1).
 */
export class TurnOutputs implements Follower {
  readonly observers = new Observers();
  readonly #options: TurnOutputsOptions;
  #sink: EventSink = { apply: () => undefined, stage: () => undefined, publish: () => undefined };
  readonly #resolutions: (() => void)[] = [];

  constructor(options: TurnOutputsOptions) {
    this.#options = options;
  }

  attach(sink: EventSink): void {
    this.#sink = sink;
  }

  apply(delta: Delta): void {
    this.#guard(() => this.#sink.apply(delta));
    this.observers.apply(delta);
  }

  stage(event: StagedEvent): void {
    this.#guard(() => this.#sink.stage(event));
  }

  resolve(answer: (reply: Reply) => void, reply: Reply): void {
    this.#resolutions.push(() => answer(reply));
  }

  discard(file: string): void {
    const { gate, discard } = this.#options;
    this.#resolutions.push(() => gate.waitFor(() => discard(file)));
  }

  handOut(): void {
    this.#guard(() => this.#sink.publish());
    const tellObservers = this.observers.take();
    if (tellObservers !== null) this.#options.gate.waitFor(() => this.#guard(tellObservers));
    for (const answer of this.#resolutions.splice(0)) answer();
  }

  /** A bug in delivery loses no event, because the log has it. It must not undo the command that caused the event. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.alarm.bug(error, null);
    }
  }
}

type Observer = (deltas: readonly Delta[]) => void;

/**
 * Notifies observers about the rows of a table that a turn wrote, once it is durable (M1) and once per turn. Used for work
 * outside the store that a row causes, such as sending an email, so that nothing polls.
 */
export class Observers implements Follower {
  readonly #byTable = new Map<TableName, { readonly observers: Observer[]; deltas: Delta[] }>();
  #hasNews = false;

  observe(table: TableName, observer: Observer): void {
    const entry = this.#byTable.get(table);
    if (entry === undefined) this.#byTable.set(table, { observers: [observer], deltas: [] });
    else entry.observers.push(observer);
  }

  /** A command wrote or removed a row. */
  apply(delta: Delta): void {
    const entry = this.#byTable.get(delta.table);
    if (entry === undefined) return;
    entry.deltas.push(delta);
    this.#hasNews = true;
  }

  /** @returns tells the observers what the turn wrote; null: it wrote nothing that they observe */
  take(): (() => void) | null {
    if (!this.#hasNews) return null;
    this.#hasNews = false;
    const taken = [...this.#byTable.values()].filter(({ deltas }) => deltas.length > 0);
    const news = taken.map(({ observers, deltas }) => ({ observers, deltas }));
    for (const entry of taken) entry.deltas = [];
    return () => {
      for (const { observers, deltas } of news) for (const observer of observers) observer(deltas);
    };
  }
}

/** Counts the durations of turns, and logs slow ones. */
export class TurnWatch {
  readonly #times: Histogram;
  readonly #slowMs: number | null;

  /** @param slowMs from which duration on a turn is logged; null: never */
  constructor(times: Histogram, slowMs: number | null) {
    this.#times = times;
    this.#slowMs = slowMs;
  }

  /** @param last a turn ends with the command that exhausts its time, so that is the one which was slow */
  ended(ms: number, last: Command | null, warn: (line: string) => void): void {
    this.#times.observe(ms);
    if (this.#slowMs === null || ms < this.#slowMs) return;
    const command = last === null ? "" : `, and its last command was ${last.type}`;
    warn(`a turn took ${Math.round(ms)} ms${command} (SLOW_TURN_MS is ${this.#slowMs})`);
  }
}

/** Receives events: they are staged as each command is applied, and published at the turn's end. */
export interface EventSink extends Follower {
  stage(event: StagedEvent): void;
  publish(): void;
}

/** How the dispatcher alerts an operator: by log lines, and by ending the process. */
export interface Alarm {
  /** A command threw (M6), or, if `command` is null, delivering its results threw. */
  bug(error: unknown, command: Command | null): void;
  /** A write to the journal or a store failed (M5). Must not return. */
  fatal(error: unknown): never;
  /** Logs one line for the operator. */
  warn(line: string): void;
}

/**
 * Ends the process for a write that failed, and for a turn of which only a part was handed out (M5).
 * @throws DamagedData, which its caller survives
 */
export function orEnd(alarm: Alarm, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (damageIn(error) !== null) throw error;
    alarm.fatal(error);
  }
}

export interface DispatcherOptions {
  readonly lmdb: Lmdb;
  /** Through it leaves whatever shows a turn (M1). */
  readonly gate: DurabilityGate;
  readonly projections: RealmProjections;
  readonly clock: Clock;
  readonly alarm: Alarm;
  /** Whether the disk has room for writes (M5). */
  readonly acceptsWrites: () => boolean;
  /** Removes a file that no row on disk claims. */
  readonly discard: (file: string) => void;
  /** Gets the durations of turns; absent where they are not read. */
  readonly turnWatch?: TurnWatch;
}

export interface StagedEvent {
  readonly record: EventRecord;
  /** null for a durable event. Otherwise older undelivered volatile events with this key are dropped (E4). */
  readonly replaces: string | null;
}

/** The rows that one command writes, the events that it publishes, and its changes in memory. */
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
