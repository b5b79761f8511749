/** New accounts (public API: create-user). Email addresses are unique. */

import { invitationsOfAddress } from "../../domain/invites.ts";
import { refuseSharedName } from "../../domain/own-account.ts";
import { isReservedAddress } from "../../domain/people.ts";
import { isAdministrator } from "../../domain/permissions.ts";
import { addressFaultTexts, addressJudge } from "../../domain/realm-domains.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import { statusBody } from "../../domain/status.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelRecord } from "../../schemas/channels.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import { reactionTypes } from "../../schemas/event-values.ts";
import { limits } from "../../schemas/limits.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import { userSettings } from "../../schemas/user-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { command, done, type Effect, effects, forEither, type Outcome, type Params } from "../protocol/decision.ts";
import { botDirectMessage } from "../rules/notification-bot.ts";
import { defaultChannelsFor, newUserEffects } from "./default-channels.ts";
import { membersEvent } from "./group-events.ts";
import { newUser } from "./realm-creation.ts";
import { joinedGroupEvents } from "./user-groups.ts";
import { waitingEffects } from "./waiting-period.ts";

/** POST /users, and `cli create-user`, where the server itself is the caller. */
export function createUser(caller: UserRecord | null, params: Params<"user.create">, view: View): Outcome {
  if (caller !== null && !isAdministrator(caller)) return refuse.administratorRequired();
  // The organization's restrictions on addresses do not apply to the command line.
  const fault = caller === null ? null : refuseAddress(view, params.email);
  if (fault !== null) return fault;
  const more = { joinsDefaults: true, channels: [], groups: [], welcomeText: null, invitationId: null };
  const account = newAccount(view, { ...params, ...more });
  return isRefusal(account) ? account : done({ user_id: account.user.id }, account.effects);
}

/** An organization may restrict the domains of email addresses (public API: emails_restricted_to_domains). */
export function refuseAddress(view: View, email: string): Refusal | null {
  const fault = addressJudge(view)(email);
  if (fault === null) return null;
  return refuse.badRequest(
    fault === "plus" ? addressFaultTexts.plus : `Email '${email}' not allowed in this organization`,
  );
}

interface AccountInput {
  readonly email: string;
  readonly fullName: string;
  readonly passwordHash: string;
  readonly role: UserRecord["role"];
  readonly joinsDefaults: boolean;
  /** In addition to the default channels. */
  readonly channels: readonly ChannelRecord[];
  readonly groups: readonly GroupRecord[];
  /** null: the organization's default; "": no welcome message. */
  readonly welcomeText: string | null;
  /** The invitation that is accepted; other invitations for the same address are revoked. null: none. */
  readonly invitationId: number | null;
}

/** Creates an account with all its initial rows and events. Every way to create an account uses this function. */
export function newAccount(
  view: View,
  input: AccountInput,
): { readonly user: UserRecord; readonly effects: readonly Effect[] } | Refusal {
  if (view.users.byEmail(input.email) !== undefined || isReservedAddress(input.email)) {
    return refuse.badRequest("Email is already in use.");
  }
  const shared = refuseSharedName(view, input.fullName, null);
  if (shared !== null) return shared;
  if (view.users.size >= limits.users_per_realm_max) return refuse.badRequest("Too many users");
  const { email, fullName, role } = input;
  const user = {
    ...newUser({ id: view.counter("user") + 1, email, fullName, role, now: view.now }),
    settings: firstSettings(view),
  };
  const defaults = input.joinsDefaults ? defaultChannelsFor(view, user) : [];
  const channels = new Map([...defaults, ...input.channels].map((channel) => [channel.id, channel]));
  const joining = newUserEffects(view, user, [...channels.values()]);
  // Not empty if the organization's default settings hide presence; the register state contains the same.
  const status = statusBody(user, undefined, reactionTypes.extra);
  const all = [
    effects.setCounter("user", user.id),
    effects.put("users", user.id, user),
    effects.put("credentials", user.id, { userId: user.id, passwordHash: input.passwordHash }),
    ...joining.rows,
    ...input.groups.map((group) => effects.put("groupMembers", [group.id, user.id], {})),
    effects.emit("realm_user", { op: "add", user_id: user.id }, { to: "realm" }),
    ...(Object.keys(status).length === 0
      ? []
      : [effects.emit("user_status", { user_id: user.id, ...status }, { to: "realm" })]),
    ...joinedGroupEvents(view, user),
    ...input.groups.flatMap((group) => membersEvent(group, "add_members", [user.id])),
    ...waitingEffects(view, user),
    ...joining.events,
    ...welcome(view, user, input.welcomeText),
    ...endedInvitations(view, user, input.invitationId),
  ];
  return { user, effects: all };
}

/** Sends the welcome message unless it is blank. */
function welcome(view: View, user: UserRecord, text: string | null): Effect[] {
  const content = text ?? realmSetting(view, "welcome_message_custom_text");
  return content.trim() === "" ? [] : [effects.send(botDirectMessage(user.id, content))];
}

/** Revokes the remaining invitations for the new account's address. */
function endedInvitations(view: View, user: UserRecord, exceptId: number | null): Effect[] {
  return invitationsOfAddress(view, user.email)
    .filter((id) => id !== exceptId)
    .map((id) => effects.send(command({ actor: "invitation", id }, "invitation.revoke", { isLink: false }, null)));
}

/** The organization's default settings for new users, and its language. */
function firstSettings(view: View): UserRecord["settings"] {
  const language = realmSetting(view, "default_language");
  const own = language === userSettings.default_language.default ? {} : { default_language: language };
  return { ...view.realm.userDefaults, ...own };
}

export const usersDecisions = {
  "user.create": forEither(createUser),
} as const;
