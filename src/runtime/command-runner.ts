/**
 * Runs one command inside a turn: loads its actor, lets the machine decide, and prepares the effects, the removal of
 * the command's row and the answer under its Idempotency-Key. Only then it writes them, so a faulty command fails
 * before its first write and is rejected alone: the transaction holds all of a command or nothing (M2, M6). Except for
 * the actor's snapshot nothing in memory changes: `run` returns what it wrote, and the dispatcher applies it (M9).
 */

import type { LRUCache } from "lru-cache";
import { type ActorKind, actorKinds } from "../../actors/kinds.ts";
import { type Command, type Done, type Effect, refuseCaller } from "../../actors/protocol/decision.ts";
import { type Driven, drive, type PlainSnapshot } from "../../actors/protocol/record-machines.ts";
import type { Ticket } from "../../schemas/answer.ts";
import { limits } from "../../schemas/limits.ts";
import type { RowOf } from "../../schemas/records.ts";
import type { Lmdb, PreparedWrite } from "../store/lmdb.ts";
import type { RealmProjections } from "../store/projections/realm-projections.ts";
import { boundedMap } from "./caches.ts";
import type { IdempotencyKeys, KeptAnswer } from "./idempotency.ts";
import type { QueuedCommand, Source } from "./queued-command.ts";
import type { RealmView, TurnState } from "./realm-view.ts";
import type { DeferredReplies } from "./replies.ts";
import { ok, type Reply } from "./results.ts";
import { Staged } from "./turn.ts";

/** An actor after a command: its key before and after (a conversation gets and loses its id), and its new snapshot. */
interface Activated {
  readonly key: string | null;
  readonly keyAfter: string | null;
  readonly snapshot: PlainSnapshot;
}

/**
 * Live actors as bounded LRU maps of plain snapshots (passivation). An evicted durable actor is restored from its row.
 * Volatile actors have their own map and lose their state when they are evicted.
 */
class Activations {
  readonly #durable = boundedMap<string, PlainSnapshot>(limits.activations_max);
  readonly #volatile = boundedMap<string, PlainSnapshot>(limits.volatile_activations_max);

  /** @param key null: the actor has no identity yet */
  get(kind: ActorKind, key: string | null): PlainSnapshot | undefined {
    return key === null ? undefined : this.#of(kind).get(key);
  }

  set(kind: ActorKind, { key, keyAfter, snapshot }: Activated): void {
    const snapshots = this.#of(kind);
    if (key !== null && key !== keyAfter) snapshots.delete(key);
    if (keyAfter !== null) snapshots.set(keyAfter, snapshot);
  }

  #of(kind: ActorKind): LRUCache<string, PlainSnapshot> {
    return kind.isVolatile ? this.#volatile : this.#durable;
  }
}

/** The result of a command, before it is applied to memory. */
export interface Concluded {
  readonly staged: Staged;
  readonly result: Reply;
  /** The ticket of a deferred reply, or null. */
  readonly deferred: Ticket | null;
  /** The command that continues this one, or null. */
  readonly rest: QueuedCommand | null;
}

/** A prepared row could not be written: the disk failed, so the turn and the process must end (M5). */
export class StoreFailed extends Error {
  constructor(cause: unknown) {
    super("the store could not write", { cause });
  }
}

export interface CommandRunnerOptions {
  readonly lmdb: Lmdb;
  readonly projections: RealmProjections;
  readonly view: RealmView;
  readonly turn: TurnState;
  readonly keys: IdempotencyKeys;
  readonly deferredReplies: DeferredReplies;
}

export class CommandRunner {
  readonly #activations = new Activations();
  readonly #lmdb: Lmdb;
  readonly #projections: RealmProjections;
  readonly #view: RealmView;
  readonly #turn: TurnState;
  readonly #keys: IdempotencyKeys;
  readonly #deferredReplies: DeferredReplies;

  constructor(options: CommandRunnerOptions) {
    this.#lmdb = options.lmdb;
    this.#projections = options.projections;
    this.#view = options.view;
    this.#turn = options.turn;
    this.#keys = options.keys;
    this.#deferredReplies = options.deferredReplies;
  }

