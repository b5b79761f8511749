/**
 * One realm's line of commands and its turns (architecture, idea 3). A turn is one transaction: commands that arrived
 * since the last one are decided and written one by one (each prepared whole before its first write), then flushed once;
 * only then are replies settled and events published (M1, M2). Commands form one total order (M7): the line is a queue,
 * whoever tells goes to its back. What a turn's budget does not reach stays in the line; what was told and would be lost
 * is written to the mailbox first (M3). If a commit fails, nobody gets an answer and the process ends (M5).
 */
import { abandonmentOf } from "../../actors/abandonment.ts";
import type { Command } from "../../actors/commands.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { damageIn } from "../store/damage.ts";
import type { Environment } from "../store/environment.ts";
import type { Delta } from "../store/projections/projection.ts";
import type { RealmProjections } from "../store/projections/realm-projections.ts";
import type { Alarm } from "./alarm.ts";
import { Batches } from "./batches.ts";
import { Claims } from "./claims.ts";
import type { Clock } from "./clock.ts";
import { CommandRunner, type Concluded, StoreFailed } from "./command-runner.ts";
import { DurableTimers, nextDueIn } from "./durable-timers.ts";
import type { Staged } from "./effects-applier.ts";
import { type AskResult, type Entry, type IdempotencyClaim, ok } from "./entry.ts";
import type { EventSink } from "./event-sink.ts";
import { IdempotencyKeys } from "./idempotency.ts";
import { Ledger } from "./ledger.ts";
import { isVolatile, Line, type TurnKind } from "./line.ts";
import { Observers } from "./observers.ts";
import { RealmTime } from "./realm-time.ts";
import { RealmView, type TurnState } from "./realm-view.ts";
import { Tickets } from "./tickets.ts";
import { timesOf } from "./turn-times.ts";
import { TimerWheel } from "./wheel.ts";

/** With fewer leased positions left, the lease is renewed before one more is taken. */
const positionsLeft_min = 1000;

/** How often a full disk is looked at again for the server's own commands. */
const diskRetryMs = 1000;

export type { Alarm, Delta, EventSink };

export interface DispatcherOptions {
  readonly environment: Environment;
  readonly projections: RealmProjections;
  readonly clock: Clock;
  readonly alarm: Alarm;
  /** Whether there is room on the disk (M5). */
  readonly acceptsWrites: () => boolean;
  /** Removes a file that no row on disk claims any more. */
  readonly discard: (file: string) => void;
}

export class Dispatcher {
  readonly view: RealmView;
  readonly wheel: TimerWheel;
  readonly ledger: Ledger;
  readonly batches: Batches;
  readonly claims: Claims;
  readonly observers = new Observers();
  readonly #environment: Environment;
  readonly #projections: RealmProjections;
  readonly #clock: Clock;
  readonly #time: RealmTime;
  readonly #alarm: Alarm;
  readonly #acceptsWrites: () => boolean;
  readonly #discard: (file: string) => void;
  readonly #turn: TurnState;
  readonly #runner: CommandRunner;
  readonly #line = new Line();
  readonly #tickets: Tickets;
  readonly #timers: DurableTimers;
  #sink: EventSink = { changed: () => undefined, stage: () => undefined, publish: () => undefined };
  #isScheduled = false;
  #isInTurn = false;
  #isClosed = false;
  #settlements: (() => void)[] = [];
  #idleWaiters: (() => void)[] = [];
  /** Comes before everything else, in the next turn: a row of the mailbox that threw, or the rest of a command (M7). */
  #first: Entry | null = null;
  /** The last mailbox row that is in the line; null: all are. */
  #recoveredUpTo: number | null = null;

