/**
 * One machine with one realm: the real runtime and hub on a store with faults. When it goes down, everything in memory
 * is discarded, and it restarts from the folder.
 */

import type { Command } from "../../actors/protocol/commands.ts";
import { Hub } from "../../src/realtime/hub.ts";
import type { EventSink } from "../../src/runtime/dispatcher.ts";
import { Realm } from "../../src/runtime/realm.ts";
import { type Environment, openEnvironment } from "../../src/store/environment.ts";
import { type FaultPlan, FaultyStore, MachineDown } from "./faulty-store.ts";
import { Recorder } from "./recorder.ts";
import type { Replica, Write } from "./replica.ts";
import { SimClock } from "./sim-clock.ts";
import { StoreTap } from "./store-tap.ts";

/** A deliberate bug that the simulation must find (positive control). */
export interface Breakage {
  /** Between the server and its store. */
  readonly store?: (inner: Environment) => Environment;
  /** Between the store and the disk. */
  readonly disk?: (inner: Environment, folder: string) => Environment;
  /** Runs after the machine went down, before the folder is opened again. */
  readonly afterCrash?: (folder: string) => void;
  readonly sink?: (hub: EventSink) => EventSink;
  readonly opened?: (realm: Realm) => void;
  /** The realm treats every jump of its clock as elapsed time. */
  readonly trustsJumps?: true;
  /** A failed commit is ignored. */
  readonly ignoresFailedCommit?: true;
}

export interface MachineOptions {
  readonly folder: string;
  readonly startedAt: number;
  /** How slow it is when it starts (sim-clock.ts). */
  readonly lookMs: number;
  readonly replica: Replica;
  readonly plan: FaultPlan;
  readonly breakage: Breakage;
  readonly acceptsWrites: () => boolean;
  readonly committed: (writes: readonly Write[]) => void;
  /** A command threw, or one of its effects could not be applied. */
  readonly bug: (error: unknown, command: Command | null) => void;
  readonly departed: (hub: Hub, userId: number) => void;
  /** It is up. @param isUp whether it has not gone down since */
  readonly opened: (realm: Realm, clock: SimClock, isUp: () => boolean) => void;
  /** The event loop has time for other work, such as reads. */
  readonly betweenTurns: () => Promise<void>;
  readonly report: (problem: string) => void;
}

/** The realm closes its store; the folder stays open until the simulation closes it. */
class KeptOpen extends StoreTap {
  override async close(): Promise<void> {}
}

/** One pass of the real event loop: every pending promise has continued. */
export function nextPass(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** More turns than any step takes. With more, turns cause each other endlessly. */
const passes_max = 5000;

export class Machine {
  clock: SimClock;
  readonly #options: MachineOptions;
  #disk: Environment | null = null;
  #faulty: FaultyStore | null = null;
  #recorder: Recorder | null = null;
  #realm: Realm | null = null;
  #hub: Hub | null = null;
  #isDown = true;
  #isStopping = false;

  constructor(options: MachineOptions) {
    this.#options = options;
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

  get hasFailed(): boolean {
    return this.#faulty?.hasFailed === true;
  }

  /** Opens the folder, repeatedly if needed: a machine may go down while it starts, too. */
  async start(): Promise<void> {
    for (;;) {
      const { folder } = this.#options;
      const disk = openEnvironment(folder);
      this.#disk = disk;
      this.#resolveDoubt(disk);
      if (this.#open(disk, folder)) return;
      await this.#dropAll();
    }
  }

  /**
   * A transaction without a known result is on disk as a whole or not at all (M2); all others are as acknowledged (M1).
   */
  #resolveDoubt(disk: Environment): void {
    const { replica, committed, report } = this.#options;
    const inDoubt = this.#recorder?.inDoubt ?? [];
    this.#recorder = null;
    const asKnown = replica.differenceFrom(disk);
    if (asKnown === null) return;
    if (inDoubt.length > 0) {
      committed(inDoubt);
      for (const write of inDoubt) replica.apply(write);
      if (replica.differenceFrom(disk) === null) return;
    }
    report(`[M1] after a crash ${asKnown}`);
  }

  #open(disk: Environment, folder: string): boolean {
    const { breakage, plan, replica, acceptsWrites, bug, committed } = this.#options;
    const faulty = new FaultyStore(breakage.disk?.(disk, folder) ?? disk, plan);
    const recorder = new Recorder(new KeptOpen(faulty), replica, committed);
    this.#faulty = faulty;
    this.#recorder = recorder;
    this.#isDown = false;
    this.#isStopping = false;
    try {
      const realm = new Realm({
        folder,
        clock: this.clock,
        alarm: {
          bug: (error, command) => {
            if (!this.#isDown) bug(error, command);
          },
          fatal: (error) => {
            this.#isDown = breakage.ignoresFailedCommit !== true || !this.hasFailed;
            throw error;
          },
          warn: () => undefined,
        },
        acceptsWrites,
        openStore: () => breakage.store?.(recorder) ?? recorder,
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

  #wentDown(error: unknown): void {
    const isMeant = this.#isDown || error instanceof MachineDown || this.#faulty?.isDown === true || this.hasFailed;
    if (!isMeant) this.#options.report(`[M6] ${error instanceof Error ? error.stack : String(error)}`);
    if (this.#options.breakage.ignoresFailedCommit !== true) this.#isDown = true;
  }

  /** Runs `work` on the machine; if the machine goes down meanwhile, the caller does not notice. */
  guard(work: () => void): void {
    if (this.#isDown) return;
    try {
      work();
    } catch (error) {
      this.#wentDown(error);
    }
    if (this.hasFailed && !this.#isDown) this.#options.report("[M5] a commit failed, and the process continues");
    if (this.#faulty?.isDown === true) this.#isDown = true;
  }

  /** Runs turns until there is nothing to do, or the machine is down. */
  async pump(): Promise<void> {
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
      quiet = hasWork || clock.hasWork ? 0 : quiet + 1;
      if (passes > passes_max) {
        // Only a timer that fires repeatedly takes so long.
        this.#options.report("[M8] the server never comes to rest");
        this.kill();
        return;
      }
    }
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
    this.#faulty?.kill();
  }

  /** Stops in the orderly way. */
  async stop(): Promise<void> {
    let isClosed = false;
    this.#isStopping = true;
    void this.realm.close().then(() => {
      isClosed = true;
    });
    while (!isClosed && !this.#isDown) await this.pump();
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
    this.#faulty = null;
    await this.#disk?.close();
    this.#disk = null;
    this.clock = this.clock.restarted(this.#options.lookMs);
    this.#options.breakage.afterCrash?.(this.#options.folder);
  }

  /** @returns what differs between the disk and the server's view of it */
  difference(): string | null {
    return this.#disk === null ? null : this.#options.replica.differenceFrom(this.#disk);
  }

  async end(): Promise<void> {
    await this.#dropAll();
  }
}
