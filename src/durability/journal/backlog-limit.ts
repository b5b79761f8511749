/**
 * Bounds the backlog of a process: turns that are not durable yet, rows and records that the stores
 * do not have yet. All journals of a process share one, so its bounds hold for them together, and a journal that makes
 * room wakes all callers that wait for it.
 */
import { limits } from "../../../schemas/limits.ts";
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

export interface BacklogMember {
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
