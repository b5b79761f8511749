/**
 * The journal of one realm in its stream. Records that are appended while a message is in flight are sent with the next
 * one, so there is one message in flight for each realm: JetStream checks that it follows the last message of the
 * realm, whose number is known only when it is acknowledged. A message is durable when a majority of the servers has
 * flushed it.
 */
import { setTimeout as wait } from "node:timers/promises";
import { limits } from "../../../schemas/limits.ts";
import { type Journal, JournalLost, type RecordNumber } from "../journal/journal.ts";
import { encodeEnvelope, encodeRecords, hashOf, packedBytes } from "./envelope.ts";
import type { ChainHead } from "./log-chain.ts";
import type { RealmLog } from "./realm-log.ts";

export interface StreamJournalOptions {
  readonly log: RealmLog;
  /** The claim of this node. */
  readonly claim: ChainHead;
  /** Called once if another node owns the realm by now. Nothing that it shows may leave any more. */
  readonly fatal: (error: JournalLost) => void;
}

/** A message in flight and the records that it completes. */
interface Outgoing {
  readonly bytes: Uint8Array;
  /** The same for each attempt, and for nothing else. */
  readonly id: string;
  readonly records: number;
  readonly recordBytes: number;
}

/** Records that were acknowledged together. */
interface Sent {
  /** The sequence number of the message, or of its first part. */
  readonly sequence: number;
  readonly position: RecordNumber;
}

export class StreamJournal implements Journal {
  readonly #options: StreamJournalOptions;
  #head: ChainHead;
  #waiting: Uint8Array[] = [];
  #unflushedBytes = 0;
  #appended: RecordNumber;
  #durable: RecordNumber;
  #released: RecordNumber;
  /** The messages that were not released yet, in order. */
  #sent: Sent[] = [];
  /** Purges run one after the other. */
  #purged: Promise<void> = Promise.resolve();
  #listener: () => void = () => undefined;
  #isClosing = false;
  #lost: JournalLost | null = null;
  #isSending = false;
  /** The next part of the first record, if it is sent in parts. */
  #part = 0;
  /** The number of its first message. */
  #firstPart: number | null = null;
  #closed: Promise<void> | null = null;
  #onIdle: () => void = () => undefined;

  constructor(options: StreamJournalOptions) {
    const { claim } = options;
    this.#options = options;
    this.#head = claim;
    this.#appended = claim.position;
    this.#durable = claim.position;
    this.#released = 0;
    this.#sent.push({ sequence: claim.sequence, position: claim.position });
  }

  /** The epoch of this node's ownership. */
  get epoch(): number {
    return this.#options.claim.epoch;
  }

