/**
 * A message of a realm's subject: a header of 56 bytes and a body. Each message has the hash of the one before it, so
 * that a reader notices a message that was changed, lost or doubled. Integers are little-endian:
 *
 *   format (1 byte), kind (1), store version (2), part (2), parts (2), epoch (8), position (8), hash before (32)
 */
import { createHash } from "node:crypto";
import { JournalDamaged, type RecordNumber } from "../journal/journal.ts";
import { getInteger, setInteger } from "../journal/record.ts";

/** The body of `records` is each record with its length (4 bytes) before it, of `claim` the name of the node. */
const kinds = ["records", "part", "claim"] as const;
export type EnvelopeKind = (typeof kinds)[number];

export interface EnvelopeHead {
  readonly kind: EnvelopeKind;
  /** The store version of the program that wrote it: an older program must not apply its records. */
  readonly storeVersion: number;
  /** The epoch of the owner that wrote it. */
  readonly epoch: number;
  /** The number of its first record; in a claim, of the next one. */
  readonly position: RecordNumber;
  /** A record that is larger than a message is sent in parts, from 0. */
  readonly part: number;
  readonly parts: number;
  /** SHA-256 of the message before it in its subject; zeros in the first one. */
  readonly before: Uint8Array;
}

export interface Envelope extends EnvelopeHead {
  readonly body: Uint8Array;
}

const format = 1;
const at = { format: 0, kind: 1, storeVersion: 2, part: 4, parts: 6, epoch: 8, position: 16, before: 24 } as const;
export const envelopeHeadBytes = 56;
const lengthBytes = 4;
export const noHash: Uint8Array = new Uint8Array(32);

export function hashOf(message: Uint8Array): Uint8Array {
  return createHash("sha256").update(message).digest();
}

/** Size of a record in the body of a message. */
export function packedBytes(record: Uint8Array): number {
  return lengthBytes + record.length;
}

export function encodeRecords(head: Omit<EnvelopeHead, "kind" | "part" | "parts">, records: readonly Uint8Array[]) {
  const bodyBytes = records.reduce((sum, record) => sum + packedBytes(record), 0);
  const message = begin({ ...head, kind: "records", part: 0, parts: 1 }, bodyBytes);
  const view = new DataView(message.buffer);
  let offset = envelopeHeadBytes;
  for (const record of records) {
    view.setUint32(offset, record.length, true);
    message.set(record, offset + lengthBytes);
    offset += packedBytes(record);
  }
  return message;
}

export function encodeEnvelope(head: EnvelopeHead, body: Uint8Array): Uint8Array {
  const message = begin(head, body.length);
  message.set(body, envelopeHeadBytes);
  return message;
}

function begin(head: EnvelopeHead, bodyBytes: number): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(envelopeHeadBytes + bodyBytes);
  const view = new DataView(message.buffer);
  view.setUint8(at.format, format);
  view.setUint8(at.kind, kinds.indexOf(head.kind));
  view.setUint16(at.storeVersion, head.storeVersion, true);
  view.setUint16(at.part, head.part, true);
  view.setUint16(at.parts, head.parts, true);
  setInteger(view, at.epoch, head.epoch);
  setInteger(view, at.position, head.position);
  message.set(head.before, at.before);
  return message;
}

/** @throws JournalDamaged when it is not a message of this format */
export function decodeEnvelope(message: Uint8Array): Envelope {
  const view = new DataView(message.buffer, message.byteOffset, message.length);
  if (message.length < envelopeHeadBytes || message[at.format] !== format) {
    throw new JournalDamaged(
      `A message of the stream has format ${message[at.format]}, not ${format}: a newer program wrote it, or it is damaged.`,
    );
  }
  const kind = kinds[view.getUint8(at.kind)];
  if (kind === undefined) throw new JournalDamaged("A message of the stream is of an unknown kind.");
  return {
    kind,
    storeVersion: view.getUint16(at.storeVersion, true),
    part: view.getUint16(at.part, true),
    parts: view.getUint16(at.parts, true),
    epoch: getInteger(view, at.epoch),
    position: getInteger(view, at.position),
    before: message.subarray(at.before, envelopeHeadBytes),
    body: message.subarray(envelopeHeadBytes),
  };
}

/** The records of a body. They share its memory. @throws JournalDamaged when it does not hold whole records */
export function recordsIn(body: Uint8Array): Uint8Array[] {
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  const records: Uint8Array[] = [];
  for (let start = 0; start < body.length; ) {
    const end = start + lengthBytes <= body.length ? start + lengthBytes + view.getUint32(start, true) : Infinity;
    if (end > body.length) throw new JournalDamaged("A message of the stream ends in the middle of a record.");
    records.push(body.subarray(start + lengthBytes, end));
    start = end;
  }
  return records;
}
