/**
 * Who may invite whom, where to, and what an invitation gives (spec 4.14; behaviour 9). The same questions are asked when an
 * invitation is made and when somebody follows it: it gives what the inviter could give at that moment, never more.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type {
  ChannelRecord,
  GroupRecord,
  InvitationRecord,
  InvitationState,
  UserRecord,
} from "../../schemas/records.ts";
import { type Role, roles } from "../../schemas/types.ts";
import { canChangeMembers, namedGroup } from "./group-permissions.ts";
import { canAddSubscribers, hasContentAccess, hasRealmPermission, isAdministrator, isGuest } from "./permissions.ts";
import type { View } from "./view.ts";

export type InvitationKind = "link" | "mail";

const permissionOf = { link: "create_multiuse_invite_group", mail: "can_invite_users_group" } as const;

/** Guests and bots invite nobody. */
export function mayInvite(view: View, user: UserRecord, kind: InvitationKind): boolean {
  if (isGuest(user) || user.botType !== null || !user.isActive) return false;
  return hasRealmPermission(view, user, permissionOf[kind]);
}

/** A user can invite only to roles equally or more restricted than their own (spec 4.14). */
export function refuseRole(user: UserRecord, role: Role): Refusal | null {
  if (role >= user.role) return null;
  return role === roles.owner ? refuse.ownerRequired() : refuse.badRequest(refuse.administratorRequired().msg);
}

/** Default channels, and those that the person may add subscribers to. */
function mayGiveChannel(view: View, user: UserRecord, channel: ChannelRecord): boolean {
  return channel.isDefault || canAddSubscribers(view, user, channel);
}

function isReachable(view: View, user: UserRecord, channel: ChannelRecord | undefined): channel is ChannelRecord {
  return channel !== undefined && !channel.isArchived && hasContentAccess(view, user, channel);
}

/** A channel that the caller may not know answers as one that is not there (D24). */
export function refuseChannels(view: View, user: UserRecord, channelIds: readonly number[]): Refusal | null {
  const channels: ChannelRecord[] = [];
  for (const id of channelIds) {
    const channel = view.channels.get(id);
    if (!isReachable(view, user, channel)) return refuse.badRequest(`Invalid channel ID ${id}. No invites were sent.`);
    channels.push(channel);
  }
  if (channels.length === 0) return null;
  const mayGiveAll = channels.every((channel) => mayGiveChannel(view, user, channel));
  return mayGiveAll && canSubscribeOthers(view, user)
    ? null
    : refuse.badRequest("You do not have permission to subscribe other users to channels.");
}

/** In all channels, or in some. */
function canSubscribeOthers(view: View, user: UserRecord): boolean {
  if (hasRealmPermission(view, user, "can_add_subscribers_group")) return true;
  for (const channel of view.channels.all()) if (canAddSubscribers(view, user, channel)) return true;
  return false;
}

/** Ids that are nobody's: whether others, not only oneself, may be added. */
const somebodyElse = [0];

export function refuseGroups(view: View, user: UserRecord, groupIds: readonly number[]): Refusal | null {
  for (const id of groupIds) {
    const group = namedGroup(view, id);
    if (group === undefined) return refuse.invalidUserGroup();
    if (!group.isActive) return refuse.badRequest("User group is deactivated.");
    if (!canChangeMembers(view, user, group, { op: "add", userIds: somebodyElse })) {
      return refuse.insufficientPermission();
    }
  }
  return null;
}

export function kindOf({ email }: InvitationRecord): InvitationKind {
  return email === "" ? "link" : "mail";
}

/** What the invitation is at this moment. The timer of its expiry may come late; without its inviter's rights it gives nothing. */
export function standing(view: View, invitation: InvitationRecord): InvitationState {
  if (invitation.state !== "valid") return invitation.state;
  if (invitation.expiresAt !== null && invitation.expiresAt <= view.now) return "expired";
  const inviter = view.users.get(invitation.inviterId);
  const stands =
    inviter !== undefined &&
    mayInvite(view, inviter, kindOf(invitation)) &&
    refuseRole(inviter, invitation.role) === null;
  return stands ? "valid" : "revoked";
}

/** The channels and groups that somebody who follows the invitation joins now, beside the default channels. */
export function givenPlaces(view: View, invitation: InvitationRecord) {
  const inviter = view.users.get(invitation.inviterId);
  const channels: ChannelRecord[] = [];
  const groups: GroupRecord[] = [];
  if (inviter === undefined) return { channels, groups };
  for (const id of invitation.channelIds) {
    const channel = view.channels.get(id);
    if (isReachable(view, inviter, channel) && mayGiveChannel(view, inviter, channel)) channels.push(channel);
  }
  for (const id of invitation.groupIds) {
    const group = namedGroup(view, id);
    if (group !== undefined && refuseGroups(view, inviter, [id]) === null) groups.push(group);
  }
  return { channels, groups };
}

/** One's own, and for administrators everybody's; those of owners are the owners' alone: their links make owners. */
export function mayManageInvitation(caller: UserRecord, invitation: InvitationRecord): boolean {
  if (invitation.role === roles.owner && caller.role !== roles.owner) return false;
  return invitation.inviterId === caller.id || isAdministrator(caller);
}

/** Those that lead somewhere, oldest first. */
export function validInvitations(view: View): InvitationRecord[] {
  return view
    .rows("invitations", { limit: limits.invitations_per_realm_max })
    .map(({ row }) => row)
    .filter(({ state, expiresAt }) => state === "valid" && (expiresAt === null || expiresAt > view.now));
}

/** Ids of the invitations, ended ones too, of an address. */
export function invitationsOfAddress(view: View, email: string): number[] {
  const key = fold(email);
  const range = { start: [key], end: [key, Number.MAX_SAFE_INTEGER], limit: limits.invitations_per_realm_max };
  return view.keys("invitationAddresses", range).map(([, id]) => id);
}
