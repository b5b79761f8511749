/** Discards the search index; the indexer starts anew with a format that it does not know (store/search-index.ts). */

import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import type { Command } from "../protocol/commands.ts";
import { done, type Outcome } from "../protocol/decide.ts";
import { effects } from "../protocol/effects.ts";

const unknownFormat = 0;

function rebuildSearch(_context: unknown, asked: Command<"search.rebuild">, view: View): Outcome {
  if (asked.callerId !== null) return refuse.insufficientPermission();
  const state = view.row("searchState", "state");
  return done(
    {},
    state === undefined ? [] : [effects.put("searchState", "state", { ...state, format: unknownFormat })],
  );
}

export const searchDecisions = { "search.rebuild": rebuildSearch } as const;
