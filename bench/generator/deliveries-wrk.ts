// Posts by wrk, as many as it can send, while programs read the events that they cause. wrk does not wait for the
// events, so this is for loads whose events are few: otherwise readers would fall behind and be disconnected. Every
// post that was answered must have been seen by every receiver, exactly once.

import type { DeliveriesJob, DeliveriesResult, Wrk } from "../lib/job.ts";
import { DELIVERY_WAIT_MS } from "../lib/limits.ts";
import { Probe } from "../lib/probe.ts";
import { Recorder } from "../lib/recorder.ts";
import { ReceiverPrograms, receiverName } from "./receiver-programs.ts";
import { drain } from "./window.ts";
import { runWrk } from "./wrk.ts";

export async function runWrkDeliveries(job: DeliveriesJob, wrk: Wrk): Promise<DeliveriesResult> {
  const { address, cycles, connections, firstMarker, pace } = job;
  const probe = new Probe(job.watch);
  const deliveries = new Recorder(pace.durationMs);
  /** Programs that have reported a post, by its number; it is deleted when all have. */
  const partly = new Map<number, number>();
  let complete = 0;
  const receivers = new ReceiverPrograms(job, (post, arrivedAt) => {
    for (const at of arrivedAt) deliveries.complete(at);
    const reports = (partly.get(post) ?? 0) + 1;
    if (reports < receivers.count) {
      partly.set(post, reports);
      return;
    }
    partly.delete(post);
    complete += 1;
  });
  await receivers.open();
  const { warmup, measured, failures } = await Promise.race([
    receivers.failed,
    runWrk({
      ...{ wrk, address, cycles, connections, firstMarker },
      ...{ warmupMs: pace.warmupMs, durationMs: pace.durationMs },
      onOpen: () => {
        probe.open();
        deliveries.open(performance.now());
      },
      onClose: (seconds) => {
        deliveries.close(performance.now());
        probe.close(seconds);
      },
    }),
  ]);
  const answered = warmup.answered + measured.answered;
  await drain(() => Math.max(0, answered - complete) + partly.size, DELIVERY_WAIT_MS);
  const usage = await probe.report();
  const { lost, firstClose, duplicates, frames, open } = await receivers.close();
  return {
    sender: `wrk ${wrk.version}, which does not wait for the events`,
    receiver: receiverName(job),
    posts: measured.answered,
    postsPerSecond: measured.answered / measured.seconds,
    deliveries: deliveries.completed,
    deliveriesPerSecond: deliveries.completed / measured.seconds,
    // A post's due time is not known.
    latency: new Recorder(0).summary(),
    lastReceiver: new Recorder(0).summary(),
    throughput: deliveries.throughput(),
    // wrk abandons the requests that are in flight at its end: the server may have carried them out or not.
    incomplete: Math.max(0, answered - complete, partly.size, open),
    ...{ duplicates, frames, sampleFrames: [], closedReceivers: lost, firstClose },
    failures,
    usage,
  };
}
