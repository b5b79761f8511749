/**
 * The first part of a shutdown: running work ends, and nothing else begins.
 *
 * Waits for work, but not for ever.
 */
import type { OpenHubs } from "../edge/realtime/open-hubs.ts";
import type { Clock } from "../runtime/clock.ts";
import type { OpenedRealms } from "./open-realms.ts";
import type { createTransports } from "./transports.ts";

/** Resolves when the work is done, or after some time. */
export function atMost(clock: Pick<Clock, "after">, milliseconds: number, work: Promise<void>): Promise<void> {
  return new Promise((done) => {
    const cancel = clock.after(milliseconds, done);
    void work.then(() => {
      cancel();
      done();
    });
  });
}

export interface StopSteps {
  /** No request is waited for any more, so what is left can also be done by the next start. */
  readonly onDrained?: () => void;
  /** Nothing is served any more: a process that waits for the folder begins right after. */
  readonly beforeRelease?: () => void;
}

/** How long it waits for pending answers. */
const drainMs = 2000;

interface Draining extends Pick<ReturnType<typeof createTransports>, "http" | "sockets"> {
  readonly hubs: OpenHubs;
  readonly realms: OpenedRealms;
  readonly clock: Clock;
}

/** Resolves when no organization is used any more. */
export async function drain({ http, hubs, sockets, realms, clock }: Draining): Promise<void> {
  const quiet = http.drain();
  for (const hub of hubs.all()) hub.dismissPolls();
  const delivered = realms.endDeliveries();
  await sockets.drain();
  await atMost(clock, drainMs, quiet);
  http.stopReading();
  await delivered;
}
