/**
 * A program on the client (packages/client) for the command line: registers a queue and passes on its events. When the
 * connection is lost it resumes, and misses nothing (E2).
 */
import { WebSocket } from "ws";
import {
  ApiError,
  type Client,
  ConnectionError,
  connect,
  type EventType,
  type Interruption,
} from "../../packages/client/src/node.ts";
import { blockedPortOf } from "../app/browser-ports.ts";
import { AdminFailure } from "../operate/admin/operation.ts";
import type { Account } from "../operate/zuliprc.ts";

export interface ListenOptions {
  /** Empty means every type. */
  readonly types: readonly string[];
  /** Number of events after which it stops. */
  readonly count: number;
  readonly onEvent: (event: object) => void;
  /** Something that is not an event, for people. */
  readonly onNotice: (line: string) => void;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** How long the end waits for the deletion of the queue. */
const farewellMs = 2_000;

/** @throws AdminFailure when the server rejects it, or none answers at first */
export async function listen(account: Account, options: ListenOptions): Promise<void> {
  const { types, signal, onNotice } = options;
  const port = blockedPortOf(account.site);
  if (port !== null) {
    const how = "start the server with another PORT, or name another address in zuliprc";
    throw new AdminFailure("input", `fetch refuses to connect to port ${port} of ${account.site}: ${how}`);
  }
  const client = await connect(account, { webSocket: WebSocket, userAgent: "colloquy-listen" });
  const params = types.length === 0 ? {} : { event_types: types as readonly EventType[] };
  // Tried once, because there may be no server yet; from then on the client waits for it. An end waits
  // for the answer, because only that says which queue to delete.
  const queue = await client
    .call("POST /register", { ...params, fetch_event_types: [] }, { retryMs: 0 })
    .catch((error: unknown) => fail(error, account.site));
  const stream = client.events({
    ...params,
    from: { queueId: queue.queue_id, lastEventId: queue.last_event_id },
    signal,
    onGap: ({ lastEventId }) =>
      onNotice(`the queue is gone: events after ${lastEventId} are lost, and new ones follow`),
    onInterrupted: (interruption) => onNotice(describe(interruption)),
  });
  let left = options.count;
  try {
    for await (const event of stream) {
      options.onEvent(event);
      if (--left <= 0) break;
    }
  } catch (error) {
    fail(error, account.site);
  } finally {
    await leave(client, stream.position?.queueId ?? queue.queue_id);
  }
}

function describe({ error, delayMs }: Interruption): string {
  return `${error.message}: it resumes in ${Math.ceil(delayMs / 1000)} s`;
}

function fail(error: unknown, site: string): never {
  if (error instanceof ApiError) throw new AdminFailure("refused", error.message);
  if (error instanceof ConnectionError)
    throw new AdminFailure("busy", `no server answers at ${site}: ${error.message}`);
  throw error;
}

/** A queue without a reader would cost the server memory until it expires. */
async function leave(client: Client, queueId: string): Promise<void> {
  const options = { retryMs: 0, signal: AbortSignal.timeout(farewellMs) };
  await client.call("DELETE /events", { queue_id: queueId }, options).catch(() => undefined);
}
