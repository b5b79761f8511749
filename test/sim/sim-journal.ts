/**
 * The journal of a simulated machine. Records are flushed in groups, each after a time from the seed; a crash loses
 * what was not flushed, or all but a part of it; a flush may fail, stand still, or be acknowledged by nobody.
 */
import { limits } from "../../schemas/limits.ts";
import { type Journal, JournalLost, type Recorded, type RecordNumber } from "../../src/durability/journal/journal.ts";
import { type FaultPlan, type JournalFault, MachineDown } from "./faults.ts";

/** What survives the process. */
export class JournalDisk {
  #records: Recorded[] = [];
  #end: RecordNumber = 0;

  /** The last record that was flushed. */
  get end(): RecordNumber {
    return this.#end;
  }

  /** Records that were flushed and not released. */
  get records(): readonly Recorded[] {
    return this.#records;
  }

  keep(records: readonly Recorded[]): void {
    this.#records.push(...records);
    this.#end = records.at(-1)?.position ?? this.#end;
  }

  release(upTo: RecordNumber): void {
    this.#records = this.#records.filter(({ position }) => position > upTo);
  }

  /** Deliberate bug: what was flushed is gone. */
  forget(after: RecordNumber): void {
    this.#records = this.#records.filter(({ position }) => position <= after);
  }
}

/** Deliberate bugs. */
export interface JournalFlaws {
  /** It acknowledges a record when it begins to write it. */
  readonly acknowledgesEarly?: true;
  /** It skips the flush: a crash loses the last group. */
  readonly skipsFlush?: true;
}

export interface SimJournalOptions {
  readonly disk: JournalDisk;
  readonly plan: FaultPlan;
  /** On the disk's own time, which goes on while the process waits for it. */
  readonly after: (milliseconds: number, callback: () => void) => void;
  /** Records up to here are on the disk; nobody has been told yet. */
  readonly flushed: (upTo: RecordNumber) => void;
  /** The machine goes down. */
  readonly crash: () => void;
  /** The process must end (M5). */
  readonly fatal: (error: JournalLost) => void;
  readonly flaws?: JournalFlaws;
}

/** Milliseconds until a flush begins, that it takes, and until the process is told. */
const delays = { begin: [0, 0, 1], flush: [0, 1, 1, 3], notice: [0, 0, 0, 2] } as const;

export class SimJournal implements Journal {
  readonly #options: SimJournalOptions;
  /** Appended, and not on the disk. */
  #waiting: Recorded[] = [];
  #appended: RecordNumber;
  #durable: RecordNumber;
  #unflushedBytes = 0;
  #listener: () => void = () => undefined;
  #state: "running" | "closing" | "dead" = "running";
  #isFlushing = false;
  #isNoticeDue = false;
  #isFull = false;
  #closed: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null;
  /** Where the disk ended before the last flush. */
  #endBefore: RecordNumber;

  constructor(options: SimJournalOptions) {
    this.#options = options;
    this.#appended = options.disk.end;
    this.#durable = options.disk.end;
    this.#endBefore = options.disk.end;
  }

  get appended(): RecordNumber {
    return this.#appended;
  }

  get durable(): RecordNumber {
    return this.#durable;
  }

  get unflushedBytes(): number {
    return this.#unflushedBytes + (this.#isFull ? limits.journal_unflushed_bytes_max : 0);
  }

