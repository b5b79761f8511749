/**
 * The clock port: besides main.ts the only place that reads time, sets timers or decides when a turn runs, so that
 * tests control time and order (D26, M4).
 *
 * A realm's time: the wall clock, as far as it can be trusted. A forward jump of more than `clock_jump_ms_max` is
 * accepted only after it has lasted `clock_jump_lasting_ms` on the monotonic clock. Example: at 12:00:00 the clock
 * jumps to 2028 for three seconds and returns; messages of these seconds are dated 12:00:01 to 12:00:03. After a
 * restart of the machine a jump cannot be distinguished from a long downtime: messages get the clock's date at once,
 * and only what cannot be undone waits (see `due`).
 *
 * The two times that a view shows: the turn's during a turn, the realm's between turns.
 */
import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { limits } from "../../schemas/limits.ts";
import { damageIn } from "../store/damage.ts";
import { isOutOfDescriptors } from "../store/descriptors.ts";

export interface Times {
  readonly now: number;
  /** See `View.dueNow`. */
  readonly dueNow: number;
}

export function timesOf(time: RealmTime, turn: Times, isInTurn: () => boolean): Times {
  return {
    get now() {
      return isInTurn() ? turn.now : Math.max(time.now(), turn.now);
    },
    get dueNow() {
      return isInTurn() ? turn.dueNow : dueNowAt(this.now, time.due());
    },
  };
}

/**
 * If the clock was set back a little, time waits for it, as in the realm's time. A `due` far behind `now` is deliberate
 * and is kept.
 */
export function dueNowAt(now: number, due: number): number {
  return now - due > limits.clock_jump_ms_max ? due : now;
}

/** The times of a realm's last turn (`now` and `due`), and the machine's uptime at that moment. */
export interface TimeMark {
  readonly at: number;
  readonly dueAt: number;
  readonly bootId: string;
  readonly uptimeMs: number;
}

/** Smaller differences are the wall clock's own inaccuracy and need no look at the uptime. */
const slack_ms = 1000;

export class RealmTime {
  readonly #clock: Clock;
  readonly #warn: (line: string) => void;
  /** The last trusted moment, on the wall clock and on the monotonic clock. */
  #at: number;
  #monotonic: number;
  /** How far the uptime is ahead of the monotonic clock; it grows while the machine sleeps. */
  #sleptMs: number;
  #doubt: { readonly since: number; readonly aheadMs: number } | null = null;
  /** After a restart of the machine: the time of the last turn, until the clock's jump has lasted. */
  #postponed: { readonly at: number; readonly monotonic: number; since: number } | null = null;
  #clockJumps = 0;

  /** @param last null if the realm is new */
  constructor(clock: Clock, last: TimeMark | null, warn: (line: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
    const monotonic = clock.monotonic();
    const wall = clock.now();
    this.#monotonic = monotonic;
    this.#sleptMs = clock.uptimeMs() - monotonic;
    const passedMs = last === null ? null : passedSince(last, clock);
    this.#at = last === null || passedMs === null ? wall : last.at + passedMs;
    // `due` drops the hold if it is not needed. A restart within the two minutes continues them.
    if (last !== null) this.#postponed = { at: last.dueAt + (passedMs ?? 0), monotonic, since: monotonic };
  }

  /** Milliseconds since 1970; the time with which rows are dated. */
  now(): number {
    const wall = this.#clock.now();
    const monotonic = this.#clock.monotonic();
    let expected = this.#at + monotonic - this.#monotonic;
    if (wall - expected <= slack_ms) return this.#believe(wall, monotonic, expected);
    if (!this.#isDoubted(wall - expected)) expected += this.#noteSleep(monotonic);
    const aheadMs = wall - expected;
    if (aheadMs <= limits.clock_jump_ms_max) return this.#believe(wall, monotonic, expected);
    if (this.#doubt === null || !this.#isDoubted(aheadMs)) {
      this.#doubt = { since: monotonic, aheadMs };
      this.#warn(
        `${describe(aheadMs)}. The jump is ignored until it has lasted ${limits.clock_jump_lasting_ms / 1000} seconds.`,
      );
    }
    if (monotonic - this.#doubt.since < limits.clock_jump_lasting_ms) return expected;
    this.#clockJumps++;
    this.#warn(
      `${describe(aheadMs)} and stayed there. The new time is accepted now; if it is wrong, see "cli set-time --help".`,
    );
    return this.#believe(wall, monotonic, expected);
  }

  #isDoubted(aheadMs: number): boolean {
    return this.#doubt !== null && Math.abs(aheadMs - this.#doubt.aheadMs) <= limits.clock_jump_ms_max;
  }

