/**
 * The journal thread: writes what has arrived in the ring, flushes it, tells the main thread, and waits for more. It
 * blocks in system calls and in `Atomics.wait`; its own event loop runs only while flushes overlap.
 */
import { type MessagePort, parentPort, receiveMessageOnPort } from "node:worker_threads";
import { noteLoaded } from "../threads/thread-loading.ts";
import { Flushes } from "./flushes.ts";
import { JournalLost } from "./journal.ts";
import { RingConsumer, type RingMemory, type Taken } from "./journal-ring.ts";
import { SegmentWriter, type WriterStart } from "./segment-writer.ts";

export interface ThreadStart extends WriterStart {
  readonly ring: RingMemory;
  /** Gives the records that are too large for the ring. */
  readonly large: MessagePort;
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
function receiveFrame(large: MessagePort): Uint8Array {
  const received = receiveMessageOnPort(large);
  if (received === undefined) throw new JournalLost("failed", "A large record did not reach the journal thread.");
  return received.message as Uint8Array;
}

async function run({ ring, large, ...start }: ThreadStart): Promise<void> {
  const writer = new SegmentWriter(start);
  const consumer = new RingConsumer(ring);
  const flushes = new Flushes(() => writer.write([]));
  post({ kind: "ready" });
  try {
    await work(writer, consumer, flushes, large);
  } catch (error) {
    flushes.fail(error);
    throw error;
  }
  writer.close(consumer.released);
  post({ kind: "closed" });
}

/** Resolves when the ring is empty at its end. */
async function work(
  writer: SegmentWriter,
  consumer: RingConsumer,
  flushes: Flushes,
  large: MessagePort,
): Promise<void> {
  const take = () => consumer.take(() => receiveFrame(large));
  const announce = (taken: Taken) => {
    if (consumer.done(taken)) post({ kind: "durable" });
  };
  for (;;) {
    // Read before the ring: once it is set, nothing is put after it.
    const { isEnding, released, hasMore } = consumer;
    if (hasMore && flushes.mayBegin) {
      const runs = take();
      const { taken } = consumer;
      flushes.begin(writer.writeBeside(runs), () => announce(taken));
      writer.tidy(released);
    } else if (hasMore && !flushes.isWaiting) {
      flushes.measure(() => writer.write(take()));
      announce(consumer.taken);
      writer.tidy(released);
    } else if (flushes.isWaiting) await flushes.next(hasMore ? null : consumer.arrival());
    else if (isEnding) return;
    else {
      writer.mark();
      if (!writer.tidy(released)) consumer.waitForMore(released);
    }
  }
}

noteLoaded();
parentPort?.once("message", (start: ThreadStart) => {
  run(start).catch((error: unknown) => {
    const reason = error instanceof JournalLost ? error.reason : "failed";
    post({ kind: "lost", reason, message: error instanceof Error ? error.message : String(error) });
  });
});
