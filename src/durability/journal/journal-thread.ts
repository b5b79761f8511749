/**
 * The journal thread: writes what has arrived in the ring, flushes it, tells the main thread, and waits for more. It
 * blocks in system calls and in `Atomics.wait`, so its own event loop does not run after the first message, its start.
 */
import { parentPort, receiveMessageOnPort } from "node:worker_threads";
import { commonLimits as limits } from "../../../schemas/limits/common.ts";
import { noteLoaded } from "../threads/thread-loading.ts";
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

/**
 * On a disk with slow flushes, a flush waits a little for those whose answers the last one let go: they ask again at
 * once, and would otherwise take turns, half of them in each flush.
 */
function lingerMs(lastFlushMs: number): number {
  if (lastFlushMs < limits.journal_slow_flush_ms) return 0;
  return Math.min(lastFlushMs * limits.journal_linger_share, limits.journal_linger_ms_max);
}

const never = new Int32Array(new SharedArrayBuffer(4));

function run({ ring, ...start }: ThreadStart): void {
  const writer = new SegmentWriter(start);
  const consumer = new RingConsumer(ring);
  post({ kind: "ready" });
  let flushMs = 0;
  for (;;) {
    const linger = lingerMs(flushMs);
    if (linger > 0 && consumer.hasMore) Atomics.wait(never, 0, 0, linger);
    // Read before the ring: once it is set, nothing is put after it.
    const { isEnding, released } = consumer;
    const runs = consumer.take(receiveFrame);
    if (runs.length > 0) {
      const startedAt = performance.now();
      writer.write(runs);
      flushMs = performance.now() - startedAt;
      if (consumer.done()) post({ kind: "durable" });
    } else if (isEnding) break;
    else writer.mark();
    const hasMore = writer.tidy(released);
    if (runs.length === 0 && !hasMore) consumer.waitForMore(released);
  }
  writer.close(consumer.released);
  post({ kind: "closed" });
}

noteLoaded();
parentPort?.once("message", (start: ThreadStart) => {
  try {
    run(start);
  } catch (error) {
    const reason = error instanceof JournalLost ? error.reason : "failed";
    post({ kind: "lost", reason, message: error instanceof Error ? error.message : String(error) });
  }
});
