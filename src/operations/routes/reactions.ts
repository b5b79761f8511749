/** Emoji reactions (public API: add-reaction, remove-reaction). */
import { command } from "../../../actors/protocol/decision.ts";
import { addReaction, removeReaction } from "../../../schemas/reactions.ts";
import { bind, requireCaller } from "../calls.ts";

export const reactionRoutes = [
  bind(addReaction, (call) => {
    const { message_id: id, emoji_name: name, emoji_code: code, reaction_type: reactionType } = call.params;
    const emoji = { name, code: code ?? null, reactionType: reactionType ?? null };
    return call.realm.dispatcher.ask(
      command({ actor: "message", id }, "reaction.add", emoji, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(removeReaction, (call) => {
    const { message_id: id, emoji_name: name, emoji_code: code, reaction_type: reactionType } = call.params;
    const emoji = { name: name ?? null, code: code ?? null, reactionType: reactionType ?? null };
    return call.realm.dispatcher.ask(
      command({ actor: "message", id }, "reaction.remove", emoji, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];
