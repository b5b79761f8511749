/** `cli listen`: passes on the events of the client package (packages/client), which reconnects and misses nothing (E2). */
import { WebSocket } from "ws";
import { connect } from "../packages/client/src/node.ts";
import type { Account } from "./zuliprc.ts";

export interface ListenOptions {
  /** Empty means every type. */
  readonly types: readonly string[];
  /** Number of events after which it stops. */
  readonly count: number;
  readonly onEvent: (event: Readonly<Record<string, unknown>>) => void;
}

/** @returns null after `count` events, else the reason for the end */
export async function listen(account: Account, options: ListenOptions): Promise<string | null> {
  let left = options.count;
  if (left <= 0) return null;
  const client = await connect(account, { webSocket: WebSocket, userAgent: "colloquy-listen" });
  // The server decides which types exist, so that this program also follows a newer one.
  const types = options.types.length === 0 ? {} : { event_types: options.types as readonly never[] };
  try {
    for await (const event of client.events(types)) {
      options.onEvent({ ...(event as object) });
      if (--left <= 0) return null;
    }
    return "the stream ended";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
