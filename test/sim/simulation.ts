/**
 * One run: a realm, its users and everything that happens to them, from one seed. The same seed gives the same run, bit
 * for bit, as the hash shows. A failed run reports the contradiction and its step.
 */
import { createHash } from "node:crypto";
import type { Command } from "../../actors/protocol/decision.ts";
import type { IdempotencyKey } from "../../src/runtime/queued-command.ts";
import type { Reply } from "../../src/runtime/results.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { turnNumberIn } from "../../src/store/turn-number.ts";
import { auditRealm } from "../support/audit.ts";
import { startedAt } from "../support/runtime.ts";
import { Auditor, type Request } from "./auditor.ts";
import { Catalogue, isMadeToThrow } from "./catalogue.ts";
import { ClientPool } from "./client-pool.ts";
import { watchCommands } from "./command-watch.ts";
import type { FaultKind } from "./fault-kinds.ts";
import { DrawnFaults } from "./fault-plan.ts";
import { type Breakage, Machine } from "./machine.ts";
import { Outside } from "./outside.ts";
import { staleProjections } from "./projections.ts";
import { Random } from "./random.ts";
import { Reads } from "./reads.ts";
import { Replica } from "./replica.ts";
import { slowDays, slowLookMs } from "./sim-clock.ts";
import { Visibility } from "./visibility.ts";
import { World } from "./world.ts";

export interface RunOptions {
  /** An initialized realm, which the run changes. */
  readonly folder: string;
  readonly seed: number;
  readonly steps: number;
  readonly breakage?: Breakage;
}

export interface RunResult {
  readonly hash: string;
  /** The contradiction and its moment; null: none. */
  readonly problem: string | null;
  readonly step: number;
  /** Requests and the server's own commands. */
  readonly commands: number;
  readonly events: number;
  readonly eventsCompared: number;
  readonly factsChecked: number;
  /** Number of compared GET /messages. */
  readonly reads: number;
  readonly crashes: number;
  readonly answers: ReadonlyMap<string, number>;
  readonly faults: ReadonlyMap<FaultKind, number>;
  /** Types of executed commands: those that were rejected or threw prove little. */
  readonly types: ReadonlySet<string>;
  /** Types of events. */
  readonly eventTypes: ReadonlySet<string>;
}

const stepsBetweenChecks = 25;
/** Share of the passes of the event loop in which a turn ran. */
const readsPerPass = 0.1;
/** Repeats are drawn from that many requests. */
const remembered_max = 20;

