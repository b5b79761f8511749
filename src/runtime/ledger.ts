/**
 * The numbers of a realm that must never repeat: counters, event positions, the last turn's time (M4, E1).
 * Counters are written once per turn. Positions are leased: a ceiling is persisted ahead, so that a volatile
 * event takes one without a disk write, and a restart begins at the ceiling.
 */
import { limits } from "../../schemas/limits.ts";
import { type CounterName, counterNames } from "../../schemas/records.ts";
import type { Environment } from "../store/environment.ts";
import type { RealmTime, TimeMark } from "./realm-time.ts";
import type { TurnState } from "./realm-view.ts";
import { dueBeside } from "./turn-times.ts";

interface LedgerRow {
  readonly counters: Readonly<Partial<Record<CounterName, number>>>;
  readonly positionCeiling: number;
  readonly turnAt: number;
  readonly eventBytes: number;
  /** What belongs to `turnAt`; absent in rows of before. */
  readonly mark?: Omit<TimeMark, "at">;
  /** See `View.leaps`; absent: 0. */
  readonly leaps?: number;
}

export class Ledger {
  readonly turn: TurnState;
  readonly #environment: Environment;
  #ceiling: number;
  #eventBytes: number;
  #mark: TimeMark | null;
  /** Of earlier times that the realm was open. */
  readonly #earlierLeaps: number;

  private constructor(environment: Environment, row: LedgerRow) {
    this.#environment = environment;
    const counters = Object.fromEntries(counterNames.map((name) => [name, row.counters[name] ?? 0]));
    this.turn = {
      now: row.turnAt,
      dueNow: row.turnAt,
      leaps: row.leaps ?? 0,
      turnsUnasked: 0,
      position: row.positionCeiling,
      counters: counters as Record<CounterName, number>,
    };
    this.#ceiling = row.positionCeiling;
    this.#eventBytes = row.eventBytes;
    this.#earlierLeaps = row.leaps ?? 0;
    const mark = row.mark ?? { dueAt: row.turnAt, bootId: "", uptimeMs: 0 };
    this.#mark = row.turnAt === 0 ? null : { at: row.turnAt, ...mark };
  }

  /** When the last turn was; null: there was none. */
  get mark(): TimeMark | null {
    return this.#mark;
  }

  /** Reads the ledger and begins a new boot: positions start at the ceiling of before (E1). Flushed when it returns. */
  static open(environment: Environment): Ledger {
    const stored = environment.get("meta", "ledger")?.value as LedgerRow | undefined;
    const ledger = new Ledger(environment, stored ?? { counters: {}, positionCeiling: 1, turnAt: 0, eventBytes: 0 });
    ledger.turn.counters.boot++;
    environment.transaction(() => ledger.write());
    return ledger;
  }

  /**
   * A turn begins: time never goes back (M4), and whether people ask says how large a piece of long work may be.
   * @param rungUpTo the latest timer that has rung: it finds its time come when the clock was set back meanwhile
   */
  begin(time: RealmTime, rungUpTo: number, isAsked: boolean): void {
    this.turn.now = Math.max(time.now(), rungUpTo, this.turn.now);
    this.turn.dueNow = dueBeside(this.turn.now, Math.max(time.due(), rungUpTo));
    this.turn.leaps = this.#earlierLeaps + time.leaps;
    this.#mark = time.mark(this.turn.now, this.turn.dueNow);
    this.turn.turnsUnasked = isAsked ? 0 : this.turn.turnsUnasked + 1;
  }

  /** The event log grew, or shrank when negative. */
  grew(bytes: number): void {
    this.#eventBytes = Math.max(0, this.#eventBytes + bytes);
  }

  get eventBytes(): number {
    return this.#eventBytes;
  }

  /** Whether the next turn has to write, however volatile it is: the lease runs out. */
  needsCeiling(): boolean {
    return this.leaseLeft() < limits.counter_lease_positions / 2;
  }

  /** Positions that may still be taken without a disk write. */
  leaseLeft(): number {
    return this.#ceiling - this.turn.position;
  }

  /** Only inside a turn's transaction, as its last write. Always: the turn's time is part of it (M4). */
  write(): void {
    if (this.needsCeiling()) this.#ceiling = this.turn.position + limits.counter_lease_positions;
    const { at: turnAt, ...mark } = this.#mark ?? { at: this.turn.now };
    const row: LedgerRow = {
      counters: { ...this.turn.counters },
      positionCeiling: this.#ceiling,
      turnAt,
      eventBytes: this.#eventBytes,
      ...("bootId" in mark ? { mark } : {}),
      leaps: this.turn.leaps,
    };
    this.#environment.put("meta", "ledger", { value: row });
  }
}
