/** Accounts (spec 4.15, 4.20; public API: create-user, get-own-user). */
import { command } from "../../../actors/commands.ts";
import { refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { roles } from "../../../schemas/types.ts";
import { createUser, deactivateUser, getOwnUser, getUsers } from "../../../schemas/users.ts";
import { userBody } from "../../domain/people.ts";
import { profileData } from "../../domain/profiles.ts";
import { checkFullName, codePoints, isEmailAddress } from "../../domain/text.ts";
import { newestReceived } from "../../queries/messages.ts";
import { listUsers } from "../../queries/users.ts";
import { bind, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";
import type { Passwords } from "../passwords.ts";

export function userRoutes(passwords: Passwords) {
  return [
    bind(createUser, async (call) => {
      const caller = callerOf(call);
      const { email, password, full_name: fullName } = call.params;
      const address = email.trim();
      if (!isEmailAddress(address, limits.email_code_points_max))
        return refuse.badRequest("Enter a valid email address.");
      const name = fullName.trim();
      const badName = checkFullName(name, limits.full_name_code_points_max);
      if (badName !== null) return badName;
      if (codePoints(password) < limits.password_code_points_min) return refuse.badRequest("New password is too weak!");
      const passwordHash = await passwords.hash(password);
      if (passwordHash === null) return refuse.overloaded();
      return call.realm.dispatcher.ask(
        command(
          { actor: "realm" },
          "user.create",
          { email: address, fullName: name, passwordHash, role: roles.member },
          caller.id,
        ),
        call.claim,
      );
    }),

    bind(getOwnUser, (call) => {
      const caller = callerOf(call);
      return ok({
        ...userBody(caller, caller, false),
        max_message_id: newestReceived(call.realm.view, caller),
        profile_data: profileData(call.realm.view, caller.id),
      });
    }),

    bind(getUsers, (call) => listUsers(call.realm.view, call.caller, call.params)),

    bind(deactivateUser, (call) => {
      const to = { actor: "realm" } as const;
      const asked = command(to, "user.deactivate", { userId: call.params.user_id }, callerOf(call).id);
      return call.realm.dispatcher.ask(asked, call.claim);
    }),
  ];
}