  constructor(options: DispatcherOptions) {
    this.#environment = options.environment;
    this.#projections = options.projections;
    this.#clock = options.clock;
    this.#alarm = options.alarm;
    this.#acceptsWrites = options.acceptsWrites;
    this.#discard = options.discard;
    this.ledger = Ledger.open(options.environment);
    this.#turn = this.ledger.turn;
    this.#time = new RealmTime(options.clock, this.ledger.mark, options.alarm.warn);
    this.view = new RealmView(
      options.environment,
      options.projections,
      this.#turn,
      timesOf(this.#time, this.#turn, () => this.#isInTurn),
    );
    this.wheel = new TimerWheel(options.clock);
    this.#tickets = new Tickets(this.wheel);
    const keys = new IdempotencyKeys(options.environment);
    this.claims = new Claims(keys);
    this.#runner = new CommandRunner({
      environment: options.environment,
      projections: options.projections,
      view: this.view,
      turn: this.#turn,
      keys,
      tickets: this.#tickets,
    });
    const { acceptsWrites } = options;
    this.batches = new Batches({ wheel: this.wheel, acceptsWrites, tell: (persist) => this.tell(persist) });
    const timerClock = { now: () => this.#time.due(), after: options.clock.after.bind(options.clock) };
    this.#timers = new DurableTimers(options.environment, timerClock, (entry) => this.#enqueue(entry));
    this.#recover(0);
    this.#timers.arm();
  }

  /** An operator says that the clock is right: nothing waits for it to last any more. */
  trustClock(): void {
    this.#time.trust();
  }

  /** The hub that publishes; set once, before the first command. */
  attach(sink: EventSink): void {
    this.#sink = sink;
  }

