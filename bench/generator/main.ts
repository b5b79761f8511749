// A generator process: receives one job over IPC, runs it, sends one reply and exits. Every run has a new process, so
// that garbage, warm code and timers of one run never affect the next, and the parent's progress bar costs it nothing.

import type { Job, Reply, ResultOf } from "../lib/job.ts";
import { runDeliveries } from "./deliveries.ts";
import { runHttpLoad } from "./http-load.ts";
import { runIdleSockets } from "./idle-sockets.ts";
import { runMixed } from "./mixed.ts";
import { runPermissions } from "./permissions.ts";
import { runReconnect } from "./reconnect.ts";

process.once("message", (job: Job) => {
  run(job).then(
    (result) => reply({ kind: "done", result }),
    (error: unknown) => reply({ kind: "failed", message: error instanceof Error ? error.message : String(error) }),
  );
});
process.once("disconnect", () => process.exit(1));

function run(job: Job): Promise<ResultOf[Job["kind"]]> {
  switch (job.kind) {
    case "http-load":
      return runHttpLoad(job);
    case "deliveries":
      return runDeliveries(job);
    case "mixed":
      return runMixed(job);
    case "reconnect":
      return runReconnect(job);
    case "idle-sockets":
      return runIdleSockets(job);
    case "permissions":
      return Promise.resolve(runPermissions(job));
  }
}

function reply(message: Reply): void {
  process.send?.(message, () => process.exit(0));
}
