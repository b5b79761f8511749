/** Discards the search index; the indexer starts anew with a format that it does not know (store/search-index.ts). */

import type { View } from "../../domain/view.ts";

import { done, effects, forServer, type Outcome } from "../protocol/decision.ts";

const unknownFormat = 0;

function rebuildSearch(_params: unknown, view: View): Outcome {
  const state = view.row("searchState", "state");
  return done(
    {},
    state === undefined ? [] : [effects.put("searchState", "state", { ...state, format: unknownFormat })],
  );
}

export const searchDecisions = { "search.rebuild": forServer(rebuildSearch) } as const;
