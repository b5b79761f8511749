/** Saved snippets: texts that a user inserts repeatedly (spec 2.10, 4.19; behaviour 2.19; public API). */
import { definePersonalList, text } from "./personal-list.ts";

/** Both empty fields give the same message (D12). */
const blank = "Title cannot be empty.";

export const savedSnippetsArea = definePersonalList({
  entry: "saved_snippet",
  description: "The saved snippets.",
  table: "savedSnippets",
  commands: "saved-snippets",
  event: "saved_snippets",
  counter: "savedSnippet",
  operations: {
    get: { operationId: "get-saved-snippets", summary: "Returns the caller's saved snippets, oldest first." },
    add: { operationId: "create-saved-snippet", summary: "Saves a snippet (spec 4.19)." },
    edit: { operationId: "edit-saved-snippet", summary: "Changes the title or the content of a snippet." },
    remove: { operationId: "delete-saved-snippet", summary: "Deletes a snippet." },
  },
  values: {
    title: text({
      bound: "saved_snippet_title_code_points_max",
      blank,
      form: "name",
      examples: ["Thanks", "Thank you"],
    }),
    content: text({
      bound: "message_code_points_max",
      blank,
      form: "lines",
      examples: ["Thank you, **all**!", "Thank you very much!"],
    }),
  },
  parameters: ["content", "title"],
  limits: {
    saved_snippet_title_code_points_max: 60,
    saved_snippets_per_user_max: 1000,
  },
});
