/** Emoji reactions to messages (spec 2.9; public API: add-reaction, remove-reaction). */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import type { ReactionType } from "./event-values.ts";
import type { MessageId, UserId } from "./ids.ts";
import { commonLimits } from "./limits/common.ts";
import { Id } from "./types.ts";

const limits = {
  reactions_per_message_max: 1000,
} as const;

/** The actor decides which emoji exist; invalid names have their own error messages. */
const EmojiText = Type.String({ maxLength: commonLimits.emoji_name_or_code_code_points_max });

export const addReaction = defineEndpoint({
  operationId: "add-reaction",
  method: "POST",
  path: "/messages/{message_id}/reactions",
  authentication: "user",
  effectiveness: "durable",
  summary: "Adds the caller's reaction to a message.",
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
  summary: "Removes the caller's reaction from a message.",
  params: {
    message_id: Id,
    emoji_name: Type.Optional(EmojiText),
    emoji_code: Type.Optional(EmojiText),
    reaction_type: Type.Optional(EmojiText),
  },
  ok: {},
  errors: ["REACTION_DOES_NOT_EXIST"],
});

/** A user's reaction to a message. */
export interface ReactionRecord {
  readonly emojiName: string;
  readonly emojiCode: string;
  readonly reactionType: ReactionType;
  /** The realm's position at that time: reactions are shown in chronological order. */
  readonly position: number;
}

/** Identifies a reaction's emoji; null: not passed. */
export interface EmojiQuery {
  readonly name: string | null;
  readonly code: string | null;
  readonly reactionType: string | null;
}

/** Parameters of its commands, by type. */
export interface ReactionsCommands {
  "reaction.add": EmojiQuery & { readonly name: string };
  "reaction.remove": EmojiQuery;
}

export const reactionsArea = defineArea({
  endpoints: [addReaction, removeReaction],
  commands: defineCommands<ReactionsCommands>(),
  tables: {
    /** `emoji`: type and code. */
    reactions: defineTable<readonly [messageId: MessageId, userId: UserId, emoji: string], ReactionRecord>({
      fields: ["emojiName", "emojiCode", "reactionType", "position"],
    }),
  },
  limits,
});
