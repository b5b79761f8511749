/** Reads a queue by GET /events: one request after the other, each answered by the next events or by a heartbeat. */
import { stepAfterError } from "./close-codes.ts";
import { ApiError, ConnectionError } from "./errors.ts";
import type { Ended, EventSource, Position, RawEvent } from "./event-source.ts";
import { type RequestSettings, sendRequest } from "./requests.ts";

/** The server sends a heartbeat after at most 50 seconds. */
const pollTimeoutMs = 90_000;

/** @param until time of `performance.now()` at which the last poll has started */
export async function* readPolls(
  settings: RequestSettings,
  from: Position,
  { signal, until, onLive }: { readonly signal: AbortSignal; readonly until: number; readonly onLive: () => void },
): EventSource {
  let { lastEventId } = from;
  let wasLive = false;
  do {
    let events: readonly RawEvent[];
    try {
      const answer = await sendRequest(settings, {
        operation: "GET /events",
        // The first answer says at once that the queue is there.
        params: { queue_id: from.queueId, last_event_id: lastEventId, ...(wasLive ? {} : { dont_block: true }) },
        idempotencyKey: null,
        file: null,
        timeoutMs: pollTimeoutMs,
        signal,
      });
      events = answer["events"] as readonly RawEvent[];
    } catch (error) {
      return { ...endOf(error), wasLive };
    }
    if (!wasLive) onLive();
    wasLive = true;
    if (events.length === 0) continue;
    yield events;
    lastEventId = events.at(-1)?.id ?? lastEventId;
  } while (performance.now() < until);
  return { next: "resume", error: new Error("time to try a socket again"), leastMs: 0, wasLive };
}

function endOf(error: unknown): Omit<Ended, "wasLive"> {
  if (error instanceof ApiError) return { next: stepAfterError(error.code), error, leastMs: error.retryAfterMs };
  if (error instanceof ConnectionError) return { next: isPassing(error) ? "resume" : "stop", error, leastMs: 0 };
  return { next: "stop", error: error instanceof Error ? error : new Error(String(error)), leastMs: 0 };
}

/** A page of another server (404, a login form) does not become the API by repetition. */
function isPassing({ status }: ConnectionError): boolean {
  return status === 0 || status >= 500;
}
