// HTTP load over keep-alive connections, all of one kind. bench/generator/dispatchers.ts decides when each sends.

import { type HttpLoadJob, type HttpLoadResult, KIT_SENDER } from "../lib/job.ts";
import { DRAIN_MS } from "../lib/limits.ts";
import { Probe } from "../lib/probe.ts";
import { Recorder } from "../lib/recorder.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { dispatcherFor } from "./dispatchers.ts";
import { drain, runWindow } from "./window.ts";
import { runWrkLoad } from "./wrk.ts";

/** Runs the job. Rejects when connections break repeatedly. */
export async function runHttpLoad(job: HttpLoadJob): Promise<HttpLoadResult> {
  return job.wrk === undefined ? await runOwnLoad(job) : await runWrkLoad(job, job.wrk);
}

async function runOwnLoad(job: HttpLoadJob): Promise<HttpLoadResult> {
  const recorder = new Recorder(job.pace.durationMs);
  const probe = new Probe(job.watch);
  const dispatcher = dispatcherFor(job.pace);
  let bodyBytes = 0;
  const pool = new ConnectionPool({
    address: job.address,
    ...(job.postSockets === undefined ? {} : { sockets: job.postSockets }),
    cycles: job.cycles,
    connections: job.connections,
    onReady: (pooled) => dispatcher.onReady(pooled),
    onLost: (pooled) => dispatcher.onLost(pooled),
    onAnswer: (pooled, response, now) => {
      recorder.latency(pooled.dueAt, now);
      if (response.status === 200 && recorder.complete(now)) bodyBytes += response.bodyBytes;
    },
  });
  await pool.open();
  const load = dispatcher.run(pool, job.pace);
  await Promise.race([runWindow({ pace: job.pace, probe, recorders: [recorder] }), pool.failed]);
  dispatcher.stop();
  await load;
  await drain(() => pool.busy + dispatcher.waiting, DRAIN_MS);
  const unanswered = pool.busy + dispatcher.waiting;
  pool.close();
  return {
    sender: KIT_SENDER,
    completed: recorder.completed,
    perSecond: (recorder.completed * 1000) / recorder.elapsedMs,
    latency: recorder.summary(),
    throughput: recorder.throughput(),
    bodyBytes,
    failures: pool.failures(unanswered),
    usage: await probe.report(),
  };
}
