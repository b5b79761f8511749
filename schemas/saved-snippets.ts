/** Saved snippets: texts that a person inserts again and again (spec 2.10, 4.19; public API). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { Id } from "./types.ts";

export const SavedSnippet = Type.Object({
  id: Id,
  title: Type.String(),
  content: Type.String(),
  /** UNIX seconds. */
  date_created: Type.Integer(),
});

export const getSavedSnippets = defineEndpoint({
  operationId: "get-saved-snippets",
  method: "GET",
  path: "/saved_snippets",
  authentication: "user",
  effectiveness: "read",
  summary: "The caller's saved snippets, oldest first.",
  params: {},
  ok: { saved_snippets: Type.Array(SavedSnippet) },
  errors: [],
});

export const createSavedSnippet = defineEndpoint({
  operationId: "create-saved-snippet",
  method: "POST",
  path: "/saved_snippets",
  authentication: "user",
  effectiveness: "durable",
  summary: "Saves a snippet (spec 4.19).",
  params: { content: Type.String(), title: Type.String() },
  ok: { saved_snippet_id: Id },
  errors: [],
});

export const editSavedSnippet = defineEndpoint({
  operationId: "edit-saved-snippet",
  method: "PATCH",
  path: "/saved_snippets/{saved_snippet_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Changes the title or the content of a snippet.",
  params: {
    saved_snippet_id: Id,
    content: Type.Optional(Type.String()),
    title: Type.Optional(Type.String()),
  },
  ok: {},
  errors: ["NOT_FOUND"],
});

export const deleteSavedSnippet = defineEndpoint({
  operationId: "delete-saved-snippet",
  method: "DELETE",
  path: "/saved_snippets/{saved_snippet_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Deletes a snippet.",
  params: { saved_snippet_id: Id },
  ok: {},
  errors: ["NOT_FOUND"],
});
