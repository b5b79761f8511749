/** One command in the realm's line, where it came from, and who waits for it. */
import type { Command } from "../../actors/commands.ts";
import type { Answer } from "../../actors/effects.ts";
import { errorBody, errorCodes, type Refusal } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";

/** What an asker gets. It never rejects: refusals and bugs are values. */
export type AskResult = { readonly kind: "ok"; readonly answer: Answer } | Refusal;

/**
 * asked: a request of this process; told: by another actor in this turn (its row is written if the turn ends first);
 * mailbox and timer: a row that goes away in the transaction that processes it (M3, M8).
 */
export type Source =
  | { readonly kind: "asked" }
  | { readonly kind: "told" }
  | { readonly kind: "mailbox"; readonly sequence: number; readonly attempts: number }
  | { readonly kind: "timer"; readonly dueAt: number; readonly sequence: number };

/** An Idempotency-Key that a request came with (D25), hashed. */
export interface IdempotencyClaim {
  readonly userId: number;
  readonly keyHash: string;
  readonly paramsHash: string;
}

export interface Entry {
  readonly command: Command;
  source: Source;
  readonly settle: ((result: AskResult) => void) | null;
  readonly claim: IdempotencyClaim | null;
}

/** HTTP status of a result. */
export function statusOf(result: AskResult): number {
  return result.kind === "ok" ? 200 : errorCodes[result.code].status;
}

/** The fields of a result as they stand in an answer. */
export function bodyOf(result: AskResult): Record<string, unknown> {
  return result.kind === "ok" ? { result: "success", msg: "", ...result.answer } : errorBody(result);
}

export type Header = readonly [name: string, value: string];

/** How to log in (D2). */
export const challenge: Header = ["WWW-Authenticate", 'Basic realm="colloquy"'];

/** Headers that a refusal must bring, over whichever door it leaves; when to come back is told in whole seconds (D1). */
export function headersOf(refusal: Refusal): readonly Header[] {
  if (refusal.code === "UNAUTHORIZED") return [challenge];
  if (refusal.code === "OVERLOADED") return [["Retry-After", String(limits.overloaded_retry_s)]];
  if (statusOf(refusal) !== 429) return [];
  return [["Retry-After", String(Math.ceil(Number(refusal.fields?.["retry-after"] ?? 1)))]];
}

export function ok(answer: Answer): AskResult {
  return { kind: "ok", answer };
}
