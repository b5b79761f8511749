/** Drafts: messages that are not sent yet, kept for a person's other devices (public API: drafts; spec 2.3). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Id, nullable } from "./types.ts";

/** On the wire; "" is a draft without an address. */
export const draftTypes = ["", "private", "stream"] as const;

/** As clients send it. Content and topic that are too long are cut, as in messages. */
export const NewDraft = Type.Object(
  {
    type: Type.Enum([...draftTypes]),
    to: Type.Array(Id, { maxItems: limits.direct_recipients_max }),
    topic: Type.String(),
    content: Type.String(),
    /** UNIX seconds; null or absent: now. */
    timestamp: Type.Optional(nullable(Type.Number({ maximum: limits.draft_timestamp_s_max }))),
  },
  { additionalProperties: false },
);

export const Draft = Type.Object({
  id: Id,
  type: Type.String(),
  to: Type.Array(Id),
  topic: Type.String(),
  content: Type.String(),
  timestamp: Type.Integer(),
});

export const getDrafts = defineEndpoint({
  operationId: "get-drafts",
  method: "GET",
  path: "/drafts",
  authentication: "user",
  effectiveness: "read",
  summary: "The caller's drafts, the last edited first.",
  params: {},
  ok: { count: Type.Integer(), drafts: Type.Array(Draft) },
  errors: [],
});

export const createDrafts = defineEndpoint({
  operationId: "create-drafts",
  method: "POST",
  path: "/drafts",
  authentication: "user",
  effectiveness: "durable",
  summary: "Keeps drafts; the ids come in the order of the request.",
  params: { drafts: Type.Array(NewDraft, { default: [], maxItems: limits.drafts_per_user_max }) },
  ok: { ids: Type.Array(Id) },
  errors: [],
});

export const editDraft = defineEndpoint({
  operationId: "edit-draft",
  method: "PATCH",
  path: "/drafts/{draft_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Replaces a draft.",
  params: { draft_id: Id, draft: NewDraft },
  ok: {},
  errors: ["NOT_FOUND"],
});

export const deleteDraft = defineEndpoint({
  operationId: "delete-draft",
  method: "DELETE",
  path: "/drafts/{draft_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Deletes a draft.",
  params: { draft_id: Id },
  ok: {},
  errors: ["NOT_FOUND"],
});
