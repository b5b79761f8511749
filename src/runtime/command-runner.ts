/**
 * Runs one command inside a turn: wakes its actor, lets the machine decide, prepares the effects, the end of the command's row
 * and the answer under its key, and only then writes them: what can be wrong with a command shows before its first write, so
 * that it is refused alone and the turn's transaction holds all of a command or nothing (M2, M6). What follows for memory is
 * left in `staged`; nothing in memory has changed when `run` returns or throws (M9).
 */
import type { Command } from "../../actors/commands.ts";
import type { Done } from "../../actors/decide.ts";
import type { Effect, Ticket } from "../../actors/effects.ts";
import { type ActorKind, actorKinds, type PlainSnapshot } from "../../actors/kinds.ts";
import { limits } from "../../schemas/limits.ts";
import type { RowOf } from "../../schemas/records.ts";
import type { Environment, PreparedWrite } from "../store/environment.ts";
import type { RealmProjections } from "../store/projections/realm-projections.ts";
import { type Activated, Activations } from "./activations.ts";
import { clearStage, newStage, type Staged, stageEffect, stageRow } from "./effects-applier.ts";
import { type AskResult, type Entry, ok, type Source } from "./entry.ts";
import type { IdempotencyKeys, KeptAnswer } from "./idempotency.ts";
import { drive } from "./machines.ts";
import type { RealmView, TurnState } from "./realm-view.ts";
import type { Tickets } from "./tickets.ts";

/** What a command came to, until memory has followed. */
export interface Concluded extends Activated {
  readonly result: AskResult;
  /** The ticket under which the answer comes later, or null. */
  readonly deferred: Ticket | null;
  /** What it goes on with, or null. */
  readonly rest: Entry | null;
}

/** A prepared row could not be written: the disk's fault, of which the turn, and the process, must end (M5). */
export class StoreFailed extends Error {
  constructor(cause: unknown) {
    super("the store failed to write", { cause });
  }
}

export interface CommandRunnerOptions {
  readonly environment: Environment;
  readonly projections: RealmProjections;
  readonly view: RealmView;
  readonly turn: TurnState;
  readonly keys: IdempotencyKeys;
  readonly tickets: Tickets;
}

export class CommandRunner {
  /** What the last command that ran brought about; valid until the next one runs. */
  readonly staged = newStage();
  readonly #activations = new Activations();
  readonly #environment: Environment;
  readonly #projections: RealmProjections;
  readonly #view: RealmView;
  readonly #turn: TurnState;
  readonly #keys: IdempotencyKeys;
  readonly #tickets: Tickets;

  constructor(options: CommandRunnerOptions) {
    this.#environment = options.environment;
    this.#projections = options.projections;
    this.#view = options.view;
    this.#turn = options.turn;
    this.#keys = options.keys;
    this.#tickets = options.tickets;
  }

