/** The parts that the sockets of a realm share. */
import type { Refusal } from "../../../schemas/errors.ts";
import type { Counter } from "../../metrics/instruments.ts";
import type { Authenticated } from "../../operations/calls.ts";
import type { OperationExecutor } from "../../operations/execution/operation-executor.ts";
import type { ByteBudget } from "../../runtime/byte-budget.ts";
import type { Realm } from "../../runtime/realm.ts";
import type { UnsentBytes } from "../../runtime/unsent-bytes.ts";
import type { Hub } from "./hub.ts";
import type { RequestReader } from "./socket-operations.ts";
import type { UnauthenticatedSockets } from "./unauthenticated-sockets.ts";

/** Shared by all sockets of a realm, because there may be many thousands. */
export interface SocketHost {
  readonly realm: Realm;
  readonly hub: Hub;
  readonly executor: OperationExecutor;
  readonly requests: RequestReader;
  /** Checks an email address and API key; failed attempts are counted per network address (D28). */
  readonly verify: (account: { email: string; key: string }, address: string) => Authenticated | Refusal;
  /** Counts a frame against the same limits as REST; null if it may pass. Operations count themselves. */
  readonly limitFrame: (userId: number) => Refusal | null;
  /** Returns false if the user has too many sockets. */
  readonly admit: (userId: number) => boolean;
  /** A socket of the user was closed. */
  readonly leave: (userId: number) => void;
  readonly unauthenticated: UnauthenticatedSockets;
  /** Bytes that clients have not read yet, and frames of calls that are not answered yet. */
  readonly unsent: UnsentBytes;
  readonly inFlight: ByteBudget;
  /** Sockets that the server closed, by close code. */
  readonly closed: Counter<string>;
}
