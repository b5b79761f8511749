/**
 * The journal thread: writes what has arrived in the ring, flushes it, tells the main thread, and waits for more. It
 * blocks in system calls and in `Atomics.wait`, so its own event loop never runs.
 */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { JournalLost } from "./journal.ts";
import { RingConsumer, type RingMemory } from "./journal-ring.ts";
import { SegmentWriter, type WriterStart } from "./segment-writer.ts";

export interface ThreadStart extends WriterStart {
  readonly ring: RingMemory;
}

export type ThreadNotice =
  | { readonly kind: "ready" }
  /** More is durable: how much is in the ring's control memory. */
  | { readonly kind: "durable" }
  | { readonly kind: "lost"; readonly reason: JournalLost["reason"]; readonly message: string }
  | { readonly kind: "closed" };

function post(notice: ThreadNotice): void {
  parentPort?.postMessage(notice);
}

/** The frame of a record that is too large for the ring; it was posted before its place in the ring was published. */
function receiveFrame(): Uint8Array {
  const received = parentPort === null ? undefined : receiveMessageOnPort(parentPort);
  if (received === undefined) throw new JournalLost("failed", "A large record did not reach the journal thread.");
  return received.message as Uint8Array;
}

function run({ ring, ...start }: ThreadStart): void {
  const writer = new SegmentWriter(start);
  const consumer = new RingConsumer(ring);
  post({ kind: "ready" });
  for (;;) {
    // Read before the ring: once it is set, nothing is put after it.
    const { isEnding, released } = consumer;
    const runs = consumer.take(receiveFrame);
    if (runs.length > 0) {
      writer.write(runs);
      if (consumer.done()) post({ kind: "durable" });
    } else if (isEnding) break;
    else writer.mark();
    const hasMore = writer.tidy(released);
    if (runs.length === 0 && !hasMore) consumer.waitForMore(released);
  }
  writer.close(consumer.released);
  post({ kind: "closed" });
}

try {
  run(workerData as ThreadStart);
} catch (error) {
  const reason = error instanceof JournalLost ? error.reason : "failed";
  post({ kind: "lost", reason, message: error instanceof Error ? error.message : String(error) });
}
