// Sockets that connect, authenticate, register and then do nothing but answer pings, opened in steps; after each step the
// server's memory is read. Memory per socket is the slope, so what the server needs without sockets does not count.

import { setTimeout as wait } from "node:timers/promises";
import type { IdleSocketsJob, IdleSocketsResult } from "../lib/job.ts";
import { Probe } from "../lib/probe.ts";
import { readKernelSocketBytes, readMemory } from "../lib/process-usage.ts";
import { Crowd } from "./crowd.ts";

/** Runs the job. Rejects when a socket is refused. */
export async function runIdleSockets(job: IdleSocketsJob): Promise<IdleSocketsResult> {
  const crowd = new Crowd(job.address, job.receivers, { onFrame: () => undefined });
  const probe = new Probe(job.watch);
  const steps: IdleSocketsResult["steps"][number][] = [];
  let openSeconds = 0;
  probe.open();
  for (const sockets of job.steps) {
    const startedAt = performance.now();
    await crowd.openUntil(sockets);
    openSeconds += (performance.now() - startedAt) / 1000;
    await wait(job.settleMs);
    const pssBytes = job.watch === null ? null : (readMemory(job.watch.pid)?.pssBytes ?? null);
    steps.push({ sockets, pssBytes, kernelBytes: readKernelSocketBytes() });
  }
  probe.close();
  const usage = await probe.report();
  const lost = crowd.lost;
  const firstClose = crowd.firstClose;
  await crowd.close();
  return { steps, opened: job.steps.at(-1) ?? 0, openSeconds, lost, firstClose, usage };
}
