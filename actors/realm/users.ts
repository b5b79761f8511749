/** Accounts (spec 4.20; public API: create-user): addresses are unique, the last owner stays. */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { isAdministrator } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { deactivateBotsOf } from "./bots.ts";
import { newUser } from "./founding.ts";
import { notificationBotId } from "./notification-bot.ts";
import { newSubscription } from "./subscription-records.ts";

/** POST /users, and `cli create-user` (where the caller is the server itself). */
export function createUser(_context: unknown, command: Command<"user.create">, view: View): Outcome {
  const caller = callerOf(command, view);
  if (caller !== null && !isAdministrator(caller)) return refuse.administratorRequired();
  const { params } = command;
  if (view.users.byEmail(params.email) !== undefined) return refuse.badRequest("Email is already in use.");
  if (view.users.size >= limits.users_per_realm_max) return refuse.badRequest("Too many users");
  const user = newUser({
    id: view.counter("user") + 1,
    email: params.email,
    fullName: params.fullName,
    role: params.role,
    now: view.now,
  });
  const defaults = [...view.channels.all()].filter((channel) => channel.isDefault && !channel.isArchived);
  const isGuest = user.role === roles.guest;
  const joined = isGuest ? [] : defaults;
  return done({ user_id: user.id }, [
    effects.count("user", user.id),
    effects.put("users", user.id, user),
    effects.put("credentials", user.id, { userId: user.id, passwordHash: params.passwordHash }),
    ...joined.map((channel) =>
      effects.put("subscriptions", [user.id, channel.id], newSubscription(view, user.id, channel.id, null)),
    ),
    effects.emit("realm_user", { op: "add", user_id: user.id }, { to: "realm" }),
    ...joined.map((channel) =>
      effects.emit(
        "subscription",
        { op: "peer_add", stream_ids: [channel.id], user_ids: [user.id] },
        { to: "channel-watchers", id: channel.id, except: [user.id] },
      ),
    ),
  ]);
}

/** DELETE /users/{user_id} (spec 4.20). Keys and queues of the person end at once. */
export function deactivateUser(_context: unknown, command: Command<"user.deactivate">, view: View): Outcome {
  const caller = callerOf(command, view);
  const user = view.users.get(command.params.userId);
  if (user === undefined || user.botType !== null || user.id === notificationBotId) return refuse.noSuchUser();
  if (!user.isActive) return refuse.badRequest("User is deactivated");
  if (caller !== null && !isAdministrator(caller)) return refuse.insufficientPermission();
  if (caller !== null && user.role === roles.owner && caller.role !== roles.owner) return refuse.ownerRequired();
  if (user.role === roles.owner && view.users.activeOwners === 1) {
    return refuse.badRequest("Cannot deactivate the only organization owner");
  }
  const queues: Effect[] = [...view.queuesOf(user.id)].map((id) => effects.remove("queues", id));
  const channels = [...view.subscriptions.ofUser(user.id)].filter((own) => own.isActive).map((own) => own.channelId);
  return done({}, [
    ...deactivateBotsOf(view, user.id),
    effects.put("users", user.id, { ...user, isActive: false }),
    ...queues,
    ...channels.map((id) =>
      effects.emit(
        "subscription",
        { op: "peer_remove", stream_ids: [id], user_ids: [user.id] },
        { to: "channel-watchers", id, except: [user.id] },
      ),
    ),
    effects.emit("realm_user", { op: "update", person: { user_id: user.id, is_active: false } }, { to: "realm" }),
  ]);
}
