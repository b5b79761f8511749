/**
 * Who may what (spec 2.2, 2.4, 4.4; behaviour 3.5, 3.8). Pure questions about a view; every path asks the same ones.
 * Administrators do not bypass group settings unless a function here says so.
 */
import {
  allowsGuests,
  channelGroupSettings,
  type GroupSettingName,
  type RealmGroupSettingName,
  realmGroupSettings,
  type SystemGroupName,
  systemGroups,
} from "../../schemas/group-settings.ts";
import type { ChannelRecord, MessageRecord, Stay, UserRecord } from "../../schemas/records.ts";
import { roles } from "../../schemas/types.ts";
import { realmSetting } from "./realm-settings.ts";
import type { View } from "./view.ts";

export function isAdministrator(user: UserRecord): boolean {
  return user.role <= roles.administrator;
}

export function isGuest(user: UserRecord): boolean {
  return user.role === roles.guest;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Whether the person's role puts it into a system group; new members become full members after the waiting period. */
export function isInSystemGroup(view: View, user: UserRecord, name: SystemGroupName): boolean {
  if (name === "role:nobody") return false;
  if (name !== "role:fullmembers" || user.role !== roles.member) return user.role <= systemGroups[name].roleMax;
  return view.now - user.joinedAt >= waitingPeriodMs(view);
}

/** How long members are new. */
export function waitingPeriodMs(view: View): number {
  return realmSetting(view, "waiting_period_threshold") * dayMs;
}

/**
 * Membership, directly or through subgroups; deactivated people belong nowhere. What a group is made of is known
 * (`GroupsView.scope`), so the price does not depend on how deep groups are nested.
 */
export function isMember(view: View, user: UserRecord, groupId: number): boolean {
  const scope = user.isActive ? view.groups.scope(groupId) : undefined;
  if (scope === undefined) return false;
  for (const name of scope.systemNames) if (isInSystemGroup(view, user, name)) return true;
  for (const id of view.groups.ofMember(user.id)) if (scope.ids.has(id)) return true;
  return false;
}

/** The group that holds a permission in a channel: its own value, or the default of the table. */
export function channelGroupId(view: View, channel: ChannelRecord, setting: GroupSettingName): number {
  const own = channel.groups[setting];
  if (own !== undefined) return own;
  const fallback = channelGroupSettings[setting].default;
  return view.groups.system(fallback === "creator" ? "role:nobody" : fallback)?.id ?? 0;
}

export function hasChannelPermission(
  view: View,
  user: UserRecord,
  channel: ChannelRecord,
  setting: GroupSettingName,
): boolean {
  if (isGuest(user) && !allowsGuests(channelGroupSettings[setting])) return false;
  return isMember(view, user, channelGroupId(view, channel, setting));
}

export function realmGroupId(view: View, setting: RealmGroupSettingName): number {
  const own = view.realm.settings[setting];
  if (typeof own === "number") return own;
  return view.groups.system(realmGroupSettings[setting].default)?.id ?? 0;
}

export function hasRealmPermission(view: View, user: UserRecord, setting: RealmGroupSettingName): boolean {
  if (isGuest(user) && !allowsGuests(realmGroupSettings[setting])) return false;
  return isMember(view, user, realmGroupId(view, setting));
}

/** May read what is written in the channel, and subscribe. Administrators have no content access to private channels. */
export function hasContentAccess(view: View, user: UserRecord, channel: ChannelRecord): boolean {
  return view.subscriptions.isSubscribed(user.id, channel.id) || hasContentAccessUnsubscribed(view, user, channel);
}

function hasContentAccessUnsubscribed(view: View, user: UserRecord, channel: ChannelRecord): boolean {
  if (channel.isWebPublic) return true;
  if (isGuest(user)) return false;
  if (!channel.isPrivate) return true;
  return (
    hasChannelPermission(view, user, channel, "can_subscribe_group") ||
    hasChannelPermission(view, user, channel, "can_add_subscribers_group")
  );
}

/** May know the channel's name, description and subscribers. */
export function hasMetadataAccess(view: View, user: UserRecord, channel: ChannelRecord): boolean {
  return view.subscriptions.isSubscribed(user.id, channel.id) || hasMetadataAccessUnsubscribed(view, user, channel);
}

/** The same without regard to a subscription: what is left when the person leaves. */
export function hasMetadataAccessUnsubscribed(view: View, user: UserRecord, channel: ChannelRecord): boolean {
  if (hasContentAccessUnsubscribed(view, user, channel)) return true;
  if (isGuest(user)) return false;
  return isAdministrator(user) || hasChannelPermission(view, user, channel, "can_administer_channel_group");
}

export function canAdminister(view: View, user: UserRecord, channel: ChannelRecord): boolean {
  return isAdministrator(user) || hasChannelPermission(view, user, channel, "can_administer_channel_group");
}

/** May subscribe others (spec 4.4): everybody who administers the channel may, beside the two group settings. */
export function canAddSubscribers(view: View, user: UserRecord, channel: ChannelRecord): boolean {
  if (isGuest(user) || !hasMetadataAccess(view, user, channel)) return false;
  const isPublic = !channel.isPrivate;
  if (isPublic && (canAdminister(view, user, channel) || hasRealmPermission(view, user, "can_add_subscribers_group"))) {
    return true;
  }
  if (hasChannelPermission(view, user, channel, "can_add_subscribers_group")) return true;
  // A private channel's content is opened only by somebody who can read it (D18).
  return (
    channel.isPrivate &&
    hasContentAccess(view, user, channel) &&
    (canAdminister(view, user, channel) || hasRealmPermission(view, user, "can_add_subscribers_group"))
  );
}

export function canRemoveSubscribers(view: View, user: UserRecord, channel: ChannelRecord): boolean {
  if (canAdminister(view, user, channel)) return true;
  return (
    hasMetadataAccess(view, user, channel) && hasChannelPermission(view, user, channel, "can_remove_subscribers_group")
  );
}

/** A guest may see everybody unless the organization restricts it (`can_access_all_users_group`). */
export function canAccessAllUsers(view: View, user: UserRecord): boolean {
  return !isGuest(user) || hasRealmPermission(view, user, "can_access_all_users_group");
}

/** Whether a message id lies inside one of the person's stays in the channel. */
export function hasReceived(stays: readonly Stay[], messageId: number): boolean {
  return stays.some((stay) => stay.joinedAfterId < messageId && (stay.leftAtId === null || messageId <= stay.leftAtId));
}

/** Whether a message of a channel may be read: content access now, and in protected history also received then. */
export function canReadChannelMessage(
  view: View,
  user: UserRecord,
  channel: ChannelRecord,
  messageId: number,
): boolean {
  if (channel.isWebPublic) return true;
  if (!channel.isPrivate && !isGuest(user)) return true;
  if (!hasContentAccess(view, user, channel)) return false;
  if (channel.isHistoryPublic) return true;
  const subscription = view.subscriptions.get(user.id, channel.id);
  return subscription !== undefined && hasReceived(subscription.stays, messageId);
}

/**
 * Whether somebody may be told that a message was in a channel once, and how its topics were called there (S1): who may read it
 * there now, or received it while they were there and knows of the channel still. To know of a channel is not enough: what is
 * written in a private one, and the names of its topics, administrators do not read either.
 */
export function mayKnowOrigin(view: View, user: UserRecord, channel: ChannelRecord, messageId: number): boolean {
  if (!hasMetadataAccess(view, user, channel)) return false;
  if (canReadChannelMessage(view, user, channel, messageId)) return true;
  return hasReceived(view.subscriptions.get(user.id, channel.id)?.stays ?? [], messageId);
}

/** Whether a message may be read (spec 4.10): one answer for missing and forbidden is the caller's business. */
export function canReadMessage(view: View, user: UserRecord, message: MessageRecord): boolean {
  const conversation = view.row("conversations", message.conversationId);
  if (conversation === undefined) return false;
  if (conversation.userIds !== null) return conversation.userIds.includes(user.id);
  const channel = view.channels.get(conversation.channelId ?? 0);
  return channel !== undefined && canReadChannelMessage(view, user, channel, message.id);
}
