/** Drafts: unsent messages, synchronized between a user's devices (public API: drafts; spec 2.3). */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import { sentAsStored } from "./event.ts";
import type { UserId } from "./ids.ts";
import { commonLimits } from "./limits/common.ts";
import { OtherId, OtherIds, OtherText, UserIds } from "./person-marks.ts";
import { Id, nullable } from "./types.ts";

const limits = {
  drafts_per_user_max: 1000,
  /** The end of the year 9999. */
  draft_timestamp_s_max: 253_402_300_799,
} as const;

/** Wire values; "": a draft without a recipient. */
export const draftTypes = ["", "private", "stream"] as const;

/** A draft as sent by clients. Content and topic that are too long are truncated, as in messages. */
export const NewDraft = Type.Object(
  {
    type: Type.Enum([...draftTypes]),
    to: Type.Array(Id, { maxItems: commonLimits.direct_recipients_max }),
    topic: Type.String(),
    content: Type.String(),
    /** UNIX seconds; null or absent: now. */
    timestamp: Type.Optional(nullable(Type.Number({ maximum: limits.draft_timestamp_s_max }))),
  },
  { additionalProperties: false },
);

export const Draft = Type.Object(
  {
    id: OtherId,
    type: Type.Enum(["", "stream", "private"]),
    /** Users, or a channel. */
    to: UserIds,
    topic: OtherText,
    content: OtherText,
    timestamp: Type.Integer(),
  },
  { title: "Draft" },
);

export const getDrafts = defineEndpoint({
  operationId: "get-drafts",
  method: "GET",
  path: "/drafts",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the caller's drafts, most recently edited first.",
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
  summary: "Stores drafts; the ids are in the order of the request.",
  params: { drafts: Type.Array(NewDraft, { default: [], maxItems: limits.drafts_per_user_max }) },
  ok: { ids: OtherIds },
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

export interface DraftRecord {
  readonly id: number;
  readonly userId: UserId;
  /** "", "channel" or "direct". */
  readonly type: "" | "channel" | "direct";
  readonly to: readonly number[];
  readonly topic: string;
  readonly content: string;
  /** Time of the client's last change. */
  readonly changedAt: number;
}

/** A draft whose texts are already checked for length. */
export interface DraftContent {
  /** "": the draft has no recipient yet. */
  readonly type: "" | "channel" | "direct";
  /** One channel id, or distinct user ids. */
  readonly to: readonly number[];
  readonly topic: string;
  readonly content: string;
  /** Milliseconds; null: the turn's time. */
  readonly changedAt: number | null;
}

/** Parameters of its commands, by type. */
export interface DraftsCommands {
  "drafts.remove": { readonly id: number };
  "drafts.add": { readonly drafts: readonly DraftContent[] };
  "drafts.update": { readonly id: number; readonly draft: DraftContent };
}

/** Their replies, by type; other commands reply without fields. */
export interface DraftsReplies {
  readonly "drafts.add": ResultOf<typeof createDrafts>;
}

export const draftsArea = defineArea({
  endpoints: [getDrafts, createDrafts, editDraft, deleteDraft],
  commands: defineCommands<DraftsCommands, DraftsReplies>(),
  state: { drafts: { drafts: Type.Array(Draft) } },
  tables: {
    drafts: defineTable<readonly [userId: UserId, id: number], DraftRecord>({
      fields: ["id", "userId", "type", "to", "topic", "content", "changedAt"],
      dates: ["changedAt"],
    }),
  },
  events: {
    drafts: sentAsStored({
      add: { drafts: Type.Array(Draft) },
      update: { draft: Draft },
      remove: { draft_id: OtherId },
    }),
  },
  counters: ["draft"],
  limits,
});
