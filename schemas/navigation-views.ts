/** Navigation views: entries of the client's menu, built-in or custom (spec 2.10, 4.17; public API). */
import { Type } from "typebox";
import { definePersonalList, optional, text } from "./personal-list.ts";

/** Behaviour 2.17: these views exist without a row. A row stores whether one is pinned; it has no name. */
export const builtInFragments: ReadonlySet<string> = new Set([
  "inbox",
  "recent",
  "feed",
  "drafts",
  "narrow/has/reaction/sender/me",
  "narrow/is/mentioned",
  "narrow/is/starred",
  "scheduled",
]);

export const navigationViewsArea = definePersonalList({
  entry: "navigation_view",
  description: "The views of the caller's navigation.",
  table: "navigationViews",
  commands: "navigation-views",
  event: "navigation_view",
  key: "fragment",
  operations: {
    get: {
      operationId: "get-navigation-views",
      summary: "Returns the caller's navigation views, ordered by fragment.",
    },
    add: {
      operationId: "add-navigation-view",
      summary: "Creates a navigation view, or pins or unpins a built-in one.",
    },
    edit: {
      operationId: "edit-navigation-view",
      summary: "Changes a navigation view (spec 4.17); the fragment may contain slashes.",
    },
    remove: {
      operationId: "remove-navigation-view",
      summary: "Removes a navigation view; a built-in one returns to its default.",
    },
  },
  values: {
    /** With every byte percent-encoded it fits into a path, or the view could never be addressed again. */
    fragment: text({
      bound: "navigation_view_fragment_bytes_max",
      blank: "fragment cannot be blank",
      form: "any",
      examples: ["narrow/channel/1-kitchen", "inbox"],
    }),
    is_pinned: { given: Type.Boolean(), sent: Type.Boolean(), storedAs: "isPinned", examples: [true, false] },
    name: optional(
      text({
        bound: "navigation_view_name_code_points_max",
        blank: "name cannot be blank",
        form: "name",
        examples: ["Kitchen", "The kitchen"],
      }),
    ),
  },
  limits: {
    navigation_view_fragment_bytes_max: 1200,
    navigation_view_name_code_points_max: 100,
    navigation_views_per_user_max: 1000,
  },
});