  #believe(wall: number, monotonic: number, expected: number): number {
    // A correction proves that the clock was wrong, so the waiting time starts again.
    if (this.#postponed !== null && expected - wall > limits.clock_jump_ms_max) this.#postponed.since = monotonic;
    this.#at = wall;
    this.#monotonic = monotonic;
    this.#doubt = null;
    return wall;
  }

  /** The monotonic clock does not advance while the machine sleeps; its uptime does. */
  #noteSleep(monotonic: number): number {
    const sleptMs = this.#clock.uptimeMs() - monotonic;
    const more = Math.max(0, sleptMs - this.#sleptMs);
    this.#sleptMs = sleptMs;
    this.#at += more;
    return more;
  }

  /**
   * The time up to which timers fire, messages expire and the event log is pruned. Equal to `now`, except that after a
   * restart of the machine it continues from the last turn until the clock's jump has lasted: a server that was off for
   * a month fires its timers two minutes late.
   */
  due(): number {
    const now = this.now();
    if (this.#postponed === null) return now;
    const monotonic = this.#clock.monotonic();
    const continued = this.#postponed.at + monotonic - this.#postponed.monotonic;
    const hasLasted = this.#doubt === null && monotonic - this.#postponed.since >= limits.clock_jump_lasting_ms;
    const isJump = now - continued > limits.clock_jump_ms_max;
    if (isJump && !hasLasted) return continued;
    if (isJump) this.#clockJumps++;
    this.#postponed = null;
    return now;
  }

  /** An operator confirmed the clock. */
  trust(): void {
    this.#believe(this.#clock.now(), this.#clock.monotonic(), this.#at);
    this.#postponed = null;
    this.#clockJumps++;
  }

  /** Number of jumps that were accepted since the realm was opened. */
  get clockJumps(): number {
    return this.#clockJumps;
  }

  mark(at: number, dueAt: number): TimeMark {
    return { at, dueAt, bootId: this.#clock.bootId, uptimeMs: this.#clock.monotonic() + this.#sleptMs };
  }
}

/** Returns null if the machine was restarted meanwhile, or if its boot id is unknown. */
function passedSince({ bootId, uptimeMs }: TimeMark, clock: Clock): number | null {
  const passedMs = clock.uptimeMs() - uptimeMs;
  return bootId !== "" && bootId === clock.bootId && passedMs >= 0 ? passedMs : null;
}

function describe(aheadMs: number): string {
  return `The system clock jumped ahead by ${Math.round(aheadMs / 1000)} seconds`;
}

/**
 * A clock whose callbacks survive damaged data, a lack of descriptors and bugs: that background work is abandoned and
 * reported, and the process keeps serving everything else. Work that must be done again sets its next timer first, or
 * in a `finally`. Any other error may be a write that failed, so it is rethrown and ends the process (M5). Turns do not
 * rely on this: the dispatcher ends the process itself.
 */
export function guardedClock(clock: Clock, report: (error: unknown) => void): Clock {
  const guarded = (callback: () => void) => () => {
    try {
      callback();
    } catch (error) {
      if (damageIn(error) === null && !isOutOfDescriptors(error) && !isBug(error)) throw error;
      report(error);
    }
  };
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    uptimeMs: () => clock.uptimeMs(),
    bootId: clock.bootId,
    after: (milliseconds, callback) => clock.after(milliseconds, guarded(callback)),
    soon: (callback) => clock.soon(guarded(callback)),
  };
}

/** Errors of the language and of arguments. Neither LMDB nor the file system reports a failed write as one of them. */
function isBug(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}

export interface Clock {
  /** Wall-clock milliseconds since 1970; may jump. */
  now(): number;
  /** Milliseconds that only grow, for budgets and durations. Does not advance while the machine sleeps. */
  monotonic(): number;
  /** Milliseconds since the machine started, including sleep. */
  uptimeMs(): number;
  /** Changes whenever the machine restarts; "" if unknown. */
  readonly bootId: string;
  /** @returns a function that cancels the timer */
  after(milliseconds: number, callback: () => void): () => void;
  /** Runs in the next iteration of the event loop, after the input that arrived in this one. */
  soon(callback: () => void): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  uptimeMs: () => uptime() * 1000,
  bootId: readBootId(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
  soon: (callback) => void setImmediate(callback),
};

function readBootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 13);
  } catch {
    return "";
  }
}
