/**
 * PATCH /users/{user_id} and /users/{email} (spec 4.8; behaviour 2.8): role, name, profile, address, in this order. The
 * first refusal rejects the whole request. Administrators may change all users, owners of bots their bots.
 */

import { refuseSharedName } from "../../domain/own-account.ts";
import { accountAt, canAccessUser, isReservedAddress } from "../../domain/people.ts";
import { isAdministrator } from "../../domain/permissions.ts";
import { addressFaultTexts, addressJudge } from "../../domain/realm-domains.ts";
import { checkFullName, isEmailAddress } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { type Role, roles } from "../../schemas/types.ts";
import type { UserRecord, UserTarget, UserUpdate } from "../../schemas/users.ts";
import { done, type Effect, effects, forServer, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { botUpdates } from "../rules/bot-events.ts";
import { revokeLinks } from "../rules/email-changes.ts";
import { notificationBotId } from "../rules/notification-bot.ts";
import { addressEvents } from "../rules/user-events.ts";
import { setProfileValues } from "./profile-values.ts";
import { roleEffects } from "./user-roles.ts";

interface UserRequest {
  readonly caller: UserRecord;
  /** The account after the previous steps. */
  readonly user: UserRecord;
  readonly params: UserUpdate;
}

interface Change {
  readonly user: UserRecord;
  readonly effects: readonly Effect[];
}

type Step = (view: View, request: UserRequest) => Change | Refusal;

const lastOwner = "The owner permission cannot be removed from the only organization owner.";

const steps: readonly Step[] = [changeRole, changeName, changeProfile, changeAddress];

export function updateUser(caller: UserRecord, params: Params<"user.update">, view: View): Outcome {
  const before = targetOf(view, caller, params.target);
  if (before === undefined) return refuse.noSuchUser();
  if (!mayManage(caller, before)) return refuse.insufficientPermission();
  let user = before;
  const all: Effect[] = [];
  for (const step of steps) {
    const change = step(view, { caller, user, params });
    if (isRefusal(change)) return change;
    user = change.user;
    all.push(...change.effects);
  }
  return done({}, user === before ? all : [effects.put("users", user.id, user), ...all]);
}

/** Includes deactivated users and bots; the notification bot cannot be changed. */
function targetOf(view: View, caller: UserRecord, target: UserTarget): UserRecord | undefined {
  const user = "id" in target ? view.users.get(target.id) : accountAt(view, caller, target.address, target.host);
  if (user === undefined || user.id === notificationBotId) return undefined;
  // A caller who may not see a user must not learn whether an address belongs to them (S1).
  return "id" in target || canAccessUser(view, caller, user) ? user : undefined;
}

/** Administrators, and the owner of a bot (behaviour 2.8). */
export function mayManage(caller: UserRecord, user: UserRecord): boolean {
  return isAdministrator(caller) || (user.botType !== null && user.botOwnerId === caller.id);
}

function unchanged({ user }: UserRequest): Change {
  return { user, effects: [] };
}

function changeRole(view: View, request: UserRequest): Change | Refusal {
  const { caller, user, params } = request;
  if (params.role === null) return unchanged(request);
  const role = asRole(params.role);
  if (role === null) return refuse.badRequest("Guests cannot be organization administrators");
  if (role === user.role) return unchanged(request);
  const concernsOwners = role === roles.owner || user.role === roles.owner;
  if (concernsOwners && caller.role !== roles.owner) return refuse.ownerRequired();
  if (!isAdministrator(caller)) return refuse.administratorRequired();
  if (isLastOwner(view, user)) {
    return refuse.badRequest(lastOwner);
  }
  const after = { ...user, role };
  return { user: after, effects: roleEffects(view, user, after) };
}

function asRole(value: number): Role | null {
  return Object.values(roles).find((role) => role === value) ?? null;
}

/** Whether the user is the only active human user with the owner role. */
export function isLastOwner(view: View, user: UserRecord): boolean {
  return user.role === roles.owner && user.isActive && user.botType === null && view.users.activeOwners === 1;
}

function changeName(view: View, request: UserRequest): Change | Refusal {
  const { user, params } = request;
  const fullName = params.fullName?.trim() ?? "";
  if (fullName === "" || fullName === user.fullName) return unchanged(request);
  const badName = checkFullName(fullName, limits.full_name_code_points_max);
  if (badName !== null) return badName;
  const shared = user.botType === null ? refuseSharedName(view, fullName, user.id) : null;
  if (shared !== null) return shared;
  const person = { user_id: user.id, full_name: fullName };
  const event = effects.emit("realm_user", { op: "update", person }, { to: "realm" });
  return { user: { ...user, fullName }, effects: [event, ...botUpdates(view, user, ["full_name"])] };
}

/** Validated like changes of one's own profile, with the caller's permissions. Bots have no profile. */
function changeProfile(view: View, request: UserRequest): Change | Refusal {
  const { caller, user, params } = request;
  if (params.profileData.length === 0) return unchanged(request);
  if (user.botType !== null) return refuse.badRequest("Bots have no custom profile fields");
  const changed = setProfileValues(view, user, params.profileData, caller);
  return isRefusal(changed) ? changed : { user, effects: changed.effects };
}

/**
 * Takes effect immediately without confirmation, because only trusted owners have this permission (spec 4.8, D7).
 * Pending confirmation links of the account are revoked, so that they cannot undo the change.
 */
function changeAddress(view: View, request: UserRequest): Change | Refusal {
  const { caller, user, params } = request;
  const email = params.newEmail?.trim() ?? null;
  if (email === null || email === user.email) return unchanged(request);
  if (!caller.canChangeUserEmails || caller.role !== roles.owner) {
    return refuse.badRequest("User not authorized to change user emails");
  }
  if (!isEmailAddress(email, limits.email_code_points_max)) return refuse.badRequest("Invalid new email address.");
  const holder = view.users.byEmail(email);
  if (isReservedAddress(email) || (holder !== undefined && holder.id !== user.id)) {
    return refuse.badRequest("New email value error: Email is already in use.");
  }
  const fault = addressJudge(view)(email);
  if (fault !== null) return refuse.badRequest(`New email value error: ${addressFaultTexts[fault]}`);
  const after = { ...user, email };
  const events = [...addressEvents(user, after), ...botUpdates(view, after, ["email", "avatar_url"])];
  return { user: after, effects: [...revokeLinks(view, user.id), ...events] };
}

/** `cli grant-can-change-user-emails` (D7): only the server itself may send this. */
export function grantEmailChanges({ email, isGranted }: Params<"user.grant-email-changes">, view: View): Outcome {
  const user = view.users.byEmail(email);
  if (user === undefined || user.botType !== null) return refuse.noSuchUser();
  if (user.canChangeUserEmails === isGranted) return done({}, []);
  return done({}, [effects.put("users", user.id, { ...user, canChangeUserEmails: isGranted })]);
}

/** `cli set-role`: only the server itself may send this. */
export function setRole({ userId, role }: Params<"user.set-role">, view: View): Outcome {
  const user = view.users.get(userId);
  if (user === undefined || user.id === notificationBotId) return refuse.noSuchUser();
  if (user.role === role) return done({}, []);
  if (isLastOwner(view, user)) return refuse.badRequest(lastOwner);
  const after = { ...user, role };
  return done({}, [effects.put("users", user.id, after), ...roleEffects(view, user, after)]);
}

export const userUpdatesDecisions = {
  "user.set-role": forServer(setRole),
  "user.update": forUser(updateUser),
  "user.grant-email-changes": forServer(grantEmailChanges),
} as const;
