/** Status (spec 4.11, 4.12; public API: get-user-status). */
import { command } from "../../../actors/protocol/commands.ts";
import { extraTypeFor } from "../../../domain/emoji/extra-type.ts";
import { getUserStatus, type StatusChange, updateStatus, updateStatusForUser } from "../../../schemas/status.ts";
import { readStatus } from "../../queries/status.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

export const statusRoutes = [
  bind(updateStatus, (call) => {
    const { away } = call.params;
    return ask(call, requireCaller(call).id, { ...partsOf(call.params), away: away ?? null, isOwn: true });
  }),

  bind(updateStatusForUser, (call) => {
    return ask(call, call.params.user_id, { ...partsOf(call.params), away: null, isOwn: false });
  }),

  bind(getUserStatus, (call) => {
    return readStatus(call.realm.view, requireCaller(call), call.params.user_id, extraTypeFor(call.client));
  }),
];

interface StatusParams {
  readonly status_text?: string | undefined;
  readonly emoji_name?: string | undefined;
  readonly emoji_code?: string | undefined;
  readonly reaction_type?: string | undefined;
}

function partsOf(params: StatusParams) {
  return {
    text: params.status_text ?? null,
    emojiName: params.emoji_name ?? null,
    emojiCode: params.emoji_code ?? null,
    reactionType: params.reaction_type ?? null,
  };
}

function ask(call: Call, userId: number, change: StatusChange) {
  const asked = command({ actor: "user", id: userId }, "status.update", change, requireCaller(call).id);
  return call.realm.dispatcher.ask(asked, call.idempotencyKey);
}
