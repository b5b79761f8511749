/**
 * The journal in files of this machine. The main thread puts records into a ring (journal-ring.ts), a thread of its own
 * makes them durable (journal-thread.ts). A record that finds no room in the ring waits here, in order.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { limits } from "../../../schemas/limits.ts";
import { flushFolderSync } from "../../store/folders.ts";
import { startPrepared } from "../threads/start-thread.ts";
import { type Journal, JournalDamaged, JournalLost, type Recorded, type RecordNumber } from "./journal.ts";
import { createRing, RingProducer } from "./journal-ring.ts";
import type { ThreadNotice, ThreadStart } from "./journal-thread.ts";
import { type JournalWriter, takeOver } from "./journal-writer.ts";
import { beginFrame, frameBytes, frameMemory } from "./record.ts";
import { type Recovery, recoverJournal } from "./recovery.ts";
import { type PoolSizes, removeSpares, segmentFile } from "./segments.ts";

/** Its thread. */
export const journalProgram = "durability/journal/journal-thread";

export interface JournalSizes extends PoolSizes {
  readonly ringBytes: number;
}

const usualSizes: JournalSizes = {
  segmentBytes: limits.journal_segment_bytes,
  sparesMax: limits.journal_spares_max,
  spareStepBytes: limits.journal_spare_step_bytes,
  ringBytes: limits.journal_ring_bytes,
};

export interface FileJournalOptions {
  /** Created if it is missing. */
  readonly folder: string;
  /** Called once if the journal is lost: the process must end (M5). */
  readonly fatal: (error: JournalLost) => void;
  /** The stores hold records up to here, so the journal cannot end before it. */
  readonly storedUpTo?: RecordNumber;
  /**
   * Brings what is left of the last owner into the stores. Its segments are removed then, before there is a new one: on
   * a full disk they are the only space.
   */
  readonly applyRecords?: (records: Iterable<Recorded>) => Promise<void>;
  /** Whether segments of this size stay after `applyRecords` until they are released: an archive or a backup may lack their records. */
  readonly keepsApplied?: (bytes: number) => boolean;
  readonly sizes?: Partial<JournalSizes>;
}

export interface OpenedJournal {
  readonly journal: FileJournal;
  readonly recovered: Recovery;
  /** The last owner ended in order; also true for a new folder. */
  readonly endedCleanly: boolean;
}

/**
 * Takes the folder over from its last owner.
 * @throws JournalDamaged when records are missing, JournalLost when the folder cannot be written
 */
export async function openFileJournal(options: FileJournalOptions): Promise<OpenedJournal> {
  const { folder, fatal, storedUpTo = 0 } = options;
  const { writer, before } = takeOver(folder);
  const recovered = recoverJournal(folder, before);
  if (recovered.end < storedUpTo) {
    throw new JournalDamaged(
      `The journal in ${folder} ends with record ${recovered.end}, but the stores hold records up to ${storedUpTo}. Put its files back, or restore a backup.`,
    );
  }
  removeSpares(folder);
  const keeps = options.keepsApplied?.(bytesOf(recovered)) ?? false;
  if (options.applyRecords !== undefined) {
    await options.applyRecords(recovered.records());
    if (!keeps) forget(writer, recovered);
  }
  const { ringBytes, ...sizes } = { ...usualSizes, ...options.sizes };
  const ring = createRing(ringBytes);
  const { end } = recovered;
  const isForgotten = options.applyRecords !== undefined && !keeps;
  const { segments, released } = isForgotten ? { segments: [], released: end } : recovered;
  const large = new MessageChannel();
  const start: ThreadStart = { ring, large: large.port2, folder, epoch: writer.epoch, segments, end, released, sizes };
  const worker = startPrepared(journalProgram, start, [large.port2]);
  const producer = new RingProducer(ring);
  const journal = await FileJournal.start({ writer, worker, producer, large: large.port1, end, fatal });
  const endedCleanly = recovered.segments.length === 0 || before?.endedAt !== undefined;
  return { journal, recovered, endedCleanly };
}

/** Size of the segments with records. */
export function bytesOf({ segments, released }: Recovery): number {
  const kept = segments.filter(
    (_head, index) => (segments[index + 1]?.start ?? Number.POSITIVE_INFINITY) > released + 1,
  );
  return kept.reduce((sum, { capacity }) => sum + capacity, 0);
}

/** The stores have everything: no older segment is needed. */
function forget(writer: JournalWriter, { segments, end }: Recovery): void {
  writer.noteApplied(end);
  for (const segment of segments) rmSync(join(writer.folder, segmentFile(segment)));
  flushFolderSync(writer.folder);
}

interface JournalParts {
  readonly writer: JournalWriter;
  readonly worker: Worker;
  readonly producer: RingProducer;
  /** Takes records that are too large for the ring. */
  readonly large: MessagePort;
  readonly end: RecordNumber;
  readonly fatal: (error: JournalLost) => void;
}

interface Waiting {
  readonly realmId: number;
  readonly record: Uint8Array;
}