  append(realmId: number, record: Uint8Array): RecordNumber {
    if (this.#state === "dead") throw new MachineDown();
    if (this.#state === "closing") throw new Error("The journal is closed.");
    if (record.length > limits.journal_record_bytes_max) {
      throw new RangeError(`A record of ${record.length} bytes is larger than journal_record_bytes_max.`);
    }
    const position = this.#appended + 1;
    this.#waiting.push({ position, realmId, bytes: Uint8Array.from(record) });
    this.#appended = position;
    this.#unflushedBytes += record.length;
    this.#begin();
    return position;
  }

  together(work: () => void): void {
    work();
  }

  onDurable(listener: () => void): void {
    this.#listener = listener;
  }

  release(upTo: RecordNumber): void {
    if (this.#state !== "dead") this.#options.disk.release(upTo);
  }

  close(): Promise<void> {
    if (this.#closed === null) {
      let resolve: () => void = () => undefined;
      const promise = new Promise<void>((onResolve) => {
        resolve = onResolve;
      });
      this.#closed = { promise, resolve };
      if (this.#state === "running") this.#state = "closing";
      this.#endIfClosed();
    }
    return this.#closed.promise;
  }

  #endIfClosed(): void {
    if (this.#durable === this.#appended) this.#closed?.resolve();
  }

  /** The process is gone. @param survivors how much of what was not flushed is on the disk */
  die(survivors: "none" | "some" | "any"): void {
    if (this.#state === "dead") return;
    this.#state = "dead";
    const { disk, plan, flaws } = this.#options;
    if (flaws?.skipsFlush === true) {
      disk.forget(this.#endBefore);
      return;
    }
    const count = this.#waiting.length;
    if (survivors === "some") disk.keep(this.#waiting.slice(0, plan.below(count)));
    if (survivors === "any") disk.keep(this.#waiting.slice(0, plan.below(count + 1)));
  }

  #after(choices: readonly number[], callback: () => void): void {
    this.#options.after(choices[this.#options.plan.below(choices.length)] ?? 0, callback);
  }

  #begin(): void {
    if (this.#isFlushing || this.#waiting.length === 0) return;
    this.#isFlushing = true;
    this.#after(delays.begin, () => this.#flush());
  }

  #flush(): void {
    // The thread ended with its process.
    if (this.#state === "dead") return;
    const { plan, after, flaws } = this.#options;
    // What arrives from now on goes with the next flush, and so does a part of what has arrived, at times.
    const count = plan.below(4) > 0 ? this.#waiting.length : 1 + plan.below(this.#waiting.length);
    const fault = plan.draw("flush");
    if (flaws?.acknowledgesEarly === true) this.#acknowledge(this.#waiting[count - 1]?.position ?? 0);
    const end = () => this.#flushed(count, fault);
    if (fault?.kind !== "slow flush" && fault?.kind !== "full journal") this.#after(delays.flush, end);
    else {
      plan.met(fault);
      this.#isFull = fault.kind === "full journal";
      after(fault.ms, end);
    }
  }

  #flushed(count: number, fault: JournalFault | null): void {
    if (this.#state === "dead") return;
    this.#isFull = false;
    if (fault?.kind === "crash before flush") this.#crash(fault, "none");
    if (fault?.kind === "torn flush") this.#crash(fault, "some");
    if (fault?.kind === "failed flush") {
      this.#options.plan.met(fault);
      this.#options.fatal(new JournalLost("failed", "The journal cannot be written: EIO"));
      return;
    }
    const { disk, flushed } = this.#options;
    this.#endBefore = disk.end;
    disk.keep(this.#waiting.splice(0, count));
    flushed(disk.end);
    if (fault?.kind === "crash after flush") this.#crash(fault, "none");
    this.#isFlushing = false;
    this.#begin();
    this.#notifyLater();
  }

  /** One notice for everything that the disk has by then. */
  #notifyLater(): void {
    if (this.#isNoticeDue) return;
    this.#isNoticeDue = true;
    this.#after(delays.notice, () => {
      this.#isNoticeDue = false;
      this.#acknowledge(this.#options.disk.end);
    });
  }

  #crash(fault: JournalFault, survivors: "none" | "some"): never {
    this.#options.plan.met(fault);
    this.die(survivors);
    this.#options.crash();
    throw new MachineDown();
  }

  #acknowledge(upTo: RecordNumber): void {
    if (upTo <= this.#durable) return;
    this.#durable = upTo;
    const left = this.#waiting.filter(({ position }) => position > upTo);
    this.#unflushedBytes = left.reduce((sum, { bytes }) => sum + bytes.length, 0);
    this.#listener();
    this.#endIfClosed();
  }
}
