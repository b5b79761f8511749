/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { Playground } from "./types.ts";
export interface PlaygroundsOperations {
  /** Adds a code playground (spec 4.18); organization administrators only. `url_template` since level 196. */
  "POST /realm/playgrounds": {
    readonly params: { readonly name: string; readonly pygments_language: string; readonly url_template: string };
    readonly result: { readonly id: number };
  };
  /** Removes a code playground; organization administrators only. */
  "DELETE /realm/playgrounds/{playground_id}": {
    readonly params: { readonly playground_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface PlaygroundsState {
  readonly realm_playgrounds?: readonly Playground[];
}