  /** Mailbox rows of before go first, in their order (M3, M7), as many as the line takes at a time. */
  #recover(after: number): void {
    const limit = limits.queued_commands_max;
    const rows = this.#environment.rows("mailbox", { start: after + 1, limit });
    for (const { row } of rows) {
      const source = { kind: "mailbox", sequence: row.sequence, attempts: row.attempts } as const;
      this.#enqueue({ command: row.command as Command, source, settle: null, claim: null });
    }
    this.#recoveredUpTo = rows.length < limit ? null : (rows.at(-1)?.key ?? null);
  }

  /** Asks an actor and waits for its answer. Never rejects. */
  ask(command: Command, claim: IdempotencyClaim | null = null): Promise<AskResult> {
    return new Promise((settle) => {
      const refused = this.#refusal(command);
      if (refused !== null && claim === null) {
        settle(refused);
        return;
      }
      const settleAll = claim === null ? settle : this.claims.admit(claim, this.view.now, refused, settle);
      if (settleAll === null) return;
      const ticketed = { ...command, ticket: this.#tickets.next() };
      this.#enqueue({ command: ticketed, source: { kind: "asked" }, settle: settleAll, claim });
    });
  }

  /** Puts a command of the server itself into the line; it becomes durable if its turn does not reach it. */
  tell(command: Command): void {
    if (!this.#isClosed) this.#enqueue({ command, source: { kind: "told" }, settle: null, claim: null });
  }

  #refusal(command: Command): AskResult | null {
    if (this.#isClosed) return refuse.shuttingDown();
    if (this.#line.length >= limits.queued_commands_max) return refuse.overloaded();
    if (!isVolatile(command) && !this.#acceptsWrites()) return refuse.storeRefusesWrites();
    return null;
  }

  #enqueue(entry: Entry): void {
    this.#line.push(entry);
    this.#schedule();
  }

  /** What arrives in one pass of the loop makes one turn (pitfalls 2.4). */
  #schedule(): void {
    if (this.#isScheduled || this.#isInTurn || this.#line.length === 0) return;
    this.#isScheduled = true;
    this.#clock.soon(() => {
      this.#isScheduled = false;
      this.#runTurn();
    });
  }

  #runTurn(): void {
    this.#minDiskSpace();
    if (this.#line.length === 0) {
      this.#wakeIdle();
      return;
    }
    this.#isInTurn = true;
    const { isAsked } = this.#line;
    this.ledger.begin(this.#time, this.#timers.rungUpTo, isAsked);
    const isVolatileTurn =
      this.#line.entries.every(({ command }) => isVolatile(command)) && !this.ledger.needsCeiling();
    const kind = { isVolatileTurn, isQuiet: this.view.isQuiet, isAsked };
    try {
      if (isVolatileTurn) this.#runLine(kind);
      else {
        this.#environment.transaction(() => {
          this.#runLine(kind);
          this.#spill();
          this.ledger.write();
        });
      }
    } catch (error) {
      this.#alarm.fatal(error);
    }
    this.#isInTurn = false;
    this.#afterFlush();
  }

  /** M5: with the disk nearly full, requests that write are refused; the server's own commands wait for space. */
  #minDiskSpace(): void {
    if (this.#acceptsWrites()) {
      this.#line.restoreHeld();
      return;
    }
    this.#line.setAsideWrites((entry) => entry.settle?.(refuse.storeRefusesWrites()));
    if (this.#line.heldLength > 0) this.wheel.set("disk:retry", diskRetryMs, () => this.#runTurn());
  }

  #runLine(kind: TurnKind): void {
    const startedAt = this.#clock.monotonic();
    let bytes = 0;
    for (let taken = 0; taken < limits.turn_commands_max && bytes < limits.turn_bytes_budget; taken++) {
      const entry = this.#line.next(kind);
      if (entry === null) break;
      bytes += this.#process(entry);
      if (this.#first !== null || this.#clock.monotonic() - startedAt > limits.turn_budget_ms) break;
    }
    this.#line.endTurn(this.#first);
    this.#first = null;
  }

  /** Told commands that this turn did not reach are accepted: they must survive (M3). Volatile ones need not (E4). */
  #spill(): void {
    for (const entry of this.#line.entries) {
      if (entry.source.kind !== "told" || isVolatile(entry.command)) continue;
      const sequence = ++this.#turn.counters.sequence;
      this.#environment.put("mailbox", sequence, { sequence, command: entry.command, attempts: 0 });
      entry.source = { kind: "mailbox", sequence, attempts: 0 };
    }
  }

  /** @returns bytes written */
  #process(entry: Entry): number {
    const concluded = this.#attempt(entry);
    if (concluded === null) return 0;
    // Memory follows what was written: an error from here on would leave them different, and ends the process (M5, M9).
    this.#remember(this.#runner.staged);
    this.#runner.activate(entry.command, concluded);
    this.#first = concluded.rest;
    if (entry.source.kind === "timer") this.#timers.finished(entry.source.dueAt, entry.source.sequence);
    if (concluded.deferred !== null) this.#tickets.wait(concluded.deferred, entry);
    else if (entry.settle !== null) this.#settleLater(entry.settle, concluded.result);
    return this.#runner.staged.bytes;
  }

  #attempt(entry: Entry): Concluded | null {
    try {
      return this.#runner.run(entry);
    } catch (error) {
      if (error instanceof StoreFailed) throw error;
      this.#fail(entry, error);
      return null;
    }
  }

  /** M9: memory follows right after the command's writes. */
  #remember(staged: Staged): void {
    const turn = this.#turn;
    for (const [counter, last] of staged.counters) turn.counters[counter] = last;
    turn.counters.sequence = staged.sequence;
    turn.position = staged.position;
    this.ledger.grew(staged.eventBytes);
    for (const delta of staged.deltas) {
      this.#projections.apply(delta);
      this.view.apply(delta);
      this.#tellSink(() => this.#sink.changed(delta));
      this.observers.note(delta);
    }
    for (const row of staged.presences) {
      this.#projections.apply({ table: "presence", key: row.userId, row });
      this.batches.presenceChanged(row);
    }
    for (const event of staged.events) this.#tellSink(() => this.#sink.stage(event));
    for (const command of staged.tells)
      this.#line.push({ command, source: { kind: "told" }, settle: null, claim: null });
    for (const wake of staged.wakes) this.wheel.set(wake.name, wake.afterMs, () => this.tell(wake.command));
    for (const file of staged.discards) this.#settlements.push(() => this.#discard(file));
    if (staged.earliestTimer !== null) this.#timers.scheduled(staged.earliestTimer);
    for (const { ticket, answer } of staged.replies) {
      const settle = this.#tickets.take(ticket)?.settle ?? null;
      if (settle !== null) this.#settleLater(settle, ok(answer));
    }
  }

  /** A bug in delivery loses no event, the log has it; it must not undo the command that made it. */
  #tellSink(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#alarm.bug(error, null);
    }
  }

  #settleLater(settle: (result: AskResult) => void, result: AskResult): void {
    this.#settlements.push(() => settle(result));
  }

  /** M6: a command that throws is refused alone; a row of the mailbox is tried again, three times in all. */
  #fail(entry: Entry, error: unknown): void {
    this.#alarm.bug(error, entry.command);
    if (entry.settle !== null) this.#settleLater(entry.settle, refuse.internalError());
    else if (!isVolatile(entry.command)) {
      this.#first = this.#runner.keepForRetry(entry, error);
      if (this.#first === null) this.#abandon(entry.command);
    }
    if (entry.source.kind === "timer") this.#timers.finished(entry.source.dueAt, entry.source.sequence);
  }

  #abandon(dead: Command): void {
    this.#alarm.warn(`${dead.type} threw too often: it is a dead letter now, see "cli dead-letters list"`);
    const { tickets, boot, tell } = abandonmentOf(dead);
    if (tell !== null) this.#line.push({ command: tell, source: { kind: "told" }, settle: null, claim: null });
    if (boot !== this.view.counter("boot")) return;
    for (const ticket of tickets) {
      const settle = this.#tickets.take(ticket)?.settle ?? null;
      if (settle !== null) this.#settleLater(settle, refuse.internalError());
    }
  }

  #afterFlush(): void {
    const settlements = this.#settlements;
    this.#settlements = [];
    for (const settle of settlements) settle();
    this.#tellSink(() => this.#sink.publish());
    this.#tellSink(() => this.observers.publish());
    const isDry = this.#line.length === 0 && this.#line.heldLength === 0;
    if (isDry && this.#recoveredUpTo !== null) this.#recover(this.#recoveredUpTo);
    // At a shutdown, what stands in rows goes on at the next start.
    if (this.#isClosed && this.#line.isSafe) this.#line.clear();
    this.#schedule();
    if (this.#line.length === 0) this.#wakeIdle();
  }

  #wakeIdle(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const waiter of waiters) waiter();
  }

  /** Runs upkeep (pruning) in a transaction of its own, between turns. A failure ends the process (M5), a damaged row rolls back. */
  maintain(work: () => void): void {
    if (this.#isInTurn || this.#isClosed || !this.#acceptsWrites()) return;
    this.#commitAlone(() => {
      work();
      this.ledger.write();
    });
  }

  #commitAlone(work: () => void): void {
    try {
      this.#environment.transaction(work);
    } catch (error) {
      if (damageIn(error) !== null) throw error;
      this.#alarm.fatal(error);
    }
  }

  /** A position for a volatile event that no command made (heartbeats). Raises the lease in time, on a nearly full disk, too: one page (E1). */
  takePosition(): number {
    if (this.ledger.leaseLeft() < positionsLeft_min && !this.#isClosed) this.#commitAlone(() => this.ledger.write());
    return this.#turn.position++;
  }

  /** When the next durable timer is due; 0: something waits to be done at once; null: nothing does. */
  get nextDueAt(): number | null {
    return this.#line.length > 0 ? 0 : nextDueIn(this.#environment);
  }

  get lineLength(): number {
    return this.#line.length;
  }

  /** Resolves when nothing is in the line. */
  idle(): Promise<void> {
    if (this.#line.length === 0 && !this.#isInTurn) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Refuses new requests, finishes those in the line, writes batches, stops the timers. What is in rows goes on at the next start. */
  async close(): Promise<void> {
    this.batches.flush();
    this.#isClosed = true;
    await this.idle();
    this.#tickets.refuseAll();
    this.wheel.stop();
    this.#timers.stop();
  }
}
