/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { Linkifier, TopicLink } from "./types.ts";
export interface LinkifiersOperations {
  /** Returns the organization's linkifiers in the order in which they are tried. */
  "GET /realm/linkifiers": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly linkifiers: readonly Linkifier[] };
  };
  /** Adds a linkifier at the end of the order; organization administrators only. */
  "POST /realm/filters": {
    readonly params: { readonly pattern: string; readonly url_template: string };
    readonly result: { readonly id: number };
  };
  /** Changes a linkifier; existing messages keep their links. */
  "PATCH /realm/filters/{filter_id}": {
    readonly params: { readonly filter_id: number; readonly pattern: string; readonly url_template: string };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Removes a linkifier; existing messages keep their links. */
  "DELETE /realm/filters/{filter_id}": {
    readonly params: { readonly filter_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Reorders the linkifiers; each one must be named once. */
  "PATCH /realm/linkifiers": {
    readonly params: { readonly ordered_linkifier_ids: readonly number[] };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Returns the links that a linkifier would make in a text, without saving it. */
  "POST /realm/linkifiers/preview": {
    readonly params: { readonly pattern: string; readonly url_template: string; readonly text: string };
    readonly result: { readonly links: readonly TopicLink[] };
  };
}

export interface LinkifiersState {
  readonly realm_linkifiers?: readonly Linkifier[];
}
