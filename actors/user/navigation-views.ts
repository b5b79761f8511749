/** The own rules of navigation views (spec 4.17; behaviour 2.17): built-in ones have no name, others are unique. */

import { type Refusal, refuse } from "../../schemas/errors.ts";
import { builtInFragments } from "../../schemas/navigation-views.ts";
import type { RowOf } from "../../schemas/records.ts";
import type { Params } from "../protocol/decision.ts";

type Change = Pick<Params<"navigation-views.add">, "fragment" | "name">;

export const navigationViewsRules = {
  check({ fragment, name }: Change, views: readonly RowOf<"navigationViews">[], isNew: boolean): Refusal | null {
    const isBuiltIn = builtInFragments.has(fragment);
    if (isBuiltIn && name !== null) return refuse.badRequest("Built-in views cannot have a custom name");
    if (isNew && !isBuiltIn && name === null) return refuse.badRequest("Custom views must have a valid name.");
    const isTaken = views.some(
      (view) => (isNew && view.fragment === fragment) || (name !== null && view.name === name),
    );
    return isTaken ? refuse.badRequest("Navigation view already exists.") : null;
  },

  /** A built-in view without a row can be pinned or hidden (D13). */
  isImplied(fragment: string): boolean {
    return builtInFragments.has(fragment);
  },
};
