/**
 * The gate of a realm: what shows a turn leaves when the turn's record is durable (M1, M9). Memory is ahead of the
 * disk by the turns that are not flushed yet; nothing outside ever is. Answers, frames, emails and webhooks pass it.
 *
 * Bounds the backlog of a process: turns that are not durable yet, rows and records that the stores do not have yet.
 * All journals of a process share one, so its bounds hold for them together, and a journal that makes room wakes all
 * callers that wait for it.
 */
import { limits } from "../../../schemas/limits.ts";
import type { TableName } from "../../../schemas/records.ts";
import type { Journal, RecordNumber } from "./journal.ts";
import type { MemoryCount } from "./overlay.ts";

/** The bytes that a journal and its stores do not have yet. */
export interface Backlog {
  /** The size of turns that are not durable yet. */
  readonly unflushedBytes: number;
  /** The size of records that the stores do not have yet. */
  readonly uncheckpointedBytes: number;
  /** An upper bound of the memory of these records. */
  readonly recordMemoryBytes: number;
}

interface BacklogMember {
  readonly backlog: Backlog;
  /** Brings what is durable into the stores now. */
  checkpoint(): void;
}

const nothing: Backlog = { unflushedBytes: 0, uncheckpointedBytes: 0, recordMemoryBytes: 0 };

export class BacklogLimit {
  /** Counts the memory of all overlays. */
  readonly overlays: MemoryCount = { bytes: 0 };
  /** Counts the memory of what waits at the gates of all journals. */
  readonly atGates: MemoryCount = { bytes: 0 };
  readonly #reportBug: (error: unknown) => void;
  readonly #shares = new Set<BacklogShare>();
  #sum: Backlog = nothing;
  #isUrgent = false;
  #waiting: (() => void)[] = [];

  /** @param reportBug gets the errors of listeners that continued */
  constructor(reportBug: (error: unknown) => void) {
    this.#reportBug = reportBug;
  }

  join(member: BacklogMember): BacklogShare {
    const share = new BacklogShare(member, {
      changed: (before, now) => this.#changed(before, now),
      left: () => this.#shares.delete(share),
    });
    this.#shares.add(share);
    return share;
  }

  get backlog(): Backlog {
    return this.#sum;
  }

  /** An upper bound of the memory of everything that the stores do not have yet. */
  get memoryBytes(): number {
    return this.overlays.bytes + this.#sum.recordMemoryBytes;
  }

  /** Whether turns may go on. */
  get hasRoom(): boolean {
    return (
      this.#sum.unflushedBytes < limits.journal_unflushed_bytes_max &&
      this.atGates.bytes < limits.gate_bytes_max &&
      this.memoryBytes < limits.overlay_bytes_max
    );
  }

  /** Whether a checkpoint should not wait for its time. */
  get isUrgent(): boolean {
    const { uncheckpointedBytes } = this.#sum;
    return uncheckpointedBytes >= limits.checkpoint_bytes || this.memoryBytes >= limits.checkpoint_memory_bytes;
  }

  /** Runs `goOn` when there is room again. */
  once(goOn: () => void): void {
    this.#waiting.push(goOn);
  }

  /** A disk or a store has more than before. */
  advanced(): void {
    if (!this.isUrgent) this.#isUrgent = false;
    else if (!this.#isUrgent) {
      // Once: what becomes durable meanwhile is brought into the stores by its own journal.
      this.#isUrgent = true;
      for (const share of this.#shares) share.checkpoint();
    }
    if (this.#waiting.length === 0 || !this.hasRoom) return;
    for (const goOn of this.#waiting.splice(0)) {
      try {
        goOn();
      } catch (error) {
        this.#reportBug(error);
      }
    }
  }

  #changed(before: Backlog, now: Backlog): void {
    const sum = this.#sum;
    this.#sum = {
      unflushedBytes: sum.unflushedBytes + now.unflushedBytes - before.unflushedBytes,
      uncheckpointedBytes: sum.uncheckpointedBytes + now.uncheckpointedBytes - before.uncheckpointedBytes,
      recordMemoryBytes: sum.recordMemoryBytes + now.recordMemoryBytes - before.recordMemoryBytes,
    };
  }
}

interface ShareEvents {
  readonly changed: (before: Backlog, now: Backlog) => void;
  readonly left: () => void;
}

/** The part of one journal. */
export class BacklogShare {
  readonly #member: BacklogMember;
  readonly #events: ShareEvents;
  #counted: Backlog = nothing;

  constructor(member: BacklogMember, events: ShareEvents) {
    this.#member = member;
    this.#events = events;
  }

  /** To be called whenever what the member lacks may have changed. */
  count(): void {
    this.#set(this.#member.backlog);
  }

  checkpoint(): void {
    if (this.#counted.uncheckpointedBytes > 0) this.#member.checkpoint();
  }

  /** The journal is closed. */
  leave(): void {
    this.#set(nothing);
    this.#events.left();
  }

  #set(now: Backlog): void {
    this.#events.changed(this.#counted, now);
    this.#counted = now;
  }
}

