// Which part of a job a program in C does, if this machine has it. wrk sends requests in closed loop, one after the
// other from a list. The kit itself keeps what wrk cannot do: a fixed rate, connections with a cycle of their own, posts
// over sockets, and posts that wait until every receiver has seen the one before.

import type { DeliveriesJob, HttpLoadJob, Job, Wrk } from "./job.ts";
import { findWrk } from "./native.ts";
import type { Workspace } from "./workspace.ts";

/** Looked up once: undefined before, null without wrk. */
let installed: Wrk | null | undefined;

/** The job, with the programs that take part in it. */
export function withTools<J extends Job>(workspace: Workspace, job: J): J {
  installed ??= findWrk();
  if (job.kind === "http-load") return isForWrk(job) ? { ...job, ...byWrk(installed) } : job;
  if (job.kind !== "deliveries") return job;
  // The program in C speaks this server's protocol only.
  const receiverProgram = (job.receivers.dialect ?? "json") === "json" ? workspace.native("receiver") : null;
  return {
    ...job,
    ...(receiverProgram === null ? {} : { receiverProgram }),
    ...(isTypedByWrk(job) ? byWrk(installed) : {}),
  };
}

function byWrk(wrk: Wrk | null): { readonly wrk?: Wrk } {
  return wrk === null ? {} : { wrk };
}

function isForWrk({ pace, cycles, postSockets }: HttpLoadJob): boolean {
  return pace.ratePerSecond === null && postSockets === undefined && cycles.every((cycle) => cycle.length === 1);
}

/** Typing notices go to a few receivers, which keep up with any sender. */
function isTypedByWrk({ pace, decoder, postSockets }: DeliveriesJob): boolean {
  return pace.ratePerSecond === null && postSockets === undefined && decoder === "typing";
}
