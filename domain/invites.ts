/**
 * Rules of who may invite whom, and what an invitation grants (spec 4.14; behaviour 9). The rules are checked when an
 * invitation is created and when it is used: it grants what the inviter could grant at that moment, never more.
 */

import type { ChannelRecord } from "../schemas/channels.ts";
import { type Refusal, refuse } from "../schemas/errors.ts";
import { fold } from "../schemas/fold.ts";
import type { ChannelId, GroupId } from "../schemas/ids.ts";
import type { AddressConfirmationRecord, InvitationRecord, InvitationState } from "../schemas/invites.ts";
import { limits } from "../schemas/limits.ts";
import { type Role, roles } from "../schemas/types.ts";
import type { GroupRecord } from "../schemas/user-groups.ts";
import type { UserRecord } from "../schemas/users.ts";
import { canChangeMembers, namedGroup, refuseDeactivated } from "./group-permissions.ts";
import { canAddSubscribers, hasContentAccess, hasRealmPermission, isAdministrator, isGuest } from "./permissions.ts";
import { realmSetting } from "./realm-settings.ts";
import type { View } from "./view.ts";

export type InvitationKind = "link" | "mail";

const permissionOf = { link: "create_multiuse_invite_group", mail: "can_invite_users_group" } as const;

/** Guests and bots cannot invite anyone. */
export function mayInvite(view: View, user: UserRecord, kind: InvitationKind): boolean {
  if (isGuest(user) || user.botType !== null || !user.isActive) return false;
  return hasRealmPermission(view, user, permissionOf[kind]);
}

/** A user can invite only to roles equally or more restricted than their own (spec 4.14). */
export function refuseRole(user: UserRecord, role: Role): Refusal | null {
  if (role >= user.role) return null;
  return role === roles.owner ? refuse.ownerRequired() : refuse.badRequest(refuse.administratorRequired().msg);
}

/** Default channels, and those to which the user may add subscribers. */
function mayGiveChannel(view: View, user: UserRecord, channel: ChannelRecord): boolean {
  return channel.isDefault || canAddSubscribers(view, user, channel);
}

function isReachable(view: View, user: UserRecord, channel: ChannelRecord | undefined): channel is ChannelRecord {
  return channel !== undefined && !channel.isArchived && hasContentAccess(view, user, channel);
}

/** A channel that the caller may not know gets the same answer as one that does not exist (D24). */
export function refuseChannels(view: View, user: UserRecord, channelIds: readonly ChannelId[]): Refusal | null {
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

/** An id that no user has, to check whether others and not only oneself may be added. */
const somebodyElse = [0];

export function refuseGroups(view: View, user: UserRecord, groupIds: readonly GroupId[]): Refusal | null {
  for (const id of groupIds) {
    const group = namedGroup(view, id);
    if (group === undefined) return refuse.invalidUserGroup();
    const deactivated = refuseDeactivated(group);
    if (deactivated !== null) return deactivated;
    if (!canChangeMembers(view, user, group, { op: "add", userIds: somebodyElse })) {
      return refuse.insufficientPermission();
    }
  }
  return null;
}

export function kindOf({ email }: InvitationRecord): InvitationKind {
  return email === "" ? "link" : "mail";
}

/**
 * The current state of the invitation. Its expiry timer may be late, and if the inviter lost the permission it grants
 * nothing.
 */
export function standing(view: View, invitation: InvitationRecord): InvitationState {
  if (invitation.state !== "valid") return invitation.state;
  if (invitation.expiresAt !== null && invitation.expiresAt <= view.now) return "expired";
  const inviter = view.users.get(invitation.inviterId);
  const isStillValid =
    inviter !== undefined &&
    mayInvite(view, inviter, kindOf(invitation)) &&
    refuseRole(inviter, invitation.role) === null;
  return isStillValid ? "valid" : "revoked";
}

/** Whether a reusable link gives an account only to an address that was confirmed by email (D275). */
export function confirmsAddresses(view: View): boolean {
  return realmSetting(view, "emails_restricted_to_domains") === true;
}

/** @param keyHash of the key in an email's link. @returns undefined if it confirms no address, or not any more */
export function addressConfirmation(view: View, keyHash: string): AddressConfirmationRecord | undefined {
  const confirmation = view.row("addressConfirmations", keyHash);
  if (confirmation === undefined) return undefined;
  return view.now - confirmation.createdAt < limits.address_confirmation_ms ? confirmation : undefined;
}

/** The channels and groups that a user who accepts the invitation joins now, in addition to the default channels. */
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

/**
 * A user manages their own invitations, and administrators all. Only owners manage those for owners, because their
 * links create owners.
 */
export function mayManageInvitation(caller: UserRecord, invitation: InvitationRecord): boolean {
  if (invitation.role === roles.owner && caller.role !== roles.owner) return false;
  return invitation.inviterId === caller.id || isAdministrator(caller);
}

/** Valid invitations, oldest first. */
export function validInvitations(view: View): InvitationRecord[] {
  return view
    .rows("invitations", { limit: limits.invitations_per_realm_max })
    .map(({ row }) => row)
    .filter(({ state, expiresAt }) => state === "valid" && (expiresAt === null || expiresAt > view.now));
}

/** Ids of all invitations of an address, including ended ones. */
export function invitationsOfAddress(view: View, email: string): number[] {
  const key = fold(email);
  const range = { start: [key], end: [key, Number.MAX_SAFE_INTEGER], limit: limits.invitations_per_realm_max };
  return view.keys("invitationAddresses", range).map(([, id]) => id);
}
