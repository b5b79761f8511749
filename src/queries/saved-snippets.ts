/** Reads a user's saved snippets (public API: get-saved-snippets, register). */

import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import { savedSnippetBody } from "../../schemas/saved-snippets.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Section } from "./state-section.ts";

/** Oldest first. */
export function listSavedSnippets(view: View, user: UserRecord) {
  const range = { start: [user.id], end: [user.id + 1], limit: limits.saved_snippets_per_user_max };
  return view.rows("savedSnippets", range).map(({ row }) => savedSnippetBody(row));
}

export const savedSnippetsState: Section<"saved_snippets"> = (view, user) => ({
  saved_snippets: listSavedSnippets(view, user),
});
