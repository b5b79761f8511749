/** Reactions as the message object has them (spec 2.9), in the order in which they came. */
import { limits } from "../../schemas/limits.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { MessageRecord } from "../../schemas/records.ts";
import type { View } from "../domain/view.ts";

export interface ReactionBody {
  readonly emoji_name: string;
  readonly emoji_code: string;
  readonly reaction_type: string;
  readonly user_id: number;
}

/** Costs nothing where there are none: the message's row says so. */
export function reactionBodies(view: View, message: MessageRecord): readonly ReactionBody[] {
  if (!hasTrait(message.traits, "hasReactions")) return [];
  const range = { start: [message.id], end: [message.id + 1], limit: limits.reactions_per_message_max };
  const rows = view.rows("reactions", range).sort((a, b) => a.row.position - b.row.position);
  return rows.map(({ key, row }) => ({
    emoji_name: row.emojiName,
    emoji_code: row.emojiCode,
    reaction_type: row.reactionType,
    user_id: key[1],
  }));
}
