/**
 * The numbers of a realm that must never repeat: counters, event positions and the last turn's time (M4, E1). Counters
 * are written once per turn. Positions are leased: a ceiling is persisted ahead, so a volatile event gets a position
 * without a disk write, and a restart begins at the ceiling.
 */
import { limits } from "../../schemas/limits.ts";
import { type CounterName, counterNames } from "../../schemas/records.ts";
import type { Lmdb } from "../store/lmdb.ts";
import { dueNowAt, type RealmTime, type TimeMark } from "./clock.ts";
import type { TurnState } from "./realm-view.ts";

interface RealmCountersRow {
  /** Those that are not zero: each turn writes this row, and an organization uses few of them. */
  readonly counters: Readonly<Partial<Record<CounterName, number>>>;
  readonly positionCeiling: number;
  readonly turnAt: number;
  readonly eventBytes: number;
  /** Belongs to `turnAt`; absent before the first turn. */
  readonly mark?: Omit<TimeMark, "at">;
  /** See `View.clockJumps`. */
  readonly clockJumps: number;
}

export class RealmCounters {
  readonly turn: TurnState;
  readonly #lmdb: Lmdb;
  #ceiling: number;
  #eventBytes: number;
  #mark: TimeMark | null;
  /** Clock jumps while the realm was open earlier. */
  readonly #earlierClockJumps: number;

  private constructor(lmdb: Lmdb, row: RealmCountersRow) {
    this.#lmdb = lmdb;
    const counters = Object.fromEntries(counterNames.map((name) => [name, row.counters[name] ?? 0]));
    this.turn = {
      now: row.turnAt,
      dueNow: row.turnAt,
      clockJumps: row.clockJumps,
      turnsSinceRequest: 0,
      position: row.positionCeiling,
      counters: counters as Record<CounterName, number>,
    };
    this.#ceiling = row.positionCeiling;
    this.#eventBytes = row.eventBytes;
    this.#earlierClockJumps = row.clockJumps;
    const mark = row.mark ?? { dueAt: row.turnAt, bootId: "", uptimeMs: 0 };
    this.#mark = row.turnAt === 0 ? null : { at: row.turnAt, ...mark };
  }

  /** The time of the last turn; null if there was none. */
  get mark(): TimeMark | null {
    return this.#mark;
  }

  /**
   * Reads the counters and begins a new boot: positions start at the previous ceiling (E1).
   * @param mayWrite false on a full disk: the first turn writes the row, before it takes a position
   */
  static open(lmdb: Lmdb, mayWrite = true): RealmCounters {
    const stored = lmdb.get("meta", "counters")?.value as RealmCountersRow | undefined;
    const realmCounters = new RealmCounters(
      lmdb,
      stored ?? { counters: {}, positionCeiling: 1, turnAt: 0, eventBytes: 0, clockJumps: 0 },
    );
    realmCounters.turn.counters.boot++;
    if (mayWrite) lmdb.transaction(() => realmCounters.write());
    return realmCounters;
  }

  /**
   * Begins a turn. Time never goes back (M4). `isRequested` says whether requests are waiting; background work takes larger
   * steps if not.
   * @param firedUpTo due time of the latest timer that fired: the turn's time is not before it, even if the clock was
   *   set back meanwhile
   */
  begin(time: RealmTime, firedUpTo: number, isRequested: boolean): void {
    this.turn.now = Math.max(time.now(), firedUpTo, this.turn.now);
    this.turn.dueNow = dueNowAt(this.turn.now, Math.max(time.due(), firedUpTo));
    this.turn.clockJumps = this.#earlierClockJumps + time.clockJumps;
    this.#mark = time.mark(this.turn.now, this.turn.dueNow);
    this.turn.turnsSinceRequest = isRequested ? 0 : this.turn.turnsSinceRequest + 1;
  }

  /** The event log grew, or shrank if `bytes` is negative. */
  grew(bytes: number): void {
    this.#eventBytes = Math.max(0, this.#eventBytes + bytes);
  }

  get eventBytes(): number {
    return this.#eventBytes;
  }

  /** Whether the next turn must write even if it is volatile, because the lease is running out. */
  needsCeiling(): boolean {
    return this.leaseLeft() < limits.counter_lease_positions / 2;
  }

  /** Positions that can be taken without a disk write. */
  leaseLeft(): number {
    return this.#ceiling - this.turn.position;
  }

  /**
   * Must be the last write inside a turn's transaction. It always writes, because the row includes the turn's time
   * (M4).
   */
  write(): void {
    if (this.needsCeiling()) this.#ceiling = this.turn.position + limits.counter_lease_positions;
    const { at: turnAt, ...mark } = this.#mark ?? { at: this.turn.now };
    const counters: Partial<Record<CounterName, number>> = {};
    for (const name of counterNames) if (this.turn.counters[name] !== 0) counters[name] = this.turn.counters[name];
    const row: RealmCountersRow = {
      counters,
      positionCeiling: this.#ceiling,
      turnAt,
      eventBytes: this.#eventBytes,
      ...("bootId" in mark ? { mark } : {}),
      clockJumps: this.turn.clockJumps,
    };
    this.#lmdb.put("meta", "counters", { value: row });
  }
}