  /** The last message that was acknowledged. */
  get head(): ChainHead {
    return this.#head;
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
    if (this.#isClosing) throw new Error("The journal is closed.");
    if (realmId !== this.#options.log.realmId) throw new Error(`This is not the journal of realm ${realmId}.`);
    if (record.length > limits.journal_record_bytes_max) {
      throw new RangeError(
        `A record of ${record.length} bytes is larger than journal_record_bytes_max (${limits.journal_record_bytes_max}).`,
      );
    }
    this.#waiting.push(new Uint8Array(record));
    this.#unflushedBytes += record.length;
    this.#begin();
    return ++this.#appended;
  }

  /** Sends begin at once: it has the records of one realm. */
  together(work: () => void): void {
    work();
  }

  onDurable(listener: () => void): void {
    this.#listener = listener;
  }

  /** The last message stays: it says where the next owner continues. */
  release(upTo: RecordNumber): void {
    this.#released = Math.max(this.#released, upTo);
    const kept = this.#sent.findIndex(({ position }) => position > this.#released);
    const first = kept < 0 ? this.#sent.length - 1 : kept;
    // The message before the first one that stays ends at most at `upTo`.
    const before = this.#sent[first];
    if (before === undefined || first === 0) return;
    this.#sent.splice(0, first);
    // A purge that fails is made up for by the next one.
    const purge = () => this.#options.log.purge(before.sequence).catch(() => undefined);
    this.#purged = this.#purged.then(purge);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    if (this.#isSending && this.#lost === null) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await this.#purged;
    if (this.#lost !== null) throw this.#lost;
  }

  #begin(): void {
    if (this.#isSending || this.#lost !== null) return;
    this.#isSending = true;
    // Records that the caller appends in the same step are sent together.
    queueMicrotask(() => void this.#send());
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      const message = this.#next();
      const sequence = await this.#deliver(message);
      if (sequence === null) return;
      this.#acknowledge(message, sequence);
    }
    this.#isSending = false;
    this.#onIdle();
  }

  #next(): Outgoing {
    const [first] = this.#waiting as [Uint8Array];
    const { epoch, storeVersion, hash: before, position } = this.#head;
    const head = { epoch, storeVersion, before, position: position + 1 };
    const id = `${epoch}-${head.position}`;
    if (packedBytes(first) > limits.cluster_part_bytes) {
      const parts = Math.ceil(first.length / limits.cluster_part_bytes);
      const part = this.#part;
      const body = first.subarray(part * limits.cluster_part_bytes, (part + 1) * limits.cluster_part_bytes);
      const bytes = encodeEnvelope({ ...head, kind: "part", part, parts }, body);
      const isLast = part === parts - 1;
      this.#part = isLast ? 0 : part + 1;
      return { bytes, id: `${id}-${part}`, records: isLast ? 1 : 0, recordBytes: isLast ? first.length : 0 };
    }
    let records = 0;
    let bodyBytes = 0;
    for (const record of this.#waiting) {
      bodyBytes += packedBytes(record);
      if (records > 0 && bodyBytes > limits.cluster_message_bytes_max) break;
      records++;
    }
    const taken = this.#waiting.slice(0, records);
    const recordBytes = taken.reduce((sum, record) => sum + record.length, 0);
    return { bytes: encodeRecords(head, taken), id, records, recordBytes };
  }

  /** Tries until the message is acknowledged. @returns its number; null if another node owns the realm by now */
  async #deliver({ bytes, id }: Outgoing): Promise<number | null> {
    const { log } = this.#options;
    for (
      let pauseMs: number = limits.cluster_retry_ms_min;
      ;
      pauseMs = Math.min(2 * pauseMs, limits.cluster_retry_ms_max)
    ) {
      const result = await log.append(bytes, this.#head.sequence, id);
      if (result.kind === "refused" && (await this.#isTakenOver(bytes))) return null;
      if (result.kind === "stored") return result.sequence;
      await wait(pauseMs);
    }
  }

  /**
   * A refusal is a hint. The stream decides: behind the last message of this journal, only that of an earlier
   * attempt may be, whose acknowledgement comes with the next one.
   */
  async #isTakenOver(bytes: Uint8Array): Promise<boolean> {
    const last = await this.#options.log.last().catch(() => null);
    if (last === null || last.sequence <= this.#head.sequence || Buffer.compare(last.bytes, bytes) === 0) return false;
    this.#lose();
    return true;
  }

  #lose(): void {
    const { log, fatal } = this.#options;
    this.#lost = new JournalLost(
      "takenOver",
      `Another node took over organization ${log.realmId}. This one stops serving it: nothing that it acknowledged is lost, and nothing more is written.`,
    );
    this.#onIdle();
    fatal(this.#lost);
  }

  #acknowledge({ bytes, records, recordBytes }: Outgoing, sequence: number): void {
    this.#head = { ...this.#head, sequence, hash: hashOf(bytes), position: this.#head.position + records };
    this.#waiting.splice(0, records);
    this.#unflushedBytes -= recordBytes;
    this.#durable += records;
    this.#firstPart ??= sequence;
    if (records === 0) return;
    this.#sent.push({ sequence: this.#firstPart, position: this.#durable });
    if (this.#sent.length > limits.cluster_release_points_max) this.#sent = inPairs(this.#sent);
    this.#firstPart = null;
    this.#listener();
  }
}

/** Two become one that is released later. */
function inPairs(sent: readonly Sent[]): Sent[] {
  const pairs: Sent[] = [];
  for (let index = 0; index < sent.length; index += 2) {
    const [{ sequence }, { position }] = [sent[index], sent[index + 1] ?? sent[index]] as [Sent, Sent];
    pairs.push({ sequence, position });
  }
  return pairs;
}
