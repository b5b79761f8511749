/** Emoji reactions to messages (spec 2.9; public API: add-reaction, remove-reaction). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Id } from "./types.ts";

/** Which emoji there are, the actor decides: names have texts of their own. */
const EmojiText = Type.String({ maxLength: limits.emoji_name_or_code_code_points_max });

export const addReaction = defineEndpoint({
  operationId: "add-reaction",
  method: "POST",
  path: "/messages/{message_id}/reactions",
  authentication: "user",
  effectiveness: "durable",
  summary: "Adds an emoji of the caller's to a message.",
  params: {
    message_id: Id,
    emoji_name: EmojiText,
    emoji_code: Type.Optional(EmojiText),
    reaction_type: Type.Optional(EmojiText),
  },
  ok: {},
  errors: ["REACTION_ALREADY_EXISTS"],
});

export const removeReaction = defineEndpoint({
  operationId: "remove-reaction",
  method: "DELETE",
  path: "/messages/{message_id}/reactions",
  authentication: "user",
  effectiveness: "durable",
  summary: "Takes an emoji of the caller's away from a message.",
  params: {
    message_id: Id,
    emoji_name: Type.Optional(EmojiText),
    emoji_code: Type.Optional(EmojiText),
    reaction_type: Type.Optional(EmojiText),
  },
  ok: {},
  errors: ["REACTION_DOES_NOT_EXIST"],
});
