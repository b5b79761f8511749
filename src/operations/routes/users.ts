/** Accounts (spec 2.6, 4.8, 4.15, 4.20; public API: create-user, get-own-user, get-user, deactivate-own-user). */
import { type CommandParams, type CommandType, command } from "../../../actors/protocol/decision.ts";
import { accountAt, canAccessUser, userBody } from "../../../domain/people.ts";
import { checkFullName, codePoints, isEmailAddress } from "../../../domain/text.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { roles } from "../../../schemas/types.ts";
import {
  createUser,
  deactivateOwnUser,
  deactivateUser,
  getOwnUser,
  getUser,
  getUserByEmail,
  getUsers,
  type ProfileDatum,
  reactivateUser,
  type UserRecord,
  type UserTarget,
  updateUser,
  updateUserByEmail,
} from "../../../schemas/users.ts";
import { encodedUsers } from "../../queries/encoded-users.ts";
import { newestReceived } from "../../queries/messages.ts";
import { profileData } from "../../queries/profile-data.ts";
import { checkSpectator, knownMembers, type MemberOptions, memberBody, membersWithIds } from "../../queries/users.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, hostOf, requireCaller } from "../calls.ts";
import type { Passwords } from "../identity/passwords.ts";
import { readProfileData } from "./profile-fields.ts";

export function userRoutes(passwords: Passwords) {
  return [
    bind(createUser, async (call) => {
      const caller = requireCaller(call);
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
        call.idempotencyKey,
      );
    }),

    bind(getOwnUser, (call) => {
      const caller = requireCaller(call);
      return ok({
        ...userBody(caller, caller, false),
        max_message_id: newestReceived(call.realm.view, caller, call.realm.view.newestDurableMessage),
        profile_data: profileData(call.realm.view, caller),
      });
    }),

    bind(getUsers, listUsers),

    bind(getUser, (call) =>
      giveUser(call, call.realm.view.users.get(call.params.user_id), refuse.insufficientPermission()),
    ),

    bind(getUserByEmail, (call) => {
      const named = accountAt(call.realm.view, requireCaller(call), call.params.email, hostOf(call));
      // Whether an address has an account is hidden from callers who may not see its user (S1).
      return giveUser(call, named, refuse.noSuchUser());
    }),

    bind(updateUser, (call) => change(call, { id: call.params.user_id })),

    bind(updateUserByEmail, (call) => change(call, { address: call.params.email, host: hostOf(call) })),

    bind(deactivateUser, (call) => {
      const { user_id: userId, deactivation_notification_comment: comment = null } = call.params;
      return askRealm(call, "user.deactivate", { userId, comment: comment?.trim() ?? null });
    }),

    bind(deactivateOwnUser, (call) => askRealm(call, "user.deactivate-self", {})),

    bind(reactivateUser, (call) => askRealm(call, "user.reactivate", { userId: call.params.user_id })),
  ];
}

/**
 * The full list is sent from cached bytes; a caller who may see only some users, or asks for some, gets a list built
 * for them.
 */
function listUsers({ realm, caller, params }: Call<ParamsOf<typeof getUsers>>) {
  const { view } = realm;
  const refused = checkSpectator(view, caller);
  if (refused !== null) return refused;
  const options = optionsOf(params);
  const some =
    params.user_ids === undefined
      ? caller && knownMembers(view, caller, options)
      : membersWithIds(view, caller, params.user_ids, options);
  if (some !== null) return ok({ members: some });
  const { body, name } = encodedUsers(view, caller, options);
  return { kind: "whole" as const, body, etag: `"${realm.epoch}.${view.counter("boot")}.${name}"` };
}

interface OneUserParams {
  readonly client_gravatar: boolean;
  readonly include_custom_profile_fields: boolean;
}

function optionsOf(params: OneUserParams): MemberOptions {
  return { clientGravatar: params.client_gravatar, includesProfile: params.include_custom_profile_fields };
}

/** @param hidden the answer about a user that the caller may not see */
function giveUser(call: Call<OneUserParams>, user: UserRecord | undefined, hidden: Refusal) {
  const caller = requireCaller(call);
  const { view } = call.realm;
  if (user === undefined) return refuse.noSuchUser();
  if (!canAccessUser(view, caller, user)) return hidden;
  return ok({ user: memberBody(view, user, caller, optionsOf(call.params)) });
}

interface ChangeParams {
  readonly full_name?: string | undefined;
  readonly role?: number | undefined;
  readonly profile_data?: readonly ProfileDatum[] | undefined;
  readonly new_email?: string | undefined;
}

function change(call: Call<ChangeParams>, target: UserTarget) {
  const { params } = call;
  return askRealm(call, "user.update", {
    target,
    fullName: params.full_name ?? null,
    role: params.role ?? null,
    profileData: readProfileData(params.profile_data ?? []),
    newEmail: params.new_email ?? null,
  });
}

function askRealm<T extends CommandType>(call: Call, type: T, params: CommandParams[T]) {
  return call.realm.dispatcher.ask(
    command({ actor: "realm" }, type, params, requireCaller(call).id),
    call.idempotencyKey,
  );
}