export class Simulation {
  readonly #options: RunOptions;
  readonly #random: Random;
  readonly #lookMs: number;
  readonly #replica: Replica;
  readonly #auditor: Auditor;
  readonly #world: World;
  readonly #catalogue: Catalogue;
  readonly #plan: DrawnFaults;
  readonly #machine: Machine;
  readonly #clientPool: ClientPool;
  readonly #reads: Reads;
  readonly #outside: Outside;
  readonly #hash = createHash("sha256");
  readonly #faults = new Map<FaultKind, number>();
  readonly #types = new Set<string>();
  readonly #eventTypes = new Set<string>();
  readonly #answers = new Map<string, number>();
  readonly #pending = new Map<number, Request>();
  #remembered: Request[] = [];
  #isDiskFull = false;
  #sent = 0;
  #crashes = 0;
  #step = 0;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#lookMs = this.#random.chance(slowDays) ? slowLookMs : 0;
    if (this.#lookMs > 0) this.#met("turns of one command");
    const disk = openLmdb(options.folder);
    this.#replica = Replica.of(disk);
    const stored = turnNumberIn(disk);
    void disk.close();
    this.#auditor = new Auditor(this.#replica);
    this.#plan = new DrawnFaults(this.#random, (fault) => this.#met(fault.kind));
    this.#outside = new Outside({
      random: this.#random,
      deliveries: this.#auditor.deliveries,
      met: (fault) => this.#met(fault),
      trace: (text) => this.#trace(text),
    });
    this.#machine = new Machine({
      folder: options.folder,
      startedAt: startedAt + 60_000,
      lookMs: this.#lookMs,
      replica: this.#replica,
      stored,
      plan: this.#plan,
      breakage: options.breakage ?? {},
      acceptsWrites: () => !this.#isDiskFull,
      note: () => ({ executed: this.#auditor.takeExecuted(), connected: this.#clientPool.connected() }),
      committed: (turn) => {
        for (const posted of this.#auditor.committed(turn)) this.#clientPool.expect(posted, turn.connected);
      },
      bug: (error, command) => this.#bug(error, command),
      opened: (realm, clock, isUp) => this.#outside.connect(realm, clock, isUp),
      betweenTurns: () => this.#readNow(),
      departed: (hub, userId) => this.#clientPool.departed(hub, userId),
      report: (problem) => this.#auditor.report(problem),
    });
    this.#world = new World(this.#random, this.#replica, () => this.#machine.clock.steadyNow());
    this.#catalogue = new Catalogue(this.#world, (type) => this.#types.has(type));
    this.#reads = new Reads({
      visibility: new Visibility(this.#replica, this.#auditor.audience),
      replica: this.#replica,
      world: () => this.#world,
      report: (problem) => this.#auditor.report(problem),
      trace: (text) => this.#trace(text),
    });
    this.#clientPool = new ClientPool({
      audience: this.#auditor.audience,
      replica: this.#replica,
      report: (problem) => this.#auditor.report(problem),
      trace: (text) => this.#trace(text),
      machine: () => this.#machine,
      world: () => this.#world,
      met: (kind) => this.#met(kind),
      crashesBetween: () => this.#crashesBetween("crash between frames"),
    });
  }

  /** Whether a part of a turn's output has left the machine and the rest never will. */
  #crashesBetween(kind: FaultKind): boolean {
    if (!this.#plan.crashesBetween()) return false;
    this.#met(kind);
    this.#machine.kill();
    return true;
  }

  #trace(text: string): void {
    this.#hash.update(text).update("\n");
  }

  #met(kind: FaultKind): void {
    this.#trace(kind);
    this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + 1);
  }

  /** Only commands that are made to throw may throw (M6). */
  #bug(error: unknown, command: Command | null): void {
    if (!isMadeToThrow(command, error)) {
      const what = error instanceof Error ? error.stack : String(error);
      this.#auditor.report(`[M6] ${command?.type ?? "a delivery"} threw: ${what} ${JSON.stringify(command)}`);
    }
  }

  get #hasProblem(): boolean {
    return this.#auditor.problems.length > 0;
  }

  async run(): Promise<RunResult> {
    const endWatch = watchCommands({
      began: (command) => {
        if (!this.#machine.isDown) this.#auditor.executed(command);
      },
      succeeded: ({ type }) => this.#types.add(type),
      staged: (type) => this.#eventTypes.add(type),
    });
    try {
      await this.#machine.start();
      while (this.#step < this.#options.steps && !this.#hasProblem) {
        this.#step++;
        await this.#takeStep();
        await this.#machine.pump();
        if (this.#machine.isDown) await this.#recover();
        if (this.#step % stepsBetweenChecks === 0) await this.#check();
      }
      if (!this.#hasProblem) await this.#finish();
    } catch (error) {
      this.#itself(() => {
        throw error;
      });
    } finally {
      endWatch();
      await this.#machine.end();
    }
    return this.#result();
  }

  #result(): RunResult {
    return {
      hash: this.#hash.digest("hex"),
      problem: this.#auditor.problems[0] ?? null,
      step: this.#step,
      commands: this.#sent,
      events: this.#clientPool.received,
      eventsCompared: this.#clientPool.compared,
      factsChecked: this.#auditor.facts.checked,
      reads: this.#reads.count,
      crashes: this.#crashes,
      answers: this.#answers,
      faults: this.#faults,
      types: this.#types,
      eventTypes: this.#eventTypes,
    };
  }

  async #takeStep(): Promise<void> {
    const random = this.#random;
    const drawn = random.next();
    if (drawn < 0.72) this.#batch();
    else if (drawn < 0.8) await this.#machine.pass(random.pick([10, 1000, 20_000, 300_000]));
    else if (drawn < 0.96) this.#clientPool.move();
    else await this.#change(random.below(5));
  }

  async #change(which: number): Promise<void> {
    const { clock } = this.#machine;
    switch (which) {
      case 0:
        this.#met("machine killed");
        this.#machine.kill();
        return;
      case 1:
        this.#met("full disk");
        this.#isDiskFull = !this.#isDiskFull;
        return;
      case 2:
        this.#met("slow machine");
        clock.lookMs = Math.max(this.#lookMs, this.#random.pick([0, 1, slowLookMs]));
        return;
      case 3:
        clock.wallOffsetMs = 0;
        return;
      default:
        this.#met("restart");
        await this.#machine.stop();
    }
  }

  async #readNow(): Promise<void> {
    const mayRead = !this.#hasProblem && !this.#machine.realm.isClosed;
    if (mayRead && this.#random.chance(readsPerPass)) await this.#reads.one(this.#machine);
  }

  #batch(): void {
    // A full disk is temporary.
    if (this.#isDiskFull && this.#random.chance(0.3)) this.#isDiskFull = false;
    const count = 1 + this.#random.below(8);
    for (let index = 0; index < count; index++) {
      const command = this.#catalogue.next();
      const isOfServer = command.callerId === null && this.#random.chance(0.7);
      if (isOfServer) this.#sendCommand(command);
      else if (this.#remembered.length > 0 && this.#random.chance(0.05))
        this.#send(this.#random.pick(this.#remembered));
      else this.#send({ command, idempotencyKey: this.#idempotencyKey(command) });
    }
    // Between the request and its turn.
    if (this.#random.chance(0.02)) {
      this.#met("full disk");
      this.#isDiskFull = true;
    }
  }

  /** The server's own commands: from sockets, relays and clocks. */
  #sendCommand(command: Command): void {
    this.#sent++;
    this.#trace(`send ${JSON.stringify(command)}`);
    this.#auditor.sent(command);
    this.#auditor.facts.doubted(command);
    this.#machine.guard(() => this.#machine.realm.dispatcher.send(command));
  }

  #idempotencyKey({ callerId }: Command): IdempotencyKey | null {
    if (callerId === null || !this.#random.chance(0.3)) return null;
    return { userId: callerId, keyHash: `k${this.#sent}`, paramsHash: "p" };
  }

  #send({ command, idempotencyKey }: Pick<Request, "command" | "idempotencyKey">): void {
    this.#sent++;
    // A stored response may have reached no client: the machine failed in between, or the disk does not have it yet.
    const isKept =
      idempotencyKey !== null &&
      this.#machine.realm.lmdb.has("idempotency", [idempotencyKey.userId, idempotencyKey.keyHash]);
    const request = { serial: this.#sent, command, idempotencyKey, isOnFullDisk: this.#isDiskFull && !isKept };
    this.#trace(`ask ${JSON.stringify([command, idempotencyKey])}`);
    this.#auditor.sent(command);
    this.#pending.set(request.serial, request);
    if (idempotencyKey !== null) this.#remembered = [request, ...this.#remembered].slice(0, remembered_max);
    this.#machine.guard(() => {
      const open = this.#machine.receive();
      void this.#machine.realm.dispatcher
        .ask(command, idempotencyKey)
        .then((result) => open.answer(() => this.#answered(request, result)));
    });
  }

  #answered(request: Request, result: Reply): void {
    // A client that crashed with the machine gets no response.
    if (this.#machine.isDown || this.#crashesBetween("crash between answers") || !this.#pending.delete(request.serial))
      return;
    const code = result.kind === "ok" ? "ok" : result.code;
    this.#answers.set(code, (this.#answers.get(code) ?? 0) + 1);
    this.#trace(`answer ${request.serial} ${JSON.stringify(result)}`);
    this.#itself(() => this.#auditor.answered(request, result));
    if (this.#machine.hasFailed) this.#auditor.report("[M5] a request was answered after a write failed");
    const isOnDisk = result.kind !== "ok" || this.#machine.turns.isOnDisk(request.command);
    if (!isOnDisk) this.#auditor.report(`[M1] ${request.command.type} was answered, and is not on disk`);
  }

  /** Reports a bug of the simulation like one of the server. */
  #itself(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#auditor.report(`the simulation itself: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }

  /** The machine is down: it restarts, clients reconnect, and some repeat unanswered requests (D25). */
  async #recover(): Promise<void> {
    this.#crashes++;
    this.#clientPool.cut();
    const unanswered = [...this.#pending.values()];
    this.#pending.clear();
    this.#auditor.unanswered(unanswered);
    await this.#machine.restart();
    this.#auditor.restarted();
    if (this.#hasProblem) return;
    for (const problem of this.#auditor.facts.contradictions()) this.#auditor.report(problem);
    for (const { command, idempotencyKey } of unanswered) {
      if (idempotencyKey !== null && this.#random.chance(0.7)) this.#send({ command, idempotencyKey });
    }
    this.#clientPool.reconnect(0.7);
    await this.#machine.pump();
    if (this.#machine.isDown) await this.#recover();
  }

  /** Compares everything that can be compared while nothing is in flight. */
  async #check(): Promise<void> {
    if (this.#isDiskFull || this.#hasProblem) return;
    await this.#machine.settle();
    if (this.#machine.isDown) return this.#recover().then(() => this.#check());
    if (this.#machine.turns.isSettled && !this.#hasProblem) this.#compareAll();
  }

  #compareAll(): void {
    const { realm } = this.#machine;
    this.#clientPool.settle();
    const report = (problem: string) => this.#auditor.report(problem);
    for (const problem of this.#auditor.facts.contradictions()) report(problem);
    for (const problem of auditRealm(realm.lmdb)) report(`[M2] ${problem}`);
    this.#auditor.checkTime(realm.lmdb, this.#machine.clock.trueNow());
    const stale = staleProjections(realm);
    if (stale !== null) report(`[M9] projections differ: ${stale}`);
    const missing = this.#machine.difference();
    if (missing !== null) report(`[M9] beside what the disk has, ${missing}`);
  }

  /** Faults stop; all clients reconnect, and time advances until no work is left. */
  async #finish(): Promise<void> {
    this.#plan.isOver = true;
    this.#outside.isKind = true;
    this.#isDiskFull = false;
    this.#clientPool.readAgain();
    this.#clientPool.reconnect(1);
    await this.#machine.settle();
    for (let minutes = 0; minutes < 90; minutes += 15) {
      // A fault that was met before may still have ended it, even now: then all of the time passes after the restart.
      if (this.#machine.isDown && !this.#hasProblem) {
        await this.#recover();
        minutes = 0;
      }
      const { clock } = this.#machine;
      clock.lookMs = 0;
      clock.wallOffsetMs = 0;
      await this.#machine.pass(15 * 60_000);
    }
    await this.#check();
    for (const { serial, command } of this.#pending.values()) {
      this.#auditor.report(`[M6] request ${serial} (${command.type}) was never answered`);
    }
    if (this.#replica.count("mailbox") > 0) this.#auditor.report("[M3] the mailbox is not empty at the end");
    this.#auditor.overdue(this.#machine.clock.now());
    this.#trace(this.#replica.text());
  }
}
