// HTTP load over keep-alive connections, all of one kind. Who sends when: bench/generator/dispatchers.ts.

import type { HttpLoadJob, HttpLoadResult } from "../lib/job.ts";
import { DRAIN_MS } from "../lib/limits.ts";
import { Probe } from "../lib/probe.ts";
import { Recorder } from "../lib/recorder.ts";
import { Crew } from "./crew.ts";
import { dispatcherFor } from "./dispatchers.ts";
import { drain, runWindow } from "./window.ts";

/** Runs the job. Rejects when connections break again and again. */
export async function runHttpLoad(job: HttpLoadJob): Promise<HttpLoadResult> {
  const recorder = new Recorder(job.pace.durationMs);
  const probe = new Probe(job.watch);
  const dispatcher = dispatcherFor(job.pace);
  let bodyBytes = 0;
  const crew = new Crew({
    address: job.address,
    ...(job.postSockets === undefined ? {} : { sockets: job.postSockets }),
    cycles: job.cycles,
    connections: job.connections,
    onReady: (lane) => dispatcher.onReady(lane),
    onLost: (lane) => dispatcher.onLost(lane),
    onAnswer: (lane, response, now) => {
      recorder.latency(lane.dueAt, now);
      if (response.status === 200 && recorder.complete(now)) bodyBytes += response.bodyBytes;
    },
  });
  await crew.open();
  const load = dispatcher.run(crew, job.pace);
  await Promise.race([runWindow({ pace: job.pace, probe, recorders: [recorder] }), crew.failed]);
  dispatcher.stop();
  await load;
  await drain(() => crew.busy + dispatcher.waiting, DRAIN_MS);
  const unanswered = crew.busy + dispatcher.waiting;
  crew.close();
  return {
    completed: recorder.completed,
    perSecond: (recorder.completed * 1000) / recorder.elapsedMs,
    latency: recorder.summary(),
    throughput: recorder.throughput(),
    bodyBytes,
    failures: crew.failures(unanswered),
    usage: await probe.report(),
  };
}
