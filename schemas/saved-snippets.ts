/** Saved snippets: texts that a user inserts repeatedly (spec 2.10, 4.19; public API). */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import { sentAsStored } from "./event.ts";
import type { UserId } from "./ids.ts";
import { OtherId, OtherText } from "./person-marks.ts";
import { Id } from "./types.ts";

const limits = {
  saved_snippet_title_code_points_max: 60,
  saved_snippets_per_user_max: 1000,
} as const;

export const SavedSnippet = Type.Object(
  {
    id: OtherId,
    title: OtherText,
    content: OtherText,
    /** UNIX seconds. */
    date_created: Type.Integer(),
  },
  { title: "SavedSnippet" },
);

export const getSavedSnippets = defineEndpoint({
  operationId: "get-saved-snippets",
  method: "GET",
  path: "/saved_snippets",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the caller's saved snippets, oldest first.",
  params: {},
  ok: { saved_snippets: Type.Array(SavedSnippet, { description: "The saved snippets." }) },
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
  ok: { saved_snippet_id: OtherId },
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

export interface SavedSnippetRecord {
  readonly id: number;
  readonly userId: UserId;
  readonly title: string;
  readonly content: string;
  readonly createdAt: number;
}

/** A saved snippet as sent to clients, in answers, state and events. */
export function savedSnippetBody({ id, title, content, createdAt }: SavedSnippetRecord) {
  return { id, title, content, date_created: Math.floor(createdAt / 1000) };
}

/** Parameters of its commands, by type. */
export interface SavedSnippetsCommands {
  "saved-snippets.add": { readonly title: string; readonly content: string };
  /** null: not passed, keeps its value. */
  "saved-snippets.update": { readonly id: number; readonly title: string | null; readonly content: string | null };
  "saved-snippets.remove": { readonly id: number };
}

/** Their replies, by type; other commands reply without fields. */
export interface SavedSnippetsReplies {
  readonly "saved-snippets.add": ResultOf<typeof createSavedSnippet>;
}

export const savedSnippetsArea = defineArea({
  endpoints: [getSavedSnippets, createSavedSnippet, editSavedSnippet, deleteSavedSnippet],
  commands: defineCommands<SavedSnippetsCommands, SavedSnippetsReplies>(),
  state: { saved_snippets: { saved_snippets: Type.Array(SavedSnippet, { description: "The saved snippets." }) } },
  tables: {
    savedSnippets: defineTable<readonly [userId: UserId, id: number], SavedSnippetRecord>({
      fields: ["id", "userId", "title", "content", "createdAt"],
      dates: ["createdAt"],
    }),
  },
  events: {
    saved_snippets: sentAsStored({
      add: { saved_snippet: SavedSnippet },
      update: { saved_snippet: SavedSnippet },
      remove: { saved_snippet_id: OtherId },
    }),
  },
  counters: ["savedSnippet"],
  limits,
});
