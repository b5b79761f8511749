/**
 * Reads the messages of one realm in order and checks that each follows the one before it: hash, epoch, positions and
 * parts. A message that does not follow is damage, because an owner appends only behind the messages that it has read.
 */
import { JournalDamaged, type Recorded, type RecordNumber } from "../journal/journal.ts";
import { decodeEnvelope, type Envelope, hashOf, noHash, recordsIn } from "./envelope.ts";

/** The last message of a realm. */
export interface ChainHead {
  /** Its number in the stream; 0 if there is none. */
  readonly sequence: number;
  readonly hash: Uint8Array;
  /** The epoch of the last claim; 0 if no node ever claimed the realm. */
  readonly epoch: number;
  /** The last record that is there as a whole. */
  readonly position: RecordNumber;
  /** The store version of the program that wrote it. */
  readonly storeVersion: number;
}

export const emptyChain: ChainHead = { sequence: 0, hash: noHash, epoch: 0, position: 0, storeVersion: 0 };

/** A message as the stream has it. */
export interface StreamMessage {
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

/** @throws JournalDamaged when it is no message of this format */
export function headAt({ sequence, bytes }: StreamMessage): ChainHead {
  const envelope = decodeEnvelope(bytes);
  const { epoch, storeVersion } = envelope;
  return { sequence, hash: hashOf(bytes), epoch, position: lastPosition(envelope), storeVersion };
}

/** Parts do not count until the last one. */
function lastPosition({ kind, position, part, parts, body }: Envelope): RecordNumber {
  if (kind === "records") return position + recordsIn(body).length - 1;
  return kind === "part" && part === parts - 1 ? position : position - 1;
}

export class LogChain {
  readonly #realmId: number;
  /** Null: the next message is the first one that is read, so nothing is known of the one before it. */
  #head: ChainHead | null;
  #parts: Uint8Array[] = [];

  constructor(realmId: number, head: ChainHead | null) {
    this.#realmId = realmId;
    this.#head = head;
  }

  get head(): ChainHead {
    return this.#head ?? emptyChain;
  }

  /**
   * @returns the records that are whole now
   * @throws JournalDamaged when the message does not follow
   */
  take(message: StreamMessage): Recorded[] {
    const envelope = decodeEnvelope(message.bytes);
    this.#check(message.sequence, envelope);
    this.#head = headAt(message);
    if (envelope.kind === "part") return this.#joined(envelope);
    // A new owner gives up what its predecessor did not finish.
    this.#parts = [];
    if (envelope.kind === "claim") return [];
    return recordsIn(envelope.body).map((bytes, index) => this.#recorded(envelope.position + index, bytes));
  }

  #joined({ position, part, parts, body }: Envelope): Recorded[] {
    this.#parts.push(body);
    if (part < parts - 1) return [];
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    return [this.#recorded(position, bytes)];
  }

  #recorded(position: RecordNumber, bytes: Uint8Array): Recorded {
    return { position, realmId: this.#realmId, bytes };
  }

  #check(sequence: number, envelope: Envelope): void {
    const { kind, epoch, position, part, before } = envelope;
    if (kind === "part" && part !== this.#parts.length) throw this.#damaged(sequence, `it is part ${part}`);
    if (kind === "records" && this.#parts.length > 0)
      throw this.#damaged(sequence, "the parts before it are not whole");
    if (this.#head === null) return;
    if (sequence <= this.#head.sequence) throw this.#damaged(sequence, "it was read before");
    if (Buffer.compare(before, this.#head.hash) !== 0) {
      throw this.#damaged(sequence, `it does not follow message ${this.#head.sequence}: the hash differs`);
    }
    const due = kind === "claim" ? this.#head.epoch + 1 : this.#head.epoch;
    if (epoch !== due) throw this.#damaged(sequence, `it has epoch ${epoch}, not ${due}`);
    if (position !== this.#head.position + 1) {
      throw this.#damaged(sequence, `it has position ${position}, not ${this.#head.position + 1}`);
    }
  }

  #damaged(sequence: number, what: string): JournalDamaged {
    return new JournalDamaged(
      `Message ${sequence} of organization ${this.#realmId} in the stream is damaged: ${what}. Remove the data of this NATS server and let it copy the stream again, or restore a backup.`,
    );
  }
}
