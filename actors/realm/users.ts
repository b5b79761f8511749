/** New accounts (public API: create-user): addresses are unique. */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { userSettings } from "../../schemas/user-settings.ts";
import { refuseSharedName } from "../../src/domain/own-account.ts";
import { isReservedAddress } from "../../src/domain/people.ts";
import { isAdministrator } from "../../src/domain/permissions.ts";
import { realmSetting } from "../../src/domain/realm-settings.ts";
import { statusBody } from "../../src/domain/status.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";
import { defaultChannelsFor, newcomerEffects } from "./default-channels.ts";
import { newUser } from "./founding.ts";
import { joinedGroupEvents } from "./user-groups.ts";
import { waitingEffects } from "./waiting-period.ts";

/** POST /users, and `cli create-user` (where the caller is the server itself). */
export function createUser(_context: unknown, command: Command<"user.create">, view: View): Outcome {
  const caller = callerOf(command, view);
  if (caller !== null && !isAdministrator(caller)) return refuse.administratorRequired();
  const { params } = command;
  if (view.users.byEmail(params.email) !== undefined || isReservedAddress(params.email)) {
    return refuse.badRequest("Email is already in use.");
  }
  const shared = refuseSharedName(view, params.fullName, null);
  if (shared !== null) return shared;
  if (view.users.size >= limits.users_per_realm_max) return refuse.badRequest("Too many users");
  const user = {
    ...newUser({
      id: view.counter("user") + 1,
      email: params.email,
      fullName: params.fullName,
      role: params.role,
      now: view.now,
    }),
    settings: firstSettings(view),
  };
  const joining = newcomerEffects(view, user, defaultChannelsFor(view, user));
  // Not empty where the organization's default shares no presence: the state of /register says so, too.
  const status = statusBody(user, undefined);
  return done({ user_id: user.id }, [
    effects.count("user", user.id),
    effects.put("users", user.id, user),
    effects.put("credentials", user.id, { userId: user.id, passwordHash: params.passwordHash }),
    ...joining.rows,
    effects.emit("realm_user", { op: "add", user_id: user.id }, { to: "realm" }),
    ...(Object.keys(status).length === 0
      ? []
      : [effects.emit("user_status", { user_id: user.id, ...status }, { to: "realm" })]),
    ...joinedGroupEvents(view, user),
    ...waitingEffects(view, user),
    ...joining.events,
  ]);
}

/** What the organization wants new people to start with; its language is theirs. */
function firstSettings(view: View): UserRecord["settings"] {
  const language = realmSetting(view, "default_language");
  const own = language === userSettings.default_language.default ? {} : { default_language: language };
  return { ...view.realm.userDefaults, ...own };
}
