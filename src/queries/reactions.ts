/** Reactions for the message object (spec 2.9), in chronological order. */

import { type ExtraType, shownType } from "../../domain/emoji/extra-type.ts";
import type { View } from "../../domain/view.ts";
import { type ReactionType, reactionTypes } from "../../schemas/event-values.ts";
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { MessageRecord } from "../../schemas/messages.ts";

export interface ReactionBody {
  readonly emoji_name: string;
  readonly emoji_code: string;
  readonly reaction_type: ReactionType | ExtraType;
  readonly user_id: number;
}

/**
 * Costs nothing if there are none, because the message's row records it.
 * @param extraType the client's name for the type of the extra emoji (D22)
 */
export function reactionBodies(view: View, message: MessageRecord, extraType: ExtraType): readonly ReactionBody[] {
  const rows = reactionRows(view, message).sort((a, b) => a.row.position - b.row.position);
  return rows.map(({ key, row }) => ({
    emoji_name: row.emojiName,
    emoji_code: row.emojiCode,
    reaction_type: shownType(row.reactionType, extraType),
    user_id: key[1],
  }));
}

/** Whether the message's reactions depend on the client. */
export function hasExtraReaction(view: View, message: MessageRecord): boolean {
  return reactionRows(view, message).some(({ row }) => row.reactionType === reactionTypes.extra);
}

function reactionRows(view: View, message: MessageRecord) {
  if (!hasTrait(message.traits, "hasReactions")) return [];
  const range = { start: [message.id], end: [message.id + 1], limit: limits.reactions_per_message_max };
  return view.rows("reactions", range);
}
