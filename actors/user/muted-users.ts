/** Muting of users (public API: mute-user, unmute-user). Bots and deactivated users can be muted, oneself cannot. */

import { type MutedUserBody, mutedUsersOf } from "../../domain/muted-users.ts";
import { canAccessUser } from "../../domain/people.ts";
import { seconds } from "../../domain/presence.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, type Effect, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { muteSender, unmuteSender } from "./read-state.ts";

export function muteUser(user: UserRecord, { userId }: Params<"muted-users.add">, view: View): Outcome {
  if (user.id === userId) return refuse.badRequest("Cannot mute self");
  const refused = checkKnown(view, user, userId);
  if (refused !== null) return refused;
  const before = mutedUsersOf(view, user.id);
  if (before.some(({ id }) => id === userId)) return refuse.badRequest("User already muted");
  if (before.length >= limits.muted_users_per_user_max) return refuse.badRequest("Too many muted users");
  const after = [...before, { id: userId, timestamp: seconds(view.now) }].sort((a, b) => a.id - b.id);
  return done({}, [
    effects.put("mutedUsers", [user.id, userId], { mutedAt: view.now }),
    eventFor(user.id, after),
    ...muteSender(view, user.id, userId),
  ]);
}

export function unmuteUser(user: UserRecord, { userId }: Params<"muted-users.remove">, view: View): Outcome {
  const refused = checkKnown(view, user, userId);
  if (refused !== null) return refused;
  const before = mutedUsersOf(view, user.id);
  if (!before.some(({ id }) => id === userId)) return refuse.badRequest("User is not muted");
  const after = before.filter(({ id }) => id !== userId);
  return done({}, [
    effects.remove("mutedUsers", [user.id, userId]),
    eventFor(user.id, after),
    ...unmuteSender(view, user.id, userId),
  ]);
}

function checkKnown(view: View, user: UserRecord, userId: UserId): Refusal | null {
  const person = view.users.get(userId);
  return person !== undefined && canAccessUser(view, user, person) ? null : refuse.noSuchUser();
}

function eventFor(userId: UserId, mutedUsers: readonly MutedUserBody[]): Effect {
  return effects.emit("muted_users", { muted_users: mutedUsers }, { to: "users", ids: [userId] });
}

export const mutedUsersDecisions = {
  "muted-users.add": forUser(muteUser),
  "muted-users.remove": forUser(unmuteUser),
} as const;
