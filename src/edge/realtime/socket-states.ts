/**
 * The states of a WebSocket session. `connecting` waits for credentials, `registering` has no queue yet, `live` reads
 * one, and `draining` reads no frames and sends no events, but still answers the calls that it has received.
 */
import type { CloseCause } from "../../../schemas/close-codes.ts";
import type { Authenticated } from "../../operations/calls.ts";
import type { LifeCycle } from "../../runtime/life-cycle.ts";
import type { SocketReader } from "./socket-reader.ts";

export const sessionLife = {
  connecting: { authenticate: "registering", close: "closed" },
  registering: { attach: "live", drain: "draining", close: "closed" },
  live: { attach: "live", drain: "draining", close: "closed" },
  draining: { close: "closed" },
  closed: {},
} as const satisfies LifeCycle;

export interface Connecting {
  readonly kind: "connecting";
  /** Name of the timer that waits for credentials. */
  readonly timer: string;
}

interface Registering {
  readonly kind: "registering";
  readonly account: Authenticated;
}

interface Live {
  readonly kind: "live";
  readonly account: Authenticated;
  readonly reader: SocketReader;
}

interface Draining {
  readonly kind: "draining";
  readonly account: Authenticated;
  readonly cause: CloseCause;
}

export type SessionState = Connecting | Registering | Live | Draining | { readonly kind: "closed" };
