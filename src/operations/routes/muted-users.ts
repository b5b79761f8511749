/** Muted users (public API: mute-user, unmute-user). */
import { command } from "../../../actors/protocol/decision.ts";
import { mutedUsersOf } from "../../../domain/muted-users.ts";
import { muteUser, unmuteUser } from "../../../schemas/muted-users.ts";
import type { Section } from "../../queries/state-section.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

export const mutedUsersState: Section<"muted_users"> = (view, user) => ({ muted_users: mutedUsersOf(view, user.id) });

export const mutedUserRoutes = [
  bind(muteUser, (call) => ask(call, "muted-users.add")),
  bind(unmuteUser, (call) => ask(call, "muted-users.remove")),
];

function ask(call: Call<{ readonly muted_user_id: number }>, type: "muted-users.add" | "muted-users.remove") {
  const { id } = requireCaller(call);
  const params = { userId: call.params.muted_user_id };
  return call.realm.dispatcher.ask(command({ actor: "user", id }, type, params, id), call.idempotencyKey);
}
