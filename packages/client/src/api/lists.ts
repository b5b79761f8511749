/** Generated from schemas/ by `npm run client:api`; do not edit. */
/** Lists whose events add, change or remove one entry: the names of their fields. */
export const personalLists = {
  navigation_view: {
    list: "navigation_views",
    id: "fragment",
    entry: "navigation_view",
    changed: "data",
    removed: "fragment",
  },
  saved_snippets: {
    list: "saved_snippets",
    id: "id",
    entry: "saved_snippet",
    changed: "saved_snippet",
    removed: "saved_snippet_id",
  },
} as const;
