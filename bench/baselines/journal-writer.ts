// The thread of bench/baselines/journal.ts that writes and flushes. The file is preallocated, so a flush writes no
// metadata, and is written from its start again when it is full, like segments that are recycled.

import { closeSync, fdatasyncSync, fsyncSync, openSync, writeSync, writevSync } from "node:fs";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";

/** Records, up to a number. */
export interface Appended {
  readonly upTo: number;
  readonly bytes: Uint8Array;
}

/** The records up to this number are durable. */
export interface Flushed {
  readonly upTo: number;
}

const SEGMENT_BYTES = 64 * 1024 * 1024;
const ZERO_BYTES = 1024 * 1024;
/** Buffers of one write; Linux takes 1,024. */
const BUFFERS_MAX = 1_000;

const { file } = workerData as { readonly file: string };
const port = parentPort;
if (port === null) throw new Error("this is a thread of a baseline");
const journal = openSync(file, "w");
for (let at = 0; at < SEGMENT_BYTES; at += ZERO_BYTES)
  writeSync(journal, new Uint8Array(ZERO_BYTES), 0, ZERO_BYTES, at);
fsyncSync(journal);
let end = 0;

port.on("message", (first: Appended) => {
  const appended = [first];
  while (appended.length < BUFFERS_MAX) {
    const next = receiveMessageOnPort(port) as { readonly message: Appended } | undefined;
    if (next === undefined) break;
    appended.push(next.message);
  }
  const buffers = appended.map(({ bytes }) => bytes);
  const length = buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
  if (end + length > SEGMENT_BYTES) end = 0;
  if (writevSync(journal, buffers, end) !== length) throw new Error("a write was cut short");
  end += length;
  fdatasyncSync(journal);
  const flushed: Flushed = { upTo: appended.at(-1)?.upTo ?? 0 };
  port.postMessage(flushed);
});
process.once("exit", () => closeSync(journal));
