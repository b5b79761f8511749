/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { SavedSnippet } from "./types.ts";
export interface SavedSnippetsOperations {
  /** Returns the caller's saved snippets, oldest first. */
  "GET /saved_snippets": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly saved_snippets: readonly SavedSnippet[] };
  };
  /** Saves a snippet (spec 4.19). */
  "POST /saved_snippets": {
    readonly params: { readonly content: string; readonly title: string };
    readonly result: { readonly saved_snippet_id: number };
  };
  /** Changes the title or the content of a snippet. */
  "PATCH /saved_snippets/{saved_snippet_id}": {
    readonly params: { readonly saved_snippet_id: number; readonly content?: string; readonly title?: string };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Deletes a snippet. */
  "DELETE /saved_snippets/{saved_snippet_id}": {
    readonly params: { readonly saved_snippet_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface SavedSnippetsEvents {
  saved_snippets:
    | { readonly type: "saved_snippets"; readonly id: number; readonly op: "add"; readonly saved_snippet: SavedSnippet }
    | {
        readonly type: "saved_snippets";
        readonly id: number;
        readonly op: "update";
        readonly saved_snippet: SavedSnippet;
      }
    | {
        readonly type: "saved_snippets";
        readonly id: number;
        readonly op: "remove";
        readonly saved_snippet_id: number;
      };
}

export interface SavedSnippetsState {
  readonly saved_snippets?: readonly SavedSnippet[];
}
