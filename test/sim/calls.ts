/** Operations of the server without a wire: a handler is called as the performer calls it, and its answer is read as a client reads it. */
import type { UserRecord } from "../../schemas/records.ts";
import type { Call, Handled } from "../../src/runtime/calls.ts";
import type { Realm } from "../../src/runtime/realm.ts";

export interface CallOptions {
  readonly realm: Realm;
  readonly caller: UserRecord;
  readonly params: unknown;
  /** Takes what is to be called when the caller hangs up. */
  readonly onAbort?: (callback: () => void) => void;
}

export function callOf({ realm, caller, params, onAbort }: CallOptions): Call {
  return {
    realm,
    caller,
    keyHash: keyHashOf(realm, caller.id),
    params,
    files: [],
    drafts: [],
    client: "sim",
    siteUrl: "http://localhost",
    userAgent: "sim",
    address: () => "",
    claim: null,
    onAbort: onAbort ?? (() => undefined),
  };
}

/** Of a key that the person has, or of one that stands for it. */
export function keyHashOf(realm: Realm, userId: number): string {
  return [...realm.view.apiKeysOf(userId)][0]?.hash ?? `key-of-${userId}`;
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is JSON whose shape is what is looked into
export type Body = any;

/** @returns the answer's fields, or the code of a refusal */
export function read(handled: Handled): { readonly code: string | null; readonly body: Body } {
  switch (handled.kind) {
    case "encoded":
      return { code: null, body: JSON.parse(`{${handled.fields}}`) };
    case "pieced":
      return { code: null, body: JSON.parse(`{${handled.pieces.join("")}}`) };
    case "whole":
      return { code: null, body: JSON.parse(String(handled.body)) };
    case "redirect":
      return { code: null, body: {} };
    case "ok":
      return { code: null, body: JSON.parse(JSON.stringify(handled.answer)) };
    default:
      return { code: handled.code, body: null };
  }
}
