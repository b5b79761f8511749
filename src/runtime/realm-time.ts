/**
 * A realm's time: the wall clock, as far as it can be believed. A wall clock that jumps forward by more than `clock_leap_ms_max`
 * is believed only after the jump has lasted `clock_leap_lasting_ms` on the monotonic clock; until then time goes on from where
 * it was. 12:00:00, the clock jumps to 2028 for three seconds and returns: messages of these seconds are dated 12:00:01 to 12:00:03.
 * A clock that is set back is followed; the ledger keeps the realm's time from going back with it (M4).
 *
 * After a restart of the process the machine's uptime says how long it was away. After a restart of the machine nothing does: a
 * long downtime looks like a jump. Messages get the clock's date at once, and only what cannot be undone waits (see `due`).
 */
import { limits } from "../../schemas/limits.ts";
import type { Clock } from "./clock.ts";

/** The times of a realm's last turn (`now` and `due`), and the machine's uptime at that moment. */
export interface TimeMark {
  readonly at: number;
  readonly dueAt: number;
  readonly bootId: string;
  readonly uptimeMs: number;
}

/** Below this, the wall clock's own inaccuracy is not worth a look at the machine's uptime. */
const slack_ms = 1000;

export class RealmTime {
  readonly #clock: Clock;
  readonly #warn: (line: string) => void;
  /** A moment that is believed: on the wall clock, and on the monotonic one. */
  #at: number;
  #monotonic: number;
  /** How much the uptime is ahead of the monotonic clock: it grows while the machine sleeps. */
  #sleptMs: number;
  #doubt: { readonly since: number; readonly aheadMs: number } | null = null;
  /** After a restart of the machine: the time of before, until the clock has lasted. */
  #hold: { readonly at: number; readonly monotonic: number; since: number } | null = null;
  #leaps = 0;

  /** @param last null: the realm is new */
  constructor(clock: Clock, last: TimeMark | null, warn: (line: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
    const monotonic = clock.monotonic();
    const wall = clock.now();
    this.#monotonic = monotonic;
    this.#sleptMs = clock.uptimeMs() - monotonic;
    const passedMs = last === null ? null : passedSince(last, clock);
    this.#at = last === null || passedMs === null ? wall : last.at + passedMs;
    // `due` lets it go where it is not needed. A restart amid the two minutes goes on with them.
    if (last !== null) this.#hold = { at: last.dueAt + (passedMs ?? 0), monotonic, since: monotonic };
  }

  /** Milliseconds since 1970, with which rows are dated. */
  now(): number {
    const wall = this.#clock.now();
    const monotonic = this.#clock.monotonic();
    let expected = this.#at + monotonic - this.#monotonic;
    if (wall - expected <= slack_ms) return this.#believe(wall, monotonic, expected);
    if (!this.#isDoubted(wall - expected)) expected += this.#noteSleep(monotonic);
    const aheadMs = wall - expected;
    if (aheadMs <= limits.clock_leap_ms_max) return this.#believe(wall, monotonic, expected);
    if (this.#doubt === null || !this.#isDoubted(aheadMs)) {
      this.#doubt = { since: monotonic, aheadMs };
      this.#warn(
        `${describe(aheadMs)}. Not believed until it has lasted ${limits.clock_leap_lasting_ms / 1000} seconds.`,
      );
    }
    if (monotonic - this.#doubt.since < limits.clock_leap_lasting_ms) return expected;
    this.#leaps++;
    this.#warn(`${describe(aheadMs)} and stayed there. It is believed now; if it is wrong, see "cli set-time --help".`);
    return this.#believe(wall, monotonic, expected);
  }

  #isDoubted(aheadMs: number): boolean {
    return this.#doubt !== null && Math.abs(aheadMs - this.#doubt.aheadMs) <= limits.clock_leap_ms_max;
  }

  #believe(wall: number, monotonic: number, expected: number): number {
    // A clock that is corrected proves that it was wrong: what waits for it to last waits anew.
    if (this.#hold !== null && expected - wall > limits.clock_leap_ms_max) this.#hold.since = monotonic;
    this.#at = wall;
    this.#monotonic = monotonic;
    this.#doubt = null;
    return wall;
  }

  /** The monotonic clock stands still while the machine sleeps; its uptime does not. */
  #noteSleep(monotonic: number): number {
    const sleptMs = this.#clock.uptimeMs() - monotonic;
    const more = Math.max(0, sleptMs - this.#sleptMs);
    this.#sleptMs = sleptMs;
    this.#at += more;
    return more;
  }

  /**
   * Up to when timers ring, messages expire and the event log is pruned: as `now`, but after a restart of the machine time goes on
   * from the last turn until the clock has lasted. A server that was off for a month rings its timers two minutes late.
   */
  due(): number {
    const now = this.now();
    if (this.#hold === null) return now;
    const monotonic = this.#clock.monotonic();
    const held = this.#hold.at + monotonic - this.#hold.monotonic;
    const hasLasted = this.#doubt === null && monotonic - this.#hold.since >= limits.clock_leap_lasting_ms;
    const isLeap = now - held > limits.clock_leap_ms_max;
    if (isLeap && !hasLasted) return held;
    if (isLeap) this.#leaps++;
    this.#hold = null;
    return now;
  }

  /** An operator says that the clock is right. */
  trust(): void {
    this.#believe(this.#clock.now(), this.#clock.monotonic(), this.#at);
    this.#hold = null;
    this.#leaps++;
  }

  /** How many jumps `due` has made since the realm was opened. */
  get leaps(): number {
    return this.#leaps;
  }

  mark(at: number, dueAt: number): TimeMark {
    return { at, dueAt, bootId: this.#clock.bootId, uptimeMs: this.#clock.monotonic() + this.#sleptMs };
  }
}

/** null: the machine was started anew meanwhile, or does not say. */
function passedSince({ bootId, uptimeMs }: TimeMark, clock: Clock): number | null {
  const passedMs = clock.uptimeMs() - uptimeMs;
  return bootId !== "" && bootId === clock.bootId && passedMs >= 0 ? passedMs : null;
}

function describe(aheadMs: number): string {
  return `The system clock jumped ahead by ${Math.round(aheadMs / 1000)} seconds`;
}
