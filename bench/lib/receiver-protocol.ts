// What is said between a generator and a program that reads the events of its sockets, in C (bench/native/receiver.c)
// or in Node (bench/generator/receivers.ts): lines with the configuration to it, records of bytes from it.

import { endianness } from "node:os";
import type { DialectName } from "./dialect.ts";
import type { DeliveriesJob, Receivers } from "./job.ts";
import { POSTS_PER_RUN_MAX } from "./limits.ts";

/** Ends the configuration. */
const GO = "go";
/** Asks for the report, which is the last record. */
export const STOP = "stop\n";

/** The sockets of one program, and how it finds posts in their frames. */
export interface ReceiverConfig extends Pick<DeliveriesJob, "address" | "firstMarker" | "decoder"> {
  readonly receivers: Receivers;
}

/** What a program has counted when it stops. */
export interface ReceiverReport {
  readonly frames: number;
  readonly bytes: number;
  readonly duplicates: number;
  /** Posts that some sockets have seen, and some have not. */
  readonly open: number;
  /** Sockets lost after they had registered, and the reason of the first. */
  readonly lost: number;
  readonly firstClose: string;
  /** The first frame of each kind of post, if the program keeps them. */
  readonly samples: readonly (string | null)[];
  /** Queues that are left, by the number of their socket in the run. */
  readonly queues: readonly (readonly [socket: number, queueId: string])[];
}

/** Number of posts that one marker stands for: a typist starts and stops. */
export function postsPerMarker(decoder: DeliveriesJob["decoder"]): number {
  return decoder === "typing" ? 2 : 1;
}

export function formatConfig({ address, receivers, firstMarker, decoder }: ReceiverConfig): string {
  const { path, count, firstSocket = 0, register, dialect, authorizations, localAddresses, ports } = receivers;
  const values: readonly (readonly [key: string, value: string | number])[] = [
    ["host", address.host],
    ...(ports ?? [address.port]).map((port) => ["port", port] as const),
    ["path", path],
    ["count", count],
    ["first-socket", firstSocket],
    ["first-marker", firstMarker],
    ["decoder", decoder],
    ["register", register],
    ...(dialect === undefined ? [] : [["dialect", dialect] as const]),
    ...authorizations.map((value) => ["authorization", value] as const),
    ...localAddresses.map((value) => ["local-address", value] as const),
  ];
  return `${values.map(([key, value]) => `${key} ${value}\n`).join("")}${GO}\n`;
}

/** Null while the text is incomplete. */
export function parseConfig(text: string): ReceiverConfig | null {
  const lines = text.split("\n");
  if (!lines.slice(0, -1).includes(GO)) return null;
  const values = new Map<string, string[]>();
  for (const line of lines.slice(0, lines.indexOf(GO))) {
    const [key = ""] = line.split(" ", 1);
    values.set(key, [...(values.get(key) ?? []), line.slice(key.length + 1)]);
  }
  const one = (key: string): string => values.get(key)?.[0] ?? "";
  const dialect = values.get("dialect")?.[0] as DialectName | undefined;
  return {
    address: { host: one("host"), port: Number(one("port")) },
    firstMarker: Number(one("first-marker")),
    decoder: one("decoder") === "typing" ? "typing" : "scan",
    receivers: {
      path: one("path"),
      count: Number(one("count")),
      firstSocket: Number(one("first-socket")),
      register: one("register"),
      ...(dialect === undefined ? {} : { dialect }),
      authorizations: values.get("authorization") ?? [],
      localAddresses: values.get("local-address") ?? [],
      ...((values.get("port")?.length ?? 0) < 2 ? {} : { ports: values.get("port")?.map(Number) ?? [] }),
    },
  };
}

const HEADER_BYTES = 16;
const ARRIVAL_BYTES = 4;
const KIND = { ready: 1, post: 2, report: 3 } as const;
const isLittleEndian = endianness() === "LE";

export type ReceiverRecord =
  | { readonly kind: "ready" }
  /** Every socket has seen the post: when the first did, and how much later each did, in the order of arrival. */
  | { readonly kind: "post"; readonly post: number; readonly firstNs: bigint; readonly laterUs: Uint32Array }
  | { readonly kind: "report"; readonly report: ReceiverReport };

/** Bytes of a record. Header: kind and value (u32), nanoseconds (u64), as this machine orders bytes. */
export function encodeRecord(record: ReceiverRecord): Buffer {
  switch (record.kind) {
    case "ready":
      return headerOf(KIND.ready, 0, 0n);
    case "post": {
      const { buffer, byteOffset, byteLength } = record.laterUs;
      return Buffer.concat([
        headerOf(KIND.post, record.post, record.firstNs),
        new Uint8Array(buffer, byteOffset, byteLength),
      ]);
    }
    case "report": {
      const text = Buffer.from(JSON.stringify(record.report), "utf8");
      return Buffer.concat([headerOf(KIND.report, text.length, 0n), text]);
    }
  }
}

function headerOf(kind: number, value: number, ns: bigint): Buffer {
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  header.setUint32(0, kind, isLittleEndian);
  header.setUint32(4, value, isLittleEndian);
  header.setBigUint64(8, ns, isLittleEndian);
  return Buffer.from(header.buffer);
}

/** Cuts a stream of bytes into records. `sockets` is the number of sockets of the program, which all its posts have. */
export class RecordReader {
  readonly #sockets: number;
  readonly #onRecord: (record: ReceiverRecord) => void;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Bytes of the record that is being read, as far as they are known. */
  #wanted = HEADER_BYTES;

  constructor(sockets: number, onRecord: (record: ReceiverRecord) => void) {
    this.#sockets = sockets;
    this.#onRecord = onRecord;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#wanted) return;
    const bytes = Buffer.concat(this.#chunks);
    let at = 0;
    this.#wanted = HEADER_BYTES;
    while (bytes.length - at >= HEADER_BYTES) {
      const header = new DataView(bytes.buffer, bytes.byteOffset + at, HEADER_BYTES);
      const value = header.getUint32(4, isLittleEndian);
      const kind = header.getUint32(0, isLittleEndian);
      this.#wanted = HEADER_BYTES + this.#bodyBytes(kind, value);
      if (bytes.length - at < this.#wanted) break;
      const body = bytes.subarray(at + HEADER_BYTES, at + this.#wanted);
      at += this.#wanted;
      this.#wanted = HEADER_BYTES;
      this.#onRecord(recordOf(kind, value, header.getBigUint64(8, isLittleEndian), body));
    }
    this.#chunks = [bytes.subarray(at)];
    this.#bytes = bytes.length - at;
  }

  #bodyBytes(kind: number, value: number): number {
    if (kind === KIND.post) return this.#sockets * ARRIVAL_BYTES;
    return kind === KIND.report ? value : 0;
  }
}

function recordOf(kind: number, value: number, firstNs: bigint, body: Buffer): ReceiverRecord {
  if (kind === KIND.ready) return { kind: "ready" };
  if (kind === KIND.report) return { kind: "report", report: JSON.parse(body.toString("utf8")) as ReceiverReport };
  if (kind !== KIND.post || value >= POSTS_PER_RUN_MAX) throw new Error(`a receiver sent a record ${kind}, ${value}`);
  // A copy, because numbers of four bytes must be aligned.
  const aligned = new Uint8Array(body);
  return { kind: "post", post: value, firstNs, laterUs: new Uint32Array(aligned.buffer) };
}
