/**
 * The turns that a machine has made and the disk does not have yet. The replica is what the disk has: it gets a turn
 * when its record is flushed, and after a crash those whose records survived. The others never were.
 */
import type { Command } from "../../actors/protocol/decision.ts";
import type { TableName } from "../../schemas/records.ts";
import type { RecordNumber } from "../../src/durability/journal/journal.ts";
import type { StoreTables } from "../../src/store/tables.ts";
import type { Replica, Write } from "./replica.ts";
import { TablesTap } from "./tables-tap.ts";

/** What is noted about a turn when it ends. */
export interface TurnNote {
  /** Commands that ran since the turn before. */
  readonly executed: readonly Command[];
  /** Readers to whom its events are pushed. */
  readonly connected: ReadonlyMap<unknown, number>;
}

export interface Turn extends TurnNote {
  readonly position: RecordNumber;
  readonly writes: readonly Write[];
}

interface Look {
  /** The last turn that memory had. */
  readonly position: RecordNumber;
  readonly look: () => void;
  readonly ifLost: () => void;
}

export interface TurnLogOptions {
  readonly replica: Replica;
  /** Number of turns that the disk has at first. */
  readonly stored: number;
  readonly note: () => TurnNote;
  /** A turn is on the disk; its rows are not in the replica yet. */
  readonly committed: (turn: Turn) => void;
}

export class TurnLog {
  readonly #options: TurnLogOptions;
  #turns: Turn[] = [];
  #looks: Look[] = [];
  #count: number;
  /** By the parameters of a command: the turn in which it ran. */
  readonly #turnOf = new WeakMap<object, RecordNumber>();
  #durable: RecordNumber = 0;

  constructor(options: TurnLogOptions) {
    this.#options = options;
    this.#count = options.stored;
  }

  /** Number of turns that the disk has. */
  get count(): number {
    return this.#count;
  }

  /** The disk has every turn. */
  get isSettled(): boolean {
    return this.#turns.length === 0;
  }

  ended(position: RecordNumber, writes: readonly Write[]): void {
    const note = this.#options.note();
    this.#turns.push({ ...note, position, writes });
    for (const { to, params } of note.executed) {
      const isVolatile = to.actor === "typing" || to.actor === "presence";
      if (!isVolatile && typeof params === "object" && params !== null) this.#turnOf.set(params, position);
    }
  }

  /** Whether a crash would not take back the turn in which this command ran. */
  isOnDisk(command: Command): boolean {
    return (this.#turnOf.get(command.params as object) ?? 0) <= this.#durable;
  }

  /** Runs `look` when the replica is as memory is now, or `ifLost` after the crash that takes this state back. */
  inThisState(look: () => void, ifLost: () => void = () => undefined): void {
    const last = this.#turns.at(-1);
    if (last === undefined) look();
    else this.#looks.push({ position: last.position, look, ifLost });
  }

  flushed(upTo: RecordNumber): void {
    this.#durable = upTo;
    while ((this.#turns[0]?.position ?? Number.POSITIVE_INFINITY) <= upTo) this.#commit(this.#turns.shift() as Turn);
  }

  #commit(turn: Turn): void {
    this.#options.committed(turn);
    for (const write of turn.writes) this.#options.replica.apply(write);
    this.#count++;
    const due = this.#looks.filter(({ position }) => position === turn.position);
    this.#looks = this.#looks.filter(({ position }) => position !== turn.position);
    for (const { look } of due) look();
  }

  /** The machine went down. @param end the last record that survived */
  recovered(end: RecordNumber): void {
    this.flushed(end);
    this.#turns = [];
    const lost = this.#looks;
    this.#looks = [];
    for (const { ifLost } of lost) ifLost();
  }
}

/** Notes what a realm writes. */
export class Recorder extends TablesTap {
  readonly #ended: (writes: readonly Write[]) => void;
  #staged: Write[] = [];

  /** @param ended is called when a turn's record has been appended */
  constructor(inner: StoreTables, ended: (writes: readonly Write[]) => void) {
    super(inner);
    this.#ended = ended;
  }

  override write(table: TableName, key: unknown, bytes: Uint8Array | null): void {
    super.write(table, key, bytes);
    this.#staged.push({ table, key, bytes });
  }

  override transaction<R>(work: () => R): R {
    const isOutermost = !this.isWriting;
    const before = this.#staged.length;
    let result: R;
    try {
      result = super.transaction(work);
    } catch (error) {
      this.#staged.length = before;
      throw error;
    }
    if (!isOutermost || this.#staged.length === 0) return result;
    const writes = this.#staged;
    this.#staged = [];
    this.#ended(writes);
    return result;
  }
}
