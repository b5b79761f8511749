/**
 * Operations of the server without a network: a handler is called as the executor calls it, and its response is read as
 * a client reads it.
 */
import type { UserRecord } from "../../schemas/users.ts";
import { arrivedCall, type Call } from "../../src/operations/calls.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import type { Result } from "../../src/runtime/results.ts";

export interface CallOptions {
  readonly realm: Realm;
  readonly caller: UserRecord;
  readonly params: unknown;
  /** Takes a callback to run when the caller hangs up. */
  readonly onAbort?: (callback: () => void) => void;
}

export function callOf({ realm, caller, params, onAbort }: CallOptions): Call {
  const call = arrivedCall({
    realm,
    readParams: () => ({ values: new Map(), files: [] }),
    caller,
    keyHash: keyHashOf(realm, caller.id),
    isSession: false,
    page: { host: "", origin: "", fetchSite: "" },
    hasCredentials: true,
    unauthorized: null,
    client: "sim",
    siteUrl: "http://localhost",
    userAgent: "sim",
    address: () => "",
    sentIdempotencyKey: null,
    onAbort: onAbort ?? (() => undefined),
  });
  return { ...call, params };
}

/** The hash of a key that the user has, or a substitute. */
export function keyHashOf(realm: Realm, userId: number): string {
  return [...realm.view.apiKeysOf(userId)][0]?.hash ?? `key-of-${userId}`;
}

// biome-ignore lint/suspicious/noExplicitAny: the response is JSON whose shape the tests examine
export type Body = any;

/** @returns the fields of the response, or the code of a rejection */
export function read(result: Result): { readonly code: string | null; readonly body: Body } {
  switch (result.kind) {
    case "encoded":
      return { code: null, body: JSON.parse(`{${[result.fields].flat().join("")}}`) };
    case "whole":
      return { code: null, body: JSON.parse(String(result.body)) };
    case "redirect":
      return { code: null, body: {} };
    case "ok":
      return { code: null, body: JSON.parse(JSON.stringify(result.answer)) };
    default:
      return { code: result.code, body: null };
  }
}
