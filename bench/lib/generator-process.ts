// Runs one job in a new generator process and returns its result.

import { Child } from "./child.ts";
import type { Job, Reply, ResultOf } from "./job.ts";
import { JOB_GRACE_MS } from "./limits.ts";
import type { Workspace } from "./workspace.ts";

/** Rejects when the job fails, the process dies, or it exceeds its planned time by JOB_GRACE_MS. */
export async function runJob<J extends Job>(workspace: Workspace, job: J): Promise<ResultOf[J["kind"]]> {
  const child = new Child({
    arguments: [workspace.program("generator/main")],
    folder: workspace.folder,
    channel: true,
    environment: {},
  });
  const timer = setTimeout(() => child.kill(), plannedMs(job) + JOB_GRACE_MS);
  try {
    const reply = await new Promise<Reply>((resolve, reject) => {
      child.process.once("message", resolve);
      child.exited.then((exit) => {
        reject(new Error(`the generator ended without a result (${exit.killed ? "too slow" : ""}) ${child.output}`));
      }, reject);
      child.process.send(job);
    });
    if (reply.kind === "failed") throw new Error(`${job.kind}: ${reply.message}`);
    // The type of the reply follows from the job's kind.
    return reply.result as ResultOf[J["kind"]];
  } finally {
    clearTimeout(timer);
    await child.exited;
  }
}

function plannedMs(job: Job): number {
  if (job.kind === "permissions") return job.warmupMs + job.durationMs;
  return job.kind === "idle-sockets" ? job.steps.length * job.settleMs : job.pace.warmupMs + job.pace.durationMs;
}
