/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { NavigationView } from "./types.ts";
export interface NavigationViewsOperations {
  /** Returns the caller's navigation views, ordered by fragment. */
  "GET /navigation_views": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly navigation_views: readonly NavigationView[] };
  };
  /** Creates a navigation view, or pins or unpins a built-in one. */
  "POST /navigation_views": {
    readonly params: { readonly fragment: string; readonly is_pinned: boolean; readonly name?: string };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Changes a navigation view (spec 4.17); the fragment may contain slashes. */
  "PATCH /navigation_views/{fragment*}": {
    readonly params: { readonly fragment: string; readonly is_pinned?: boolean; readonly name?: string };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Removes a navigation view; a built-in one returns to its default. */
  "DELETE /navigation_views/{fragment*}": {
    readonly params: { readonly fragment: string };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface NavigationViewsEvents {
  navigation_view:
    | {
        readonly type: "navigation_view";
        readonly id: number;
        readonly op: "add";
        readonly navigation_view: NavigationView;
      }
    | {
        readonly type: "navigation_view";
        readonly id: number;
        readonly op: "update";
        readonly fragment: string;
        readonly data: { readonly is_pinned?: boolean; readonly name?: string | null };
      }
    | { readonly type: "navigation_view"; readonly id: number; readonly op: "remove"; readonly fragment: string };
}

export interface NavigationViewsState {
  readonly navigation_views?: readonly NavigationView[];
}
