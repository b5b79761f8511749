/** Refuses connections that would take descriptors of the reserve (D43), and logs how many, once a minute. */
import { limits } from "../../schemas/limits.ts";
import type { Log } from "../log/log.ts";
import type { Clock } from "../runtime/clock.ts";
import { type Descriptors, descriptors } from "../store/descriptors.ts";

/** @returns whether one more connection may be accepted */
export function connectionAdmission(
  log: Pick<Log, "warn">,
  clock: Pick<Clock, "monotonic">,
  { limit, hasRoom }: Pick<Descriptors, "limit" | "hasRoom"> = {
    limit: descriptors.limit,
    hasRoom: () => descriptors.hasRoom(1),
  },
): () => boolean {
  let refused = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (hasRoom()) return true;
    refused++;
    const now = clock.monotonic();
    if (now - loggedAt < limits.connections_refused_log_ms) return false;
    log.warn(
      { refused },
      `connections are refused: the process may have ${limit} descriptors (LimitNOFILE, ulimit -n)`,
    );
    loggedAt = now;
    refused = 0;
    return false;
  };
}
