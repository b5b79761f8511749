/**
 * A realm's command queue and its turns. A turn is all or nothing: the commands that arrived since the last turn are
 * decided and written one by one (each is prepared completely before its first write), and become one record of the
 * journal. Its events are published and its replies resolved in memory; they leave through the gate when the record is
 * durable (M1, M2). Commands form one total order (M7): a command that an actor sends
 * is appended to the queue. Commands beyond a turn's budget stay queued, and those that a crash would lose are written
 * to the mailbox first (M3). If a turn cannot be written, no reply is sent and the process ends (M5).
 */
import { abandonmentOf } from "../../actors/abandonment.ts";
import type { Command, CommandType, Effect, ReplyOf } from "../../actors/protocol/decision.ts";
import type { Ticket } from "../../schemas/answer.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { DurabilityGate } from "../durability/journal/durability-gate.ts";
import type { Lmdb } from "../store/lmdb.ts";
import type { Delta, Follower } from "../store/projections/projection.ts";
import type { RealmProjections } from "../store/projections/realm-projections.ts";
import { Batches } from "./batches.ts";
import { type Clock, RealmTime, timesOf } from "./clock.ts";
import { CommandQueue, isVolatile, type TurnKind } from "./command-queue.ts";
import { CommandRunner, type Concluded, StoreFailed } from "./command-runner.ts";
import { DurableTimers, nextDueIn } from "./durable-timers.ts";
import { IdempotencyKeys } from "./idempotency.ts";
import { type IdempotencyKey, type QueuedCommand, sentCommand } from "./queued-command.ts";
import { RealmCounters } from "./realm-counters.ts";
import { RealmView, type TurnState } from "./realm-view.ts";
import { DeferredReplies, InFlightRequests } from "./replies.ts";
import { ok, type Reply } from "./results.ts";
import {
  type Alarm,
  type DispatcherOptions,
  type EventSink,
  type Observers,
  orEnd,
  type Staged,
  TurnOutputs,
  type TurnWatch,
} from "./turn.ts";
import { VolatileTimers } from "./volatile-timers.ts";

/** If fewer leased positions are left, the lease is renewed before another one is taken. */
const positionsLeft_min = 1000;

/** Interval at which a full disk is checked again for the server's own commands. */
const diskRetryMs = 1000;

export type { Alarm, Delta, EventSink };

export class Dispatcher {
  readonly view: RealmView;
  readonly volatileTimers: VolatileTimers;
  readonly realmCounters: RealmCounters;
  readonly batches: Batches;
  readonly inFlightRequests: InFlightRequests;
  readonly #lmdb: Lmdb;
  readonly #gate: DurabilityGate;
  readonly #projections: RealmProjections;
  readonly #clock: Clock;
  readonly #time: RealmTime;
  readonly #alarm: Alarm;
  readonly #acceptsWrites: () => boolean;
  readonly #outputs: TurnOutputs;
  readonly #turn: TurnState;
  readonly #runner: CommandRunner;
  readonly #queue = new CommandQueue();
  readonly #deferredReplies: DeferredReplies;
  readonly #timers: DurableTimers;
  /** Each delta goes to all of them, in this order: whatever reads a projection or a cache comes after it. */
  readonly #followers: readonly Follower[];
  readonly #turnWatch: TurnWatch | null;
  /** The last command of the turn. */
  #last: Command | null = null;
  #isScheduled = false;
  #isInTurn = false;
  #isClosed = false;
  readonly #idleWaiters: (() => void)[] = [];
  /** Runs before everything else in the next turn: a mailbox row that threw, or the rest of a command (M7). */
  #first: QueuedCommand | null = null;
  /** The last mailbox row in the queue; null when all of them are. */
  #recoveredUpTo: number | null = null;

