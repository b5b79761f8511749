// Sockets that connect, authenticate, register and then only answer pings, opened in steps. After each step the
// server's memory is read. Memory per socket is the slope, so the server's memory without sockets does not count.

import { setTimeout as wait } from "node:timers/promises";
import type { IdleSocketsJob, IdleSocketsResult } from "../lib/job.ts";
import { Probe } from "../lib/probe.ts";
import { readKernelSocketBytes, readMemory } from "../lib/process-usage.ts";
import { ReceiverPool } from "./receiver-pool.ts";

/** Runs the job. Rejects when a socket is rejected. */
export async function runIdleSockets(job: IdleSocketsJob): Promise<IdleSocketsResult> {
  const receiverPool = new ReceiverPool(job.address, job.receivers, { onFrame: () => undefined });
  const probe = new Probe(job.watch);
  const steps: IdleSocketsResult["steps"][number][] = [];
  let openSeconds = 0;
  probe.open();
  for (const sockets of job.steps) {
    const startedAt = performance.now();
    await receiverPool.openUntil(sockets);
    openSeconds += (performance.now() - startedAt) / 1000;
    await wait(job.settleMs);
    const memory = job.watch === null ? null : readMemory(job.watch.pid);
    const { pssBytes, anonBytes } = memory ?? { pssBytes: null, anonBytes: null };
    steps.push({ sockets, pssBytes, anonBytes, kernelBytes: readKernelSocketBytes() });
  }
  probe.close();
  const usage = await probe.report();
  const lost = receiverPool.lost;
  const firstClose = receiverPool.firstClose;
  await receiverPool.close();
  return { steps, opened: job.steps.at(-1) ?? 0, openSeconds, lost, firstClose, usage };
}
