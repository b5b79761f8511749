/** New accounts (public API: create-user): addresses are unique. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, GroupRecord, UserRecord } from "../../schemas/records.ts";
import { reactionTypes } from "../../schemas/status.ts";
import { userSettings } from "../../schemas/user-settings.ts";
import { invitationsOfAddress } from "../../src/domain/invites.ts";
import { refuseSharedName } from "../../src/domain/own-account.ts";
import { isReservedAddress } from "../../src/domain/people.ts";
import { isAdministrator } from "../../src/domain/permissions.ts";
import { addressFaultTexts, addressJudge } from "../../src/domain/realm-domains.ts";
import { realmSetting } from "../../src/domain/realm-settings.ts";
import { statusBody } from "../../src/domain/status.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { defaultChannelsFor, newcomerEffects } from "./default-channels.ts";
import { newUser } from "./founding.ts";
import { membersEvent } from "./group-events.ts";
import { botDirectMessage } from "./notification-bot.ts";
import { joinedGroupEvents } from "./user-groups.ts";
import { waitingEffects } from "./waiting-period.ts";

/** POST /users, and `cli create-user` (where the caller is the server itself). */
export function createUser(_context: unknown, asked: Command<"user.create">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller !== null && !isAdministrator(caller)) return refuse.administratorRequired();
  // The command line makes whom its operator wants.
  const fault = caller === null ? null : refuseAddress(view, asked.params.email);
  if (fault !== null) return fault;
  const more = { joinsDefaults: true, channels: [], groups: [], welcomeText: null, invitationId: null };
  const account = newAccount(view, { ...asked.params, ...more });
  return "kind" in account ? account : done({ user_id: account.user.id }, account.effects);
}

/** An organization may restrict where addresses are (public API: emails_restricted_to_domains). */
export function refuseAddress(view: View, email: string): Refusal | null {
  const fault = addressJudge(view)(email);
  if (fault === null) return null;
  return refuse.badRequest(
    fault === "plus" ? addressFaultTexts.plus : `Email '${email}' not allowed in this organization`,
  );
}

interface AccountDraft {
  readonly email: string;
  readonly fullName: string;
  readonly passwordHash: string;
  readonly role: UserRecord["role"];
  readonly joinsDefaults: boolean;
  /** Beside the default ones. */
  readonly channels: readonly ChannelRecord[];
  readonly groups: readonly GroupRecord[];
  /** null: the organization's; "": none. */
  readonly welcomeText: string | null;
  /** The one that it comes from; others of the same address end. null: none. */
  readonly invitationId: number | null;
}

/** An account, with everything that begins with it: the one way in, for whoever comes. */
export function newAccount(
  view: View,
  draft: AccountDraft,
): { readonly user: UserRecord; readonly effects: readonly Effect[] } | Refusal {
  if (view.users.byEmail(draft.email) !== undefined || isReservedAddress(draft.email)) {
    return refuse.badRequest("Email is already in use.");
  }
  const shared = refuseSharedName(view, draft.fullName, null);
  if (shared !== null) return shared;
  if (view.users.size >= limits.users_per_realm_max) return refuse.badRequest("Too many users");
  const { email, fullName, role } = draft;
  const user = {
    ...newUser({ id: view.counter("user") + 1, email, fullName, role, now: view.now }),
    settings: firstSettings(view),
  };
  const defaults = draft.joinsDefaults ? defaultChannelsFor(view, user) : [];
  const channels = new Map([...defaults, ...draft.channels].map((channel) => [channel.id, channel]));
  const joining = newcomerEffects(view, user, [...channels.values()]);
  // Not empty where the organization's default shares no presence: the state of /register says so, too.
  const status = statusBody(user, undefined, reactionTypes.extra);
  const all = [
    effects.count("user", user.id),
    effects.put("users", user.id, user),
    effects.put("credentials", user.id, { userId: user.id, passwordHash: draft.passwordHash }),
    ...joining.rows,
    ...draft.groups.map((group) => effects.put("groupMembers", [group.id, user.id], {})),
    effects.emit("realm_user", { op: "add", user_id: user.id }, { to: "realm" }),
    ...(Object.keys(status).length === 0
      ? []
      : [effects.emit("user_status", { user_id: user.id, ...status }, { to: "realm" })]),
    ...joinedGroupEvents(view, user),
    ...draft.groups.flatMap((group) => membersEvent(group, "add_members", [user.id])),
    ...waitingEffects(view, user),
    ...joining.events,
    ...welcome(view, user, draft.welcomeText),
    ...endedInvitations(view, user, draft.invitationId),
  ];
  return { user, effects: all };
}

/** What new people are greeted with, where there is anything to say. */
function welcome(view: View, user: UserRecord, text: string | null): Effect[] {
  const content = text ?? realmSetting(view, "welcome_message_custom_text");
  return content.trim() === "" ? [] : [effects.tell(botDirectMessage(user.id, content))];
}

/** Whoever has an account is invited no more. */
function endedInvitations(view: View, user: UserRecord, exceptId: number | null): Effect[] {
  return invitationsOfAddress(view, user.email)
    .filter((id) => id !== exceptId)
    .map((id) => effects.tell(command({ actor: "invitation", id }, "invitation.revoke", { isLink: false }, null)));
}

/** What the organization wants new people to start with; its language is theirs. */
function firstSettings(view: View): UserRecord["settings"] {
  const language = realmSetting(view, "default_language");
  const own = language === userSettings.default_language.default ? {} : { default_language: language };
  return { ...view.realm.userDefaults, ...own };
}
