/**
 * One machine with one realm: the real runtime, hub, gate, overlay and checkpoints on a journal and a disk with faults.
 * When it goes down, everything in memory is discarded, and it restarts from its folder and what the journal's disk has.
 */

import type { Command } from "../../actors/protocol/decision.ts";
import { applyRecords } from "../../src/durability/journal/apply-journal.ts";
import type { CheckpointMaker } from "../../src/durability/journal/checkpoint-maker.ts";
import type { Writer } from "../../src/durability/journal/checkpoint-worker.ts";
import type { Durability, DurableTables, RealmTables } from "../../src/durability/journal/durability.ts";
import type { DurabilityGate } from "../../src/durability/journal/durability-gate.ts";
import type { Recorded } from "../../src/durability/journal/journal.ts";
import { JournalDurability } from "../../src/durability/journal/journal-durability.ts";
import { Hub } from "../../src/edge/realtime/hub.ts";
import type { EventSink } from "../../src/runtime/dispatcher.ts";
import { Realm } from "../../src/runtime/realm.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import type { StoreTables } from "../../src/store/tables.ts";
import { turnNumberIn } from "../../src/store/turn-number.ts";
import { OpenRequest } from "./answers.ts";
import type { DrawnFaults } from "./fault-plan.ts";
import { MachineDown } from "./faults.ts";
import type { Replica } from "./replica.ts";
import { SimCheckpoints } from "./sim-checkpoints.ts";
import { SimClock } from "./sim-clock.ts";
import { JournalDisk, type JournalFlaws, SimJournal } from "./sim-journal.ts";
import { Recorder, TurnLog, type TurnLogOptions } from "./turn-log.ts";

/** A deliberate bug that the simulation must find (positive control). */
export interface Breakage {
  /** Between the server and its rows. */
  readonly tables?: (inner: StoreTables) => StoreTables;
  /** Between the overlay and the journal on one side, the realm on the other. */
  readonly durable?: (inner: DurableTables) => DurableTables;
  readonly journal?: JournalFlaws;
  /** Between the checkpoint thread and the store. */
  readonly writer?: (inner: Writer) => Writer;
  /** What a start reads from the journal. */
  readonly recovered?: (records: readonly Recorded[]) => readonly Recorded[];
  /** Runs when a start has brought the records into the store. */
  readonly afterRecovery?: (folder: string, records: readonly Recorded[]) => Promise<void>;
  /** What answers pass instead of the realm's gate. */
  readonly answers?: (gate: DurabilityGate) => DurabilityGate;
  readonly sink?: (hub: EventSink) => EventSink;
  readonly opened?: (realm: Realm) => void;
  /** The realm treats every jump of its clock as elapsed time. */
  readonly trustsJumps?: true;
  /** A failed flush is ignored. */
  readonly ignoresFailedFlush?: true;
}

export interface MachineOptions extends Omit<TurnLogOptions, "replica"> {
  readonly folder: string;
  readonly startedAt: number;
  /** How slow it is when it starts (sim-clock.ts). */
  readonly lookMs: number;
  readonly replica: Replica;
  readonly plan: DrawnFaults;
  readonly breakage: Breakage;
  readonly acceptsWrites: () => boolean;
  /** A command threw, or one of its effects could not be applied. */
  readonly bug: (error: unknown, command: Command | null) => void;
  readonly departed: (hub: Hub, userId: number) => void;
  /** It is up. @param isUp whether it has not gone down since */
  readonly opened: (realm: Realm, clock: SimClock, isUp: () => boolean) => void;
  /** The event loop has time for other work, such as reads. */
  readonly betweenTurns: () => Promise<void>;
  readonly report: (problem: string) => void;
}

/** A process: everything that a crash takes. */
interface Process {
  readonly journal: SimJournal;
  readonly checkpoints: CheckpointMaker;
  readonly durability: Durability;
  /** The open stores. */
  readonly stores: StoreTables[];
}

