/** A server whose clock a test advances: heartbeats, idle queues, presence and time-outs without waiting. */
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { ManualClock } from "./manual-clock.ts";
import { SlowClock } from "./runtime.ts";
import { startTestServer, type Teardown, type TestServer, type TestServerOptions } from "./server.ts";

/** An arbitrary moment, far from the epoch, so that timestamps and ages are plausible. */
export const firstMoment = Date.UTC(2026, 5, 1, 12);

const dayMs = 24 * 60 * 60 * 1000;

/** A clock that runs, on which it was noon when it was made: no day ends during a test. */
export function noonClock(): Clock {
  const now = Date.now();
  const aheadMs = dayMs / 2 - (now % dayMs);
  return { ...systemClock, now: () => Date.now() + aheadMs };
}

export interface ClockedServer {
  readonly server: TestServer;
  readonly clock: ManualClock;
}

/** @param startedAt wall-clock milliseconds; for a second start on the same folder, later than the first one's end */
export async function startClockedServer(
  t: Teardown,
  options: Omit<TestServerOptions, "clock"> = {},
  startedAt = firstMoment,
): Promise<ClockedServer> {
  return startWith(t, options, new ManualClock(startedAt));
}

/** A server on a machine so slow that each turn ends after one command. */
export function startSlowServer(t: Teardown): Promise<ClockedServer> {
  return startWith(t, {}, new SlowClock(firstMoment));
}

async function startWith(
  t: Teardown,
  options: Omit<TestServerOptions, "clock">,
  clock: ManualClock,
): Promise<ClockedServer> {
  return { server: await startTestServer(t, { ...options, clock }), clock };
}
