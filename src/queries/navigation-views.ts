/** Reads a user's navigation views (public API: get-navigation-views, register). */

import { navigationViewsOf } from "../../domain/navigation-views.ts";
import { compareText } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Section } from "./state-section.ts";

/** Ordered by fragment. */
export function listNavigationViews(view: View, user: UserRecord) {
  return [...navigationViewsOf(view, user.id)]
    .sort((a, b) => compareText(a.fragment, b.fragment))
    .map(({ fragment, isPinned, name }) => ({ fragment, is_pinned: isPinned, name }));
}

export const navigationViewsState: Section<"navigation_views"> = (view, user) => ({
  navigation_views: listNavigationViews(view, user),
});
