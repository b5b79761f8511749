/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { Draft, NewDraft } from "./types.ts";
export interface DraftsOperations {
  /** Returns the caller's drafts, most recently edited first. */
  "GET /drafts": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly count: number; readonly drafts: readonly Draft[] };
  };
  /** Stores drafts; the ids are in the order of the request. */
  "POST /drafts": {
    readonly params: { readonly drafts?: readonly NewDraft[] };
    readonly result: { readonly ids: readonly number[] };
  };
  /** Replaces a draft. */
  "PATCH /drafts/{draft_id}": {
    readonly params: { readonly draft_id: number; readonly draft: NewDraft };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Deletes a draft. */
  "DELETE /drafts/{draft_id}": {
    readonly params: { readonly draft_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface DraftsEvents {
  drafts:
    | { readonly type: "drafts"; readonly id: number; readonly op: "add"; readonly drafts: readonly Draft[] }
    | { readonly type: "drafts"; readonly id: number; readonly op: "update"; readonly draft: Draft }
    | { readonly type: "drafts"; readonly id: number; readonly op: "remove"; readonly draft_id: number };
}

export interface DraftsState {
  readonly drafts?: readonly Draft[];
}
