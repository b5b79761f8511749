/** Custom emoji of an organization (public API: upload-custom-emoji, get-custom-emoji, deactivate-custom-emoji). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Id, nullable } from "./types.ts";

/** Names are checked by the rules of domain/emoji/custom-emoji.ts, which have texts of their own. */
const EmojiName = Type.String();

export const uploadEmoji = defineEndpoint({
  operationId: "upload-custom-emoji",
  method: "POST",
  path: "/realm/emoji/{emoji_name}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Adds a custom emoji: one file in a multipart body, decoded and re-encoded.",
  upload: { bytesMax: limits.emoji_bytes_max },
  params: { emoji_name: EmojiName },
  ok: {},
  errors: [],
});

export const getEmoji = defineEndpoint({
  operationId: "get-custom-emoji",
  method: "GET",
  path: "/realm/emoji",
  authentication: "user",
  effectiveness: "read",
  summary: "All custom emoji by id, the deactivated ones too.",
  params: {},
  ok: {
    emoji: Type.Record(
      Type.String(),
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        source_url: Type.String(),
        still_url: nullable(Type.String()),
        deactivated: Type.Boolean(),
        author_id: nullable(Id),
      }),
    ),
  },
  errors: [],
});

export const deactivateEmoji = defineEndpoint({
  operationId: "deactivate-custom-emoji",
  method: "DELETE",
  path: "/realm/emoji/{emoji_name}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Deactivates a custom emoji; its author and administrators may. What was written with it keeps it.",
  params: { emoji_name: EmojiName },
  ok: {},
  errors: ["NOT_FOUND"],
});
