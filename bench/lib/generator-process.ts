// Runs one job in a fresh generator process and gives its result back.

import { Child } from "./child.ts";
import type { Job, Reply, ResultOf } from "./job.ts";
import { JOB_GRACE_MS } from "./limits.ts";
import type { Workspace } from "./workspace.ts";

/** Rejects when the job fails, when the process dies, or when it takes longer than planned by JOB_GRACE_MS. */
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
    // The reply's type follows from the job's kind: the generator answers each kind with its own result.
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