export class FileJournal implements Journal {
  /** The epoch of this process's ownership. */
  readonly epoch: number;
  readonly #parts: JournalParts;
  readonly #isReady = promised();
  readonly #isClosed = promised();
  #state: "starting" | "running" | "closing" | "closed" | "lost" = "starting";
  /** Records that found no room in the ring, from `#waitingFrom` on. */
  #waiting: Waiting[] = [];
  #waitingFrom = 0;
  #appended: RecordNumber;
  #durable: RecordNumber;
  #unflushedBytes = 0;
  /** As the journal thread counts, modulo 2^32. */
  #counted = { records: 0, bytes: 0 };
  #listener: () => void = () => undefined;
  /** Appended records are handed over when the running `together` ends. */
  #isTogether = false;

  private constructor(parts: JournalParts) {
    this.#parts = parts;
    this.epoch = parts.writer.epoch;
    this.#appended = parts.end;
    this.#durable = parts.end;
    parts.worker.on("message", (notice: ThreadNotice) => this.#receive(notice));
    parts.worker.on("error", (error) => this.#lose(new JournalLost("failed", threadEnded, { cause: error })));
    parts.worker.on("exit", () => this.#exited());
  }

  /** Resolves when records can be appended. */
  static async start(parts: JournalParts): Promise<FileJournal> {
    const journal = new FileJournal(parts);
    await journal.#isReady.promise;
    return journal;
  }

  get appended(): RecordNumber {
    return this.#appended;
  }

  get durable(): RecordNumber {
    return this.#durable;
  }

  get unflushedBytes(): number {
    return this.#unflushedBytes;
  }

  append(realmId: number, record: Uint8Array): RecordNumber {
    if (this.#state === "closing" || this.#state === "closed") throw new Error("The journal is closed.");
    if (record.length > limits.journal_record_bytes_max) {
      throw new RangeError(
        `A record of ${record.length} bytes is larger than journal_record_bytes_max (${limits.journal_record_bytes_max}).`,
      );
    }
    if (this.#isWaiting || !this.#put(realmId, record)) this.#waiting.push({ realmId, record: new Uint8Array(record) });
    else if (!this.#isTogether) this.#parts.producer.publish();
    this.#unflushedBytes += record.length;
    return ++this.#appended;
  }

  together(work: () => void): void {
    this.#isTogether = true;
    try {
      work();
    } finally {
      this.#isTogether = false;
      this.#parts.producer.publish();
    }
  }

  onDurable(listener: () => void): void {
    this.#listener = listener;
  }

  release(upTo: RecordNumber): void {
    this.#parts.producer.release(upTo);
  }

  /** @throws JournalLost when another process is the owner by now. Without records, the journal does not notice it. */
  assertOwned(): void {
    this.#parts.writer.verify();
  }

  close(): Promise<void> {
    if (this.#state === "running") {
      this.#state = "closing";
      this.#handOver();
    }
    return this.#isClosed.promise;
  }

  get #isWaiting(): boolean {
    return this.#waitingFrom < this.#waiting.length;
  }

  /** @returns false if the ring has no room */
  #put(realmId: number, record: Uint8Array): boolean {
    const { producer, large } = this.#parts;
    if (record.length <= producer.recordBytesMax) return producer.put(realmId, record);
    return producer.putOutside(() => {
      const memory = new ArrayBuffer(frameBytes(record.length));
      const bytes = new Uint8Array(memory);
      beginFrame(frameMemory(bytes), 0, realmId, record);
      large.postMessage(bytes, [memory]);
    });
  }

  #handOver(): void {
    for (; this.#isWaiting; this.#waitingFrom++) {
      const { realmId, record } = this.#waiting[this.#waitingFrom] as Waiting;
      if (!this.#put(realmId, record)) break;
    }
    this.#parts.producer.publish();
    // Removed in large pieces, because removing the first of many moves the others.
    if (this.#waitingFrom > this.#waiting.length / 2) {
      this.#waiting = this.#waiting.slice(this.#waitingFrom);
      this.#waitingFrom = 0;
    }
    if (this.#state === "closing" && !this.#isWaiting) this.#parts.producer.end();
  }

  #receive(notice: ThreadNotice): void {
    switch (notice.kind) {
      case "ready":
        this.#state = "running";
        this.#isReady.resolve();
        return;
      case "durable":
        this.#advance();
        return;
      case "lost":
        this.#lose(new JournalLost(notice.reason, notice.message));
        return;
      case "closed":
        this.#advance();
        this.#state = "closed";
        return;
      default:
        notice satisfies never;
    }
  }

  #advance(): void {
    const counted = this.#parts.producer.takeNotice();
    const records = (counted.records - this.#counted.records) >>> 0;
    this.#unflushedBytes -= (counted.bytes - this.#counted.bytes) >>> 0;
    this.#counted = counted;
    this.#durable += records;
    this.#handOver();
    if (records > 0) this.#listener();
  }

  #exited(): void {
    if (this.#state === "closed") this.#isClosed.resolve();
    else this.#lose(new JournalLost("failed", threadEnded));
  }

  #lose(error: JournalLost): void {
    if (this.#state === "lost") return;
    const isStarting = this.#state === "starting";
    this.#state = "lost";
    this.#isReady.reject(error);
    this.#isClosed.reject(error);
    if (!isStarting) this.#parts.fatal(error);
  }
}

const threadEnded = "The journal thread ended.";

/** A promise whose rejection need not be handled, because it may have no waiter. */
function promised() {
  let resolve: () => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