  /**
   * Decides and writes.
   * @throws whatever the decision or the preparation throws; nothing is written then (M6)
   * @throws StoreFailed when a write fails: the turn must not be committed (M5)
   */
  run(entry: Entry): Concluded {
    const { command } = entry;
    const kind = actorKinds[command.to.actor];
    const key = kind.keyOf(command.to, this.#view);
    const before = this.#activations.get(kind, key) ?? this.#awake(kind, command);
    const { outcome, snapshot } = drive(kind.machine, before, { type: command.type, command, view: this.#view });
    const isDone = outcome.kind === "done";
    const effects = isDone ? this.#effectsOf(kind, command, outcome, { before, after: snapshot }) : [];
    const result: AskResult = isDone ? { kind: "ok", answer: outcome.answer ?? {} } : outcome;
    const deferred = isDone && outcome.answer === null ? command.ticket : null;
    const kept =
      isDone && outcome.keptAnswer !== undefined ? ok(outcome.keptAnswer) : deferred === null ? result : null;
    this.#apply(entry, effects, kept);
    return {
      key,
      keyAfter: kind.keyAfter(key, snapshot.context),
      snapshot,
      result,
      deferred,
      rest: restOf(entry, this.staged),
    };
  }

  #awake(kind: ActorKind, command: Command): PlainSnapshot {
    return kind.load(command.to, this.#view) ?? kind.initial(command.to);
  }

  #effectsOf(
    kind: ActorKind,
    command: Command,
    outcome: Done<unknown>,
    { before, after }: { before: PlainSnapshot; after: PlainSnapshot },
  ): readonly Effect[] {
    if (before === after) return outcome.effects;
    return [...outcome.effects, ...kind.save(command.to, before, after)];
  }

  /** The effects of a command, the end of its row and the answer under its key: all of it, or nothing. */
  #apply(entry: Entry, effects: readonly Effect[], kept: AskResult | null): void {
    const staged = this.staged;
    clearStage(staged, this.#turn);
    for (const effect of effects) stageEffect(effect, this.#turn, staged);
    for (const delta of staged.deltas) this.#projections.check(delta);
    if (staged.bytes > limits.turn_bytes_max) throw new Error(`${entry.command.type} writes ${staged.bytes} bytes`);
    const { source, claim } = entry;
    if (source.kind === "mailbox") stageRow(staged, "mailbox", source.sequence, restRow(staged, source.sequence));
    if (source.kind === "timer") stageRow(staged, "timers", [source.dueAt, source.sequence], null);
    const answers: KeptAnswer[] = [];
    const keep = (answer: KeptAnswer | null) => {
      if (answer !== null) answers.push(answer);
    };
    if (claim !== null && kept !== null) keep(this.#keys.answerToKeep(claim, kept));
    for (const { ticket, answer } of staged.replies) keep(this.#lateAnswer(ticket, ok(answer)));
    if (staged.writes.length + answers.length > 0) this.#write(staged.writes, answers);
  }

  #lateAnswer(ticket: Ticket, result: AskResult): KeptAnswer | null {
    const claim = this.#tickets.get(ticket)?.claim ?? null;
    return claim === null ? null : this.#keys.answerToKeep(claim, result);
  }

  #write(writes: readonly PreparedWrite[], answers: readonly KeptAnswer[]): void {
    const write = () => {
      for (const one of writes) this.#environment.write(one);
      for (const answer of answers) this.#keys.keep(answer, this.#turn.now);
    };
    try {
      // A volatile turn has no transaction.
      if (this.#environment.isWriting) write();
      else this.#environment.transaction(write);
    } catch (error) {
      throw new StoreFailed(error);
    }
  }

  /** The actor is now what the command made of it. */
  activate(command: Command, activated: Activated): void {
    this.#activations.set(actorKinds[command.to.actor], activated);
  }

  /**
   * A command that nobody waits for and that threw: its row counts the attempt, after the third it is a dead letter.
   * @returns the entry to try again, or null
   */
  keepForRetry(entry: Entry, error: unknown): Entry | null {
    const { command, source } = entry;
    const attempts = source.kind === "mailbox" ? source.attempts + 1 : 1;
    const sequence = source.kind === "mailbox" ? source.sequence : ++this.#turn.counters.sequence;
    const isDead = attempts >= limits.mailbox_attempts_max;
    this.#environment.transaction(() => {
      if (source.kind === "timer") this.#environment.remove("timers", [source.dueAt, source.sequence]);
      if (isDead) {
        const letter = { sequence, command, diedAt: this.#turn.now, error: String(error), attempts, delivery: null };
        this.#environment.remove("mailbox", sequence);
        this.#environment.put("deadLetters", sequence, letter);
      } else {
        this.#environment.put("mailbox", sequence, { sequence, command, attempts });
      }
    });
    return isDead ? null : { ...entry, source: { kind: "mailbox", sequence, attempts } };
  }
}

/** It takes the place of its command's row, if there was one: so it comes first after a crash, too (M3). */
function restOf({ source }: Entry, { rest }: Staged): Entry | null {
  if (rest === null) return null;
  const place: Source = source.kind === "mailbox" ? { ...source, attempts: 0 } : { kind: "told" };
  return { command: rest, source: place, settle: null, claim: null };
}

function restRow({ rest }: Staged, sequence: number): RowOf<"mailbox"> | null {
  return rest === null ? null : { sequence, command: rest, attempts: 0 };
}
