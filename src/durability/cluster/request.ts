/** Requests that read or administer streams, repeated while the servers elect a leader. */
import { setTimeout as wait } from "node:timers/promises";
import { limits } from "../../../schemas/limits.ts";
import { ClusterSilent } from "./cluster-unusable.ts";
import type { Nats } from "./connection.ts";

/** @throws what the server says, unless it may pass; ClusterSilent when no answer arrives for too long */
export async function requested<T>(nats: Nats, request: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    await nats.onceConnected();
    try {
      return await request();
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (attempt === limits.cluster_request_attempts_max) throw noAnswer(error as Error);
    }
    await wait(limits.cluster_retry_ms_max);
  }
}

/** 503 is what a server without a leader says; the others are time-outs and servers that are not there (yet). */
function isPassing(error: unknown): boolean {
  const { name, status } = error as { name?: string; status?: number };
  if (status === 503) return true;
  return name === "TimeoutError" || name === "JetStreamNotEnabled" || name === "RequestError";
}

function noAnswer(error: Error): ClusterSilent {
  return new ClusterSilent(
    `JetStream does not answer (${error.message}). Enable it on every NATS server, and see that a majority of them runs.`,
  );
}
