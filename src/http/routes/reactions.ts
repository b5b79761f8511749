/** Emoji reactions (public API: add-reaction, remove-reaction). */
import { command } from "../../../actors/commands.ts";
import { addReaction, removeReaction } from "../../../schemas/reactions.ts";
import { bind, callerOf } from "../../runtime/calls.ts";

export const reactionRoutes = [
  bind(addReaction, (call) => {
    const { message_id: id, emoji_name: name, emoji_code: code, reaction_type: reactionType } = call.params;
    const emoji = { name, code: code ?? null, reactionType: reactionType ?? null };
    return call.realm.dispatcher.ask(
      command({ actor: "message", id }, "reaction.add", emoji, callerOf(call).id),
      call.claim,
    );
  }),

  bind(removeReaction, (call) => {
    const { message_id: id, emoji_name: name, emoji_code: code, reaction_type: reactionType } = call.params;
    const emoji = { name: name ?? null, code: code ?? null, reactionType: reactionType ?? null };
    return call.realm.dispatcher.ask(
      command({ actor: "message", id }, "reaction.remove", emoji, callerOf(call).id),
      call.claim,
    );
  }),
];
