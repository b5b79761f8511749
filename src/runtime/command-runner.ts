/**
 * Runs one command inside a turn: wakes its actor, lets the machine decide, and writes the effects, the end of the command's
 * row and the answer under its key in one nested transaction, which rolls back alone when anything throws (M2, M6). What
 * follows for memory is left in `staged`; nothing in memory has changed when `run` returns or throws (M9).
 */
import type { AnyMachineSnapshot } from "xstate";
import type { Command } from "../../actors/commands.ts";
import type { Done } from "../../actors/decide.ts";
import type { Effect, Ticket } from "../../actors/effects.ts";
import { type ActorKind, actorKinds } from "../../actors/kinds.ts";
import { limits } from "../../schemas/limits.ts";
import type { Environment } from "../store/environment.ts";
import type { RealmProjections } from "../store/projections/realm-projections.ts";
import { type Activated, Activations } from "./activations.ts";
import { applyEffect, clearStage, isDurable, newStage } from "./effects-applier.ts";
import { type AskResult, type Entry, ok } from "./entry.ts";
import type { IdempotencyKeys } from "./idempotency.ts";
import { drive, plain, restore } from "./machines.ts";
import type { RealmView, TurnState } from "./realm-view.ts";
import type { Tickets } from "./tickets.ts";

/** What a command came to, until memory has followed. */
export interface Concluded extends Activated {
  readonly result: AskResult;
  /** The ticket under which the answer comes later, or null. */
  readonly deferred: Ticket | null;
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
   * Decides and applies in a nested transaction.
   * @throws whatever the decision or a write throws, after rolling back (M6)
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
    return { key, keyAfter: kind.keyAfter(key, snapshot.context), snapshot, result, deferred };
  }

  #awake(kind: ActorKind, command: Command): AnyMachineSnapshot {
    return restore(kind.machine, kind.load(command.to, this.#view) ?? kind.initial(command.to));
  }

  #effectsOf(
    kind: ActorKind,
    command: Command,
    outcome: Done<unknown>,
    { before, after }: { before: AnyMachineSnapshot; after: AnyMachineSnapshot },
  ): readonly Effect[] {
    if (before.context === after.context && before.value === after.value) return outcome.effects;
    return [...outcome.effects, ...kind.save(command.to, plain(before), plain(after))];
  }

  /** The effects of a command, the end of its row and the answer under its key: all in one nested transaction, or not at all. */
  #apply(entry: Entry, effects: readonly Effect[], kept: AskResult | null): void {
    const staged = this.staged;
    clearStage(staged, this.#turn);
    const { source, claim } = entry;
    const isRow = source.kind === "mailbox" || source.kind === "timer";
    const keeps = claim !== null && kept !== null;
    const apply = () => {
      for (const effect of effects) applyEffect(effect, this.#environment, this.#turn, staged);
      for (const delta of staged.deltas) this.#projections.check(delta);
      if (staged.bytes > limits.turn_bytes_max) throw new Error(`${entry.command.type} writes ${staged.bytes} bytes`);
      if (source.kind === "mailbox") this.#environment.remove("mailbox", source.sequence);
      if (source.kind === "timer") this.#environment.remove("timers", [source.dueAt, source.sequence]);
      if (keeps) this.#keys.keep(claim, kept, this.#turn.now);
      for (const reply of staged.replies) this.#keepLate(reply.ticket, ok(reply.answer));
    };
    if (isRow || keeps || effects.some(isDurable)) this.#environment.transaction(apply);
    else apply();
  }

  #keepLate(ticket: Ticket, result: AskResult): void {
    const claim = this.#tickets.get(ticket)?.claim ?? null;
    if (claim !== null) this.#keys.keep(claim, result, this.#turn.now);
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
        const letter = { sequence, command, diedAt: this.#turn.now, error: String(error) };
        this.#environment.remove("mailbox", sequence);
        this.#environment.put("deadLetters", sequence, letter);
      } else {
        this.#environment.put("mailbox", sequence, { sequence, command, attempts });
      }
    });
    return isDead ? null : { ...entry, source: { kind: "mailbox", sequence, attempts } };
  }
}