  constructor(options: DispatcherOptions) {
    this.#lmdb = options.lmdb;
    this.#gate = options.gate;
    this.#projections = options.projections;
    this.#clock = options.clock;
    this.#alarm = options.alarm;
    this.#acceptsWrites = options.acceptsWrites;
    this.#turnWatch = options.turnWatch ?? null;
    this.realmCounters = RealmCounters.open(options.lmdb, options.acceptsWrites());
    this.#turn = this.realmCounters.turn;
    this.#time = new RealmTime(options.clock, this.realmCounters.mark, options.alarm.warn);
    const times = timesOf(this.#time, this.#turn, () => this.#isInTurn);
    const { lmdb, projections, gate } = options;
    this.view = new RealmView({ lmdb, projections, turn: this.#turn, times, gate });
    this.volatileTimers = new VolatileTimers(options.clock);
    this.#deferredReplies = new DeferredReplies(this.volatileTimers);
    const keys = new IdempotencyKeys(options.lmdb);
    this.inFlightRequests = new InFlightRequests(keys);
    const shared = { lmdb, projections, view: this.view, turn: this.#turn };
    this.#runner = new CommandRunner({ ...shared, keys, deferredReplies: this.#deferredReplies });
    this.#outputs = new TurnOutputs(options);
    this.#followers = [options.projections, ...this.view.followers, this.#outputs];
    const { volatileTimers } = this;
    this.batches = new Batches({ volatileTimers, acceptsWrites: options.acceptsWrites, send: (one) => this.send(one) });
    const clock = { now: () => this.#time.due(), after: options.clock.after.bind(options.clock) };
    this.#timers = new DurableTimers(options.lmdb, clock, (queued) => this.#enqueue(queued));
    this.#recover(0);
    this.#timers.arm();
  }

  /** An operator confirmed the clock: stop waiting for its jump to last. */
  trustClock(): void {
    this.#time.trust();
  }

  get observers(): Observers {
    return this.#outputs.observers;
  }

  /** Sets the hub that publishes events. Called once, before the first command. */
  attach(sink: EventSink): void {
    this.#outputs.attach(sink);
  }

  /** Mailbox rows of the previous run are queued first, in their order (M3, M7), up to the queue's bound at a time. */
  #recover(after: number): void {
    const limit = limits.queued_commands_max;
    const rows = this.#lmdb.rows("mailbox", { start: after + 1, limit });
    for (const { row } of rows) {
      const source = { kind: "mailbox", sequence: row.sequence, attempts: row.attempts } as const;
      this.#enqueue({ command: row.command as Command, source, resolve: null, idempotencyKey: null });
    }
    this.#recoveredUpTo = rows.length < limit ? null : (rows.at(-1)?.key ?? null);
  }

  /** Sends a command to an actor and resolves with its reply, as its type declares it. Never rejects. */
  ask<T extends CommandType>(command: Command<T>, key: IdempotencyKey | null = null): Promise<Reply<ReplyOf<T>>> {
    return new Promise((resolve) => {
      const answer = resolve as (reply: Reply) => void; // tests compare replies with their declaration
      const refused = this.#refusal(command);
      if (refused !== null && key === null) {
        answer(refused);
        return;
      }
      const answerAll = key === null ? answer : this.inFlightRequests.admit(key, this.view.now, refused, answer);
      if (answerAll === null) return;
      const ticketed = { ...command, ticket: this.#deferredReplies.next() };
      this.#enqueue({ command: ticketed, source: { kind: "requested" }, resolve: answerAll, idempotencyKey: key });
    });
  }

  /** Queues a command of the server itself. It is written to the mailbox if its turn does not reach it. */
  send(command: Command): void {
    if (!this.#isClosed) this.#enqueue(sentCommand(command));
  }

  #refusal(command: Command): Reply | null {
    if (this.#isClosed) return refuse.shuttingDown();
    if (this.#queue.length >= limits.queued_commands_max) return refuse.overloaded();
    if (!isVolatile(command) && !this.#acceptsWrites()) return refuse.storeRefusesWrites();
    return null;
  }

  #enqueue(queued: QueuedCommand): void {
    this.#queue.push(queued);
    this.#schedule();
  }

  /** Commands that arrive in one iteration of the event loop form one turn (pitfalls 2.4). */
  #schedule(): void {
    if (this.#isScheduled || this.#isInTurn || this.#queue.length === 0) return;
    this.#isScheduled = true;
    // Where the disk is too far behind, commands wait, and when the queue is full, requests get OVERLOADED.
    const begin = () => {
      if (this.#gate.hasRoom || this.#queue.isVolatile) {
        this.#isScheduled = false;
        this.#runTurn();
      } else this.#gate.onceRoom(begin);
    };
    const { passes } = this.#gate;
    if (passes === null) this.#clock.soon(begin);
    else passes.add(begin);
  }

  #runTurn(): void {
    this.#checkDiskSpace();
    if (this.#queue.length === 0) {
      this.#wakeIdle();
      return;
    }
    const startedAt = this.#clock.monotonic();
    this.#isInTurn = true;
    const { isRequested } = this.#queue;
    this.realmCounters.begin(this.#time, this.#timers.firedUpTo, isRequested);
    const isVolatileTurn = this.#queue.isVolatile && !this.realmCounters.needsCeiling();
    const kind = { isVolatileTurn, isIdle: this.view.isIdle, isRequested: isRequested };
    try {
      if (isVolatileTurn) this.#runQueue(kind);
      else {
        this.#lmdb.transaction(() => {
          this.#runQueue(kind);
          this.#spill();
          this.realmCounters.write();
        });
      }
    } catch (error) {
      this.#alarm.fatal(error);
    }
    this.view.turnEnded();
    this.#isInTurn = false;
    orEnd(this.#alarm, () => this.#finishTurn());
    this.#turnWatch?.ended(this.#clock.monotonic() - startedAt, this.#last, this.#alarm.warn);
  }

  /** M5: while the disk is nearly full, writes are rejected, and the server's own commands wait for space, then for room. */
  #checkDiskSpace(): void {
    if (!this.#acceptsWrites()) this.#queue.setAsideWrites((queued) => queued.resolve?.(refuse.storeRefusesWrites()));
    else if (this.#gate.hasRoom) this.#queue.restoreDeferred();
    if (this.#queue.deferredLength === 0) return;
    this.volatileTimers.set("disk:retry", diskRetryMs, () => {
      if (!this.#isScheduled) this.#runTurn();
    });
  }

  #runQueue(kind: TurnKind): void {
    let startedAt = this.#clock.monotonic();
    let bytes = 0;
    for (let taken = 0; taken < limits.turn_commands_max && bytes < limits.turn_bytes_budget; taken++) {
      const queued = this.#queue.next(kind, this.#first);
      if (queued === null) break;
      const continued = this.#first;
      bytes += this.#process(queued);
      this.#last = queued.command;
      // Commands that may run between the slices of a long one have a budget of their own.
      if (this.#first !== continued) startedAt = this.#clock.monotonic();
      else if (this.#clock.monotonic() - startedAt > limits.turn_budget_ms) break;
    }
    this.#queue.endTurn(this.#first);
    this.#first = null;
  }

  /** Unreached commands of actors were accepted, so they must survive a crash (M3). Volatile ones need not (E4). */
  #spill(): void {
    for (const queued of this.#queue.commands) {
      if (queued.source.kind !== "sent" || isVolatile(queued.command)) continue;
      const sequence = ++this.#turn.counters.sequence;
      this.#lmdb.put("mailbox", sequence, { sequence, command: queued.command, attempts: 0 });
      queued.source = { kind: "mailbox", sequence, attempts: 0 };
    }
  }

  /** @returns the number of bytes written */
  #process(queued: QueuedCommand): number {
    const concluded = this.#attempt(queued);
    if (concluded === null) return 0;
    // Memory now follows the writes. An error from here on would make them diverge, so it ends the process (M5, M9).
    const { staged, rest, deferred, result } = concluded;
    this.#remember(staged);
    if (rest !== null) this.#first = rest;
    if (queued.source.kind === "timer") this.#timers.finished(queued.source.dueAt, queued.source.sequence);
    if (deferred !== null) this.#deferredReplies.wait(deferred, queued);
    else if (queued.resolve !== null) this.#outputs.resolve(queued.resolve, result);
    return staged.bytes;
  }

  #attempt(queued: QueuedCommand): Concluded | null {
    try {
      return this.#runner.run(queued);
    } catch (error) {
      if (error instanceof StoreFailed) throw error;
      this.#fail(queued, error);
      return null;
    }
  }

  /** M9: memory is updated right after the command's writes. */
  #remember(staged: Staged): void {
    this.#turn.counters.sequence = staged.sequence;
    this.#turn.position = staged.position;
    this.realmCounters.grew(staged.eventBytes);
    for (const effect of staged.effects) this.#applyToMemory(effect);
    for (const delta of staged.deltas) for (const follower of this.#followers) follower.apply(delta);
    for (const event of staged.events) this.#outputs.stage(event);
    if (staged.earliestTimer !== null) this.#timers.scheduled(staged.earliestTimer);
  }

  /** Effects without a row. Rows and events are in the other lists of `Staged`. */
  #applyToMemory(effect: Effect): void {
    switch (effect.kind) {
      case "setCounter":
        this.#turn.counters[effect.counter] = effect.last;
        this.view.counterSet(effect.counter);
        return;
      case "updatePresence":
        this.#projections.apply({ table: "presence", key: effect.row.userId, row: effect.row });
        this.batches.presenceChanged(effect.row);
        return;
      case "send":
        this.#queue.push(sentCommand(effect.command));
        return;
      case "setVolatileTimer":
        this.volatileTimers.set(effect.name, effect.afterMs, () => this.send(effect.command));
        return;
      case "reply":
        this.#resolveTicket(effect.ticket, ok(effect.answer));
        return;
      case "discard":
        this.#outputs.discard(effect.file);
    }
  }

  #resolveTicket(ticket: Ticket, result: Reply): void {
    const resolve = this.#deferredReplies.take(ticket)?.resolve ?? null;
    if (resolve !== null) this.#outputs.resolve(resolve, result);
  }

  /** M6: a command that throws is rejected alone; a mailbox row is tried up to three times. */
  #fail(queued: QueuedCommand, error: unknown): void {
    this.#alarm.bug(error, queued.command);
    if (queued.resolve !== null) this.#outputs.resolve(queued.resolve, refuse.internalError());
    else if (!isVolatile(queued.command)) {
      this.#first = this.#runner.keepForRetry(queued, error);
      if (this.#first === null) this.#abandon(queued.command);
    }
    if (queued.source.kind === "timer") this.#timers.finished(queued.source.dueAt, queued.source.sequence);
  }

  #abandon(dead: Command): void {
    this.#alarm.warn(`${dead.type} failed too often and is a dead letter now: see "cli dead-letters list"`);
    const { tickets, boot, notification } = abandonmentOf(dead);
    if (notification !== null) this.#queue.push(sentCommand(notification));
    if (boot !== this.view.counter("boot")) return;
    for (const ticket of tickets) this.#resolveTicket(ticket, refuse.internalError());
  }

  /** The turn is in memory and in the journal. Its events are handed out first, then its answers; all pass the gate. */
  #finishTurn(): void {
    this.#outputs.handOut();
    const isQueueEmpty = this.#queue.length === 0 && this.#queue.deferredLength === 0;
    if (isQueueEmpty && this.#recoveredUpTo !== null) this.#recover(this.#recoveredUpTo);
    // At a shutdown, commands that are stored in rows continue at the next start.
    if (this.#isClosed && this.#queue.isSafe) this.#queue.clear();
    this.#schedule();
    if (this.#queue.length === 0) this.#wakeIdle();
  }

  #wakeIdle(): void {
    for (const waiter of this.#idleWaiters.splice(0)) this.#gate.waitFor(waiter);
  }

  /** Runs maintenance (pruning) in its own transaction. A failure ends the process (M5); a damaged row rolls back. */
  maintain(work: () => void): void {
    if (this.#isInTurn || this.#isClosed || !this.#gate.hasRoom || !this.#acceptsWrites()) return;
    this.#writeAlone(() => {
      work();
      this.realmCounters.write();
    });
  }

  #writeAlone(work: () => void): void {
    orEnd(this.#alarm, () => this.#lmdb.transaction(work));
  }

  /** Takes a position for an event without a command (heartbeats). Renewing the lease writes one page (E1). */
  takePosition(): number {
    const isShort = this.realmCounters.leaseLeft() < positionsLeft_min;
    if (isShort && !this.#isClosed) this.#writeAlone(() => this.realmCounters.write());
    return this.#turn.position++;
  }

  /** When the next durable timer is due; 0 if anything is queued or unwritten; null if there is neither. */
  get nextDueAt(): number | null {
    const isAtRest = this.#queue.length + this.#queue.deferredLength === 0 && this.batches.isWritten;
    return isAtRest ? nextDueIn(this.#lmdb) : 0;
  }

  get queueLength(): number {
    return this.#queue.length;
  }

  /** Resolves when the queue is empty, and everything that the turns wrote is durable. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#queue.length === 0 && !this.#isInTurn) this.#gate.waitFor(resolve);
      else this.#idleWaiters.push(resolve);
    });
  }

  /** Rejects new requests, finishes what is queued, stops timers (at once at rest). Rows continue at the next start. */
  async close(): Promise<void> {
    this.batches.flush();
    this.#isClosed = true;
    if (this.#queue.length > 0 || this.#isInTurn) await this.idle();
    this.#deferredReplies.refuseAll();
    this.volatileTimers.stop();
    this.#timers.stop();
  }
}