  /**
   * Decides and writes.
   * @throws whatever the decision or the preparation throws; nothing has been written then (M6)
   * @throws StoreFailed when a write fails: the turn must not be committed (M5)
   */
  run(queued: QueuedCommand): Concluded {
    const { command } = queued;
    const kind = actorKinds[command.to.actor];
    const key = kind.keyOf(command.to, this.#view);
    const before = this.#activations.get(kind, key) ?? this.#activate(kind, command);
    const { outcome, snapshot } = this.#decide(kind, command, before);
    const isDone = outcome.kind === "done";
    const effects = isDone ? this.#effectsOf(kind, command, outcome, { before, after: snapshot }) : [];
    const result: Reply = isDone ? { kind: "ok", answer: outcome.answer ?? {} } : outcome;
    const deferred = isDone && outcome.answer === null ? command.ticket : null;
    const kept =
      isDone && outcome.keptAnswer !== undefined ? ok(outcome.keptAnswer) : deferred === null ? result : null;
    const staged = this.#stage(queued, effects);
    const answers = this.#answersToKeep(queued, kept, effects);
    const keyAfter = kind.keyAfter(key, snapshot.context);
    if (staged.writes.length + answers.length > 0) this.#write(staged.writes, answers);
    this.#activations.set(kind, { key, keyAfter, snapshot });
    return { staged, result, deferred, rest: restOf(queued, staged) };
  }

  #decide(kind: ActorKind, command: Command, before: PlainSnapshot): Driven {
    const refused = refuseCaller(command, this.#view);
    if (refused !== null) return { outcome: refused, snapshot: before };
    return drive(kind.machine, before, { type: command.type, command, view: this.#view });
  }

  #activate(kind: ActorKind, command: Command): PlainSnapshot {
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

  /** Prepares the command's effects and the removal of its row. */
  #stage({ command, source }: QueuedCommand, effects: readonly Effect[]): Staged {
    const staged = new Staged(effects, this.#turn);
    for (const delta of staged.deltas) this.#projections.check(delta);
    if (staged.bytes > limits.turn_bytes_max) throw new Error(`${command.type} writes ${staged.bytes} bytes`);
    if (source.kind === "mailbox") staged.row("mailbox", source.sequence, restRow(staged, source.sequence));
    if (source.kind === "timer") staged.row("timers", [source.dueAt, source.sequence], null);
    return staged;
  }

  /** The command's own answer, and those to earlier requests, where they have an Idempotency-Key. */
  #answersToKeep(
    { idempotencyKey }: QueuedCommand,
    kept: Reply | null,
    effects: readonly Effect[],
  ): readonly KeptAnswer[] {
    const answers: KeptAnswer[] = [];
    const own = idempotencyKey === null || kept === null ? null : this.#keys.answerToKeep(idempotencyKey, kept);
    if (own !== null) answers.push(own);
    for (const effect of effects) {
      const late = effect.kind === "reply" ? this.#lateAnswer(effect.ticket, ok(effect.answer)) : null;
      if (late !== null) answers.push(late);
    }
    return answers;
  }

  #lateAnswer(ticket: Ticket, result: Reply): KeptAnswer | null {
    const idempotencyKey = this.#deferredReplies.get(ticket)?.idempotencyKey ?? null;
    return idempotencyKey === null ? null : this.#keys.answerToKeep(idempotencyKey, result);
  }

  #write(writes: readonly PreparedWrite[], answers: readonly KeptAnswer[]): void {
    const write = () => {
      for (const one of writes) this.#lmdb.write(one);
      for (const answer of answers) this.#keys.keep(answer, this.#turn.now);
    };
    try {
      // A volatile turn has no open transaction.
      if (this.#lmdb.isWriting) write();
      else this.#lmdb.transaction(write);
    } catch (error) {
      throw new StoreFailed(error);
    }
  }

  /**
   * A command without a waiting request threw: count the attempt in its row, and move it to the dead letters after the
   * third.
   * @returns the command to try again, or null
   */
  keepForRetry(queued: QueuedCommand, error: unknown): QueuedCommand | null {
    const { command, source } = queued;
    const attempts = source.kind === "mailbox" ? source.attempts + 1 : 1;
    const sequence = source.kind === "mailbox" ? source.sequence : ++this.#turn.counters.sequence;
    const isDead = attempts >= limits.mailbox_attempts_max;
    this.#lmdb.transaction(() => {
      if (source.kind === "timer") this.#lmdb.remove("timers", [source.dueAt, source.sequence]);
      if (isDead) {
        const letter = { sequence, command, diedAt: this.#turn.now, error: String(error), attempts, delivery: null };
        this.#lmdb.remove("mailbox", sequence);
        this.#lmdb.put("deadLetters", sequence, letter);
      } else {
        this.#lmdb.put("mailbox", sequence, { sequence, command, attempts });
      }
    });
    return isDead ? null : { ...queued, source: { kind: "mailbox", sequence, attempts } };
  }
}

/** The rest of a command replaces its row, if it had one, so it also runs first after a crash (M3). */
function restOf({ source }: QueuedCommand, { rest }: Staged): QueuedCommand | null {
  if (rest === null) return null;
  const place: Source = source.kind === "mailbox" ? { ...source, attempts: 0 } : { kind: "sent" };
  return { command: rest, source: place, resolve: null, idempotencyKey: null };
}

function restRow({ rest }: Staged, sequence: number): RowOf<"mailbox"> | null {
  return rest === null ? null : { sequence, command: rest, attempts: 0 };
}