/** One pass of the real event loop: every pending promise has continued. */
export function nextPass(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** More turns than any step takes. With more, turns cause each other endlessly. */
const passes_max = 5000;
/** A disk that takes longer is left alone until time passes. */
const patienceMs = 5;
/** Time passes in pieces, between which the server works. */
const pieceMs = 10_000;
const realmId = 1;

export class Machine {
  clock: SimClock;
  readonly turns: TurnLog;
  readonly #options: MachineOptions;
  readonly #disk = new JournalDisk();
  #process: Process | null = null;
  #realm: Realm | null = null;
  #hub: Hub | null = null;
  #isDown = true;
  #isStopping = false;
  #hasFailed = false;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.turns = new TurnLog(options);
    this.clock = new SimClock(options.startedAt, options.lookMs);
    this.clock.trustsJumps = options.breakage.trustsJumps === true;
  }

  get realm(): Realm {
    return this.#realm as Realm;
  }

  get hub(): Hub {
    return this.#hub as Hub;
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /** The process got to know that a write failed: it must end before it sends anything (M5). */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** A request that arrives now. */
  receive(): OpenRequest {
    const { gate } = this.realm;
    return new OpenRequest(this.#options.breakage.answers?.(gate) ?? gate, this.clock);
  }

  /** Starts, repeatedly if needed: a machine may go down while it starts, too. */
  async start(): Promise<void> {
    for (;;) {
      if ((await this.#recover()) && this.#open()) return;
      await this.#dropAll();
    }
  }

  /** @returns false if the machine goes down meanwhile */
  async #recover(): Promise<boolean> {
    const { folder, plan, breakage } = this.#options;
    const fault = plan.draw("start");
    if (fault !== null) plan.met(fault);
    if (fault?.kind === "crash before recovery") return false;
    const { records, end } = this.#disk;
    await applyRecords(breakage.recovered?.(records) ?? records, () => folder);
    await breakage.afterRecovery?.(folder, records);
    this.turns.recovered(end);
    await this.#compare();
    if (fault?.kind === "crash after recovery") return false;
    this.#disk.release(end);
    return true;
  }

  /** The store has the turns whose records survived, whole (M2), and every one that was acknowledged is among them (M1). */
  async #compare(): Promise<void> {
    const { folder, replica, report } = this.#options;
    const store = openLmdb(folder);
    const difference = replica.differenceFrom(store);
    if (difference !== null) report(`[M1] after a start ${difference}`);
    const turn = turnNumberIn(store);
    if (turn !== this.turns.count) report(`[M2] after a start the store has turn ${turn} of ${this.turns.count}`);
    await store.close();
  }

  #open(): boolean {
    const { folder, breakage, acceptsWrites, bug } = this.#options;
    this.#isDown = false;
    this.#isStopping = false;
    this.#hasFailed = false;
    const process = this.#startProcess();
    this.#process = process;
    try {
      const realm = new Realm({
        id: realmId,
        folder,
        clock: this.clock,
        alarm: {
          bug: (error, command) => {
            if (!this.#isDown) bug(error, command);
          },
          fatal: (error) => {
            this.#isDown = true;
            throw error;
          },
          warn: () => undefined,
        },
        acceptsWrites,
        durability: process.durability,
      });
      this.#realm = realm;
      this.#hub = new Hub(realm, { limitsPresence: false, reportBug: (error) => bug(error, null) });
      const hub = this.#hub;
      hub.onDeparture = (userId) => this.#options.departed(hub, userId);
      if (breakage.sink !== undefined) realm.dispatcher.attach(breakage.sink(hub));
      breakage.opened?.(realm);
      this.#options.opened(realm, this.clock, () => !this.#isDown && !this.#isStopping && this.#realm === realm);
      return true;
    } catch (error) {
      this.#wentDown(error);
      return false;
    }
  }

  #startProcess(): Process {
    const { plan, breakage, acceptsWrites, bug } = this.#options;
    const { clock } = this;
    const crash = () => {
      this.#isDown = true;
    };
    const journal = new SimJournal({
      disk: this.#disk,
      plan,
      after: (milliseconds, callback) => clock.afterDisk(milliseconds, callback),
      flushed: (upTo) => this.turns.flushed(upTo),
      crash,
      fatal: (error) => this.#fatal(error),
      ...(breakage.journal === undefined ? {} : { flaws: breakage.journal }),
    });
    const checkpoints = new SimCheckpoints({
      plan,
      after: (milliseconds, callback) => void clock.after(milliseconds, callback),
      isDown: () => this.#isDown || this.#process?.journal !== journal,
      crash,
      failed: () => {
        this.#hasFailed = true;
      },
      flawed: (writer) => breakage.writer?.(writer) ?? writer,
    });
    const durability = new JournalDurability({
      journal,
      archive: null,
      owner: null,
      clock,
      isLocked: () => Promise.resolve(false),
      hasSpace: acceptsWrites,
      fatal: (error) => this.#fatal(error) as never,
      reportBug: (error) => {
        if (!this.#isDown) bug(error, null);
      },
      startMaker: checkpoints.start,
    });
    const stores: StoreTables[] = [];
    const adopt = (realm: RealmTables) => {
      stores.push(realm.tables);
      return this.#adopt(durability.adopt(realm), journal);
    };
    const watched: Durability = {
      adopt,
      lag: durability.lag,
      archiveMark: () => durability.archiveMark(),
      assertOwned: () => durability.assertOwned(),
      close: () => durability.close(),
    };
    return { journal, checkpoints, stores, durability: watched };
  }

  #adopt(adopted: DurableTables, journal: SimJournal): DurableTables {
    const { plan, breakage } = this.#options;
    const durable = breakage.durable?.(adopted) ?? adopted;
    const recorder = new Recorder(durable.tables, (writes) => {
      this.turns.ended(journal.appended, writes);
      const fault = plan.draw("turn");
      if (fault === null) return;
      plan.met(fault);
      this.clock.meet(fault);
      if (fault.kind !== "crash in turn") return;
      this.kill();
      throw new MachineDown();
    });
    const tables = breakage.tables?.(recorder) ?? recorder;
    return Object.create(durable, { tables: { value: tables } }) as DurableTables;
  }

  /** A write failed: the process must end. */
  #fatal(error: unknown): void {
    this.#hasFailed = true;
    if (this.#options.breakage.ignoresFailedFlush === true) return;
    this.#isDown = true;
    throw error;
  }

  #wentDown(error: unknown): void {
    const isMeant = this.#isDown || error instanceof MachineDown || this.#hasFailed;
    if (!isMeant) this.#options.report(`[M6] ${error instanceof Error ? error.stack : String(error)}`);
    this.#isDown = true;
  }

  /** Runs `work` on the machine; if the machine goes down meanwhile, the caller does not notice. */
  guard(work: () => void): void {
    if (this.#isDown) return;
    try {
      work();
    } catch (error) {
      this.#wentDown(error);
    }
    if (this.#hasFailed && !this.#isDown) this.#options.report("[M5] a write failed, and the process continues");
  }

  /** Runs turns until there is nothing to do but wait for the disk, or the machine is down. */
  async pump(): Promise<void> {
    await this.#pump(this.#options.plan.waitsForDisk() ? patienceMs : 0);
  }

  /** Runs turns until there is nothing to do, everything is durable, and all of it has left. */
  async settle(): Promise<void> {
    await this.#pump(Number.POSITIVE_INFINITY);
  }

  async #pump(diskMs: number): Promise<void> {
    let quiet = 0;
    // As in the real event loop, requests progress as far as they can without waiting before a turn runs.
    await nextPass();
    for (let passes = 0; quiet < 2 && !this.#isDown; passes++) {
      const { clock } = this;
      this.guard(() => clock.advance(0));
      const hasWork = clock.hasWork;
      this.guard(() => clock.pass());
      await nextPass();
      if (hasWork && !this.#isDown) await this.#options.betweenTurns();
      quiet = hasWork || clock.hasWork || (quiet === 1 && this.#waitForDisk(diskMs)) ? 0 : quiet + 1;
      if (passes > passes_max) {
        // Only a timer that fires repeatedly takes so long.
        this.#options.report("[M8] the server never comes to rest");
        this.kill();
        return;
      }
    }
  }

  /** Time passes until the disk has done the next thing, if that does not take longer. @returns whether it was waited for */
  #waitForDisk(milliseconds: number): boolean {
    const { diskDueInMs } = this.clock;
    if (this.#isDown || diskDueInMs === null || diskDueInMs > milliseconds) return false;
    this.guard(() => this.clock.advance(Math.min(diskDueInMs, pieceMs)));
    return true;
  }

  /** Advances time in small steps, so that each fired timer is processed before the next one fires. */
  async pass(ms: number): Promise<void> {
    const pieces = Math.min(6, Math.ceil(ms / 1000));
    for (let piece = 0; piece < pieces && !this.#isDown; piece++) {
      this.guard(() => this.clock.advance(ms / pieces));
      await this.pump();
    }
  }

  /** Power is cut: nothing else of this pass of the event loop reaches the disk. */
  kill(): void {
    this.#isDown = true;
    this.#process?.journal.die("any");
  }

  /** Stops in the orderly way. */
  async stop(): Promise<void> {
    let isClosed = false;
    this.#isStopping = true;
    const { realm } = this;
    const close = async () => {
      await realm.close();
      await this.#process?.durability.close();
      isClosed = true;
    };
    close().catch((error: unknown) => this.#wentDown(error));
    for (; !isClosed && !this.#isDown; await this.pass(1000)) await this.settle();
    this.#isDown = true;
  }

  /** Everything in memory is lost; time continues. */
  async restart(): Promise<void> {
    await this.#dropAll();
    await this.start();
  }

  async #dropAll(): Promise<void> {
    this.#isDown = true;
    await this.#realm?.files.idle();
    this.#realm = null;
    this.#hub = null;
    const process = this.#process;
    this.#process = null;
    process?.journal.die("any");
    await process?.checkpoints.end();
    for (const store of process?.stores ?? []) await store.close();
    this.clock = this.clock.restarted(this.#options.lookMs);
  }

  /** @returns what differs between the disk and the server's view of it, when everything is durable */
  difference(): string | null {
    return this.#realm === null ? null : this.#options.replica.differenceFrom(this.#realm.lmdb);
  }

  async end(): Promise<void> {
    await this.#dropAll();
  }
}
