/** A queued command: where it came from, and which request waits for it. */
import type { Command } from "../../actors/protocol/decision.ts";
import type { Reply } from "./results.ts";

/**
 * requested: a request to this process. sent: sent by another actor in this turn (its row is written if the turn ends
 * first). mailbox and timer: a row that is removed in the transaction that processes it (M3, M8).
 */
export type Source =
  | { readonly kind: "requested" }
  | { readonly kind: "sent" }
  | { readonly kind: "mailbox"; readonly sequence: number; readonly attempts: number }
  | { readonly kind: "timer"; readonly dueAt: number; readonly sequence: number };

/** The Idempotency-Key of a request (D25), hashed. */
export interface IdempotencyKey {
  readonly userId: number;
  readonly keyHash: string;
  readonly paramsHash: string;
}

export interface QueuedCommand {
  readonly command: Command;
  source: Source;
  readonly resolve: ((result: Reply) => void) | null;
  readonly idempotencyKey: IdempotencyKey | null;
}

/** A command whose reply no caller awaits. */
export function sentCommand(command: Command): QueuedCommand {
  return { command, source: { kind: "sent" }, resolve: null, idempotencyKey: null };
}