/**
 * Notes the turns that a read has seen. Its answer waits for these turns and for no others (M9). Rows count one by one,
 * also those that are absent because a turn removed them; what memory derives from a table counts as the whole table.
 * So the reader of an old message does not wait for those that others are posting. Only synchronous reads can be
 * watched; the others wait for everything.
 */
export class ReadTracker {
  /** The record that wrote a table last. */
  readonly #writtenAt = new Map<TableName, RecordNumber>();
  #seen: RecordNumber = 0;
  #isWatched = false;

  noteWritten(tables: Iterable<TableName>, position: RecordNumber): void {
    for (const table of tables) this.#writtenAt.set(table, position);
  }

  /**
   * A read begins.
   * @param isGateOpen everything that memory shows is durable: what the read sees need not be watched
   */
  begin(isGateOpen: boolean): void {
    this.#seen = 0;
    this.#isWatched = !isGateOpen;
  }

  /** Whether what is read now must be noted. */
  get isWatched(): boolean {
    return this.#isWatched;
  }

  /** Called for each row that is read, or found to be removed, with the record that wrote it last. */
  noteRecord(position: RecordNumber): void {
    if (position > this.#seen) this.#seen = position;
  }

  /** Called for each access to something in memory that follows a table. */
  noteRead(table: TableName): void {
    if (!this.#isWatched) return;
    const position = this.#writtenAt.get(table);
    if (position !== undefined && position > this.#seen) this.#seen = position;
  }

  noteReads(tables: readonly TableName[]): void {
    if (!this.#isWatched) return;
    for (const table of tables) this.noteRead(table);
  }

  /**
   * The last record that wrote something which was read since `begin`; 0 if none did, null if the read was not watched.
   */
  get newestRecord(): RecordNumber | null {
    return this.#isWatched ? this.#seen : null;
  }
}

interface TurnPassesOptions {
  readonly journal: Pick<Journal, "together">;
  readonly clock: { monotonic(): number; soon(callback: () => void): void };
}

/**
 * Runs the turns of all realms that have commands in one pass, whose records are handed to the journal together: many
 * realms with a command each cost one immediate and one wake-up of the journal thread. Each turn still has a record of
 * its own, and a turn that throws does not keep the others from running (M6).
 */
export class TurnPasses {
  readonly #options: TurnPassesOptions;
  #due: (() => void)[] = [];

  constructor(options: TurnPassesOptions) {
    this.#options = options;
  }

  /** Runs a turn after what waits now. */
  add(turn: () => void): void {
    this.#due.push(turn);
    if (this.#due.length === 1) this.#options.clock.soon(() => this.#run());
  }

  #run(): void {
    const due = this.#due;
    this.#due = [];
    let begun = 0;
    const { clock, journal } = this.#options;
    const runSome = () => {
      const end = clock.monotonic() + limits.turn_pass_ms_max;
      do (due[begun++] as () => void)();
      while (begun < due.length && clock.monotonic() < end);
    };
    try {
      while (begun < due.length) journal.together(runSome);
    } finally {
      // A turn threw: those behind it run in the next pass, whatever becomes of the error.
      for (const turn of due.slice(begun)) this.add(turn);
    }
  }
}

export interface DurabilityGate {
  /** Whether everything that the realm's memory shows is durable. */
  readonly isOpen: boolean;
  /** The record of the realm's last turn: what memory shows at most. */
  readonly newestRecord: RecordNumber;
  /** Tracks the turns that synchronous reads have seen. */
  readonly reads: ReadTracker;
  isOpenFor(position: RecordNumber): boolean;
  /**
   * Runs `leave` once everything that the realm's memory shows now is durable: at once if it is, otherwise in order.
   * @param seen what `leave` shows, if that is less
   * @param bytes memory that `leave` keeps while it waits, if it is not counted elsewhere (S3)
   */
  waitFor(leave: () => void, seen?: RecordNumber, bytes?: number): void;
  /** Whether turns may go on. Otherwise commands wait in the queue, because the disk is too far behind. */
  readonly hasRoom: boolean;
  /** Runs `goOn` when there is room again. */
  onceRoom(goOn: () => void): void;
  /** Runs the realm's turns together with those of others; null: no other realm shares its journal. */
  readonly passes: TurnPasses | null;
}

/** For a realm that no server serves (offline in durability.ts). */
export const alwaysDurable: DurabilityGate = {
  isOpen: true,
  newestRecord: 0,
  reads: new ReadTracker(),
  isOpenFor: () => true,
  waitFor: (leave) => leave(),
  hasRoom: true,
  onceRoom: (goOn) => goOn(),
  passes: null,
};

/** Resolves once everything that the realm's memory shows now is durable. */
export function onceDurable(gate: DurabilityGate): Promise<void> {
  return new Promise((resolve) => gate.waitFor(resolve));
}

interface Waiting {
  readonly position: RecordNumber;
  readonly leave: () => void;
  readonly bytes: number;
}

export interface DurabilityGatesOptions {
  readonly journal: Pick<Journal, "durable" | "together">;
  /** Whether the journal and the stores keep up. */
  readonly hasRoom: () => boolean;
  /** Runs `goOn` when they do again. */
  readonly onceRoom: (goOn: () => void) => void;
  /** Counts the memory of what waits. */
  readonly memory: MemoryCount;
  /** Called when answers that leave in several passes have left. */
  readonly onLeft: () => void;
  readonly clock: { monotonic(): number; soon(callback: () => void): void };
  /** Something that left threw. Everything behind it still leaves. */
  readonly reportBug: (error: unknown) => void;
  /**
   * Whether anything may leave at all; by default always. If not, waiting answers never leave: the process is about to
   * end.
   */
  readonly mayLeave?: () => boolean;
}

/** The answers that wait in a process. The journal has one order for all realms, so there is one list in that order. */
export class DurabilityGates {
  readonly #options: DurabilityGatesOptions;
  readonly passes: TurnPasses;
  #waiting: Waiting[] = [];
  /** The number of answers that the running walk has released. */
  #left = 0;
  #isGoingOn = false;
  /** Everything that waited for a record up to here has left. */
  #leftUpTo: RecordNumber = 0;

  constructor(options: DurabilityGatesOptions) {
    this.#options = options;
    this.passes = new TurnPasses(options);
    this.#leftUpTo = options.journal.durable;
  }

  open(): RealmDurabilityGate {
    return new RealmDurabilityGate(this);
  }

  isOpenFor(position: RecordNumber): boolean {
    return position <= this.#leftUpTo && this.#mayLeave;
  }

  get #mayLeave(): boolean {
    return this.#options.mayLeave?.() ?? true;
  }

  get hasRoom(): boolean {
    // Turns that come while events are leaving become one, so that a socket gets their events in one write.
    return !this.#isGoingOn && this.#options.hasRoom();
  }

  onceRoom(goOn: () => void): void {
    this.#options.onceRoom(goOn);
  }

  wait(waiting: Waiting): void {
    this.#options.memory.bytes += waiting.bytes;
    const last = this.#waiting.at(-1);
    if (last === undefined || last.position <= waiting.position) this.#waiting.push(waiting);
    // Its realm has not written since, while others have.
    else this.#waiting.splice(this.#placeOf(waiting.position), 0, waiting);
  }

  /** Behind everything that waits for the same record or an earlier one, and behind what has left in this walk. */
  #placeOf(position: RecordNumber): number {
    let low = this.#left;
    for (let high = this.#waiting.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((this.#waiting[middle] as Waiting).position > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The journal is durable further than before. */
  advanced(): void {
    const { durable } = this.#options.journal;
    if (!this.#mayLeave) return;
    this.#letLeave(durable);
    const [next] = this.#waiting;
    const isMore = next !== undefined && next.position <= durable;
    this.#leftUpTo = isMore ? next.position - 1 : durable;
    if (isMore) this.#goOnSoon();
  }

  /** Events for ten thousand sockets take longer than anybody else should wait: the rest leaves in the next passes. */
  #letLeave(durable: RecordNumber): void {
    const { clock, memory } = this.#options;
    const end = clock.monotonic() + limits.gate_pass_ms_max;
    // A released answer can release the next one, so the list may grow while we iterate.
    for (
      let next = this.#waiting[0];
      next !== undefined && next.position <= durable && (this.#left === 0 || clock.monotonic() < end);
      next = this.#waiting[this.#left]
    ) {
      this.#left++;
      memory.bytes -= next.bytes;
      this.#run(next.leave);
    }
    this.#waiting = this.#waiting.slice(this.#left);
    this.#left = 0;
  }

  #goOnSoon(): void {
    if (this.#isGoingOn) return;
    this.#isGoingOn = true;
    this.#options.clock.soon(() => {
      this.#isGoingOn = false;
      this.advanced();
      if (!this.#isGoingOn) this.#options.onLeft();
    });
  }

  #run(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.reportBug(error);
    }
  }
}

export class RealmDurabilityGate implements DurabilityGate {
  readonly reads = new ReadTracker();
  readonly #gates: DurabilityGates;
  #shown: RecordNumber = 0;

  constructor(gates: DurabilityGates) {
    this.#gates = gates;
  }

  /** The realm appended a record: memory shows its turn from now on. */
  appended(position: RecordNumber, tables: Iterable<TableName>): void {
    this.#shown = position;
    this.reads.noteWritten(tables, position);
  }

  get newestRecord(): RecordNumber {
    return this.#shown;
  }

  get isOpen(): boolean {
    return this.#gates.isOpenFor(this.#shown);
  }

  isOpenFor(position: RecordNumber): boolean {
    return this.#gates.isOpenFor(position);
  }

  waitFor(leave: () => void, seen = this.#shown, bytes = 0): void {
    if (this.#gates.isOpenFor(seen)) leave();
    else this.#gates.wait({ position: seen, leave, bytes });
  }

  get hasRoom(): boolean {
    return this.#gates.hasRoom;
  }

  onceRoom(goOn: () => void): void {
    this.#gates.onceRoom(goOn);
  }

  get passes(): TurnPasses {
    return this.#gates.passes;
  }
}
