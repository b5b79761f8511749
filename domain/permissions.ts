/**
 * Permissions (spec 2.2, 2.4, 4.4; behaviour 3.5, 3.8) as pure functions of a view, used by every code path.
 * Administrators do not bypass group settings unless a function here says so.
 */

import type { ChannelRecord } from "../schemas/channels.ts";
import { type Refusal, refuse } from "../schemas/errors.ts";
import { includesId } from "../schemas/group-scope.ts";
import {
  allowsGuests,
  channelGroupSettings,
  type GroupSettingName,
  type RealmGroupSettingName,
  realmGroupSettings,
  type SystemGroupName,
  systemGroups,
} from "../schemas/group-settings.ts";
import type { ChannelId, GroupId, MessageId } from "../schemas/ids.ts";
import type { MessageRecord } from "../schemas/messages.ts";
import type { SubscriptionPeriod } from "../schemas/subscriptions.ts";
import { roles } from "../schemas/types.ts";
import type { UserRecord } from "../schemas/users.ts";
import { realmSetting } from "./realm-settings.ts";
import type { View } from "./view.ts";

export function isAdministrator(user: UserRecord): boolean {
  return user.role <= roles.administrator;
}

export function isGuest(user: UserRecord): boolean {
  return user.role === roles.guest;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Whether the user's role puts them into a system group; new members become full members after the waiting period. */
export function isInSystemGroup(view: View, user: UserRecord, name: SystemGroupName): boolean {
  if (name === "role:nobody") return false;
  if (name !== "role:fullmembers" || user.role !== roles.member) return user.role <= systemGroups[name].roleMax;
  return view.now - user.joinedAt >= waitingPeriodMs(view);
}

/** How long members count as new. */
export function waitingPeriodMs(view: View): number {
  return realmSetting(view, "waiting_period_threshold") * dayMs;
}

/**
 * Membership, directly or through subgroups; deactivated users are members of nothing. The transitive contents of a
 * group are cached (`GroupsView.scope`), so the cost does not depend on nesting.
 */
export function isMember(view: View, user: UserRecord, groupId: GroupId): boolean {
  const scope = user.isActive ? view.groups.scope(groupId) : undefined;
  if (scope === undefined) return false;
  for (const name of scope.systemNames) if (isInSystemGroup(view, user, name)) return true;
  for (const id of view.groups.ofMember(user.id)) if (scope.ids.has(id)) return true;
  // An anonymous group names its members, and is in no other group.
  return includesId(view.groups.get(groupId)?.memberIds ?? [], user.id);
}

/** The group that holds a permission in a channel: the channel's own value, or the default. */
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

/** May read the channel's messages and subscribe. Administrators have no content access to private channels. */
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

/**
 * The channel of a command that needs an open one with content access. An archived channel is answered like one that
 * the user may not see, and like one that does not exist (D24).
 */
export function openChannel(view: View, user: UserRecord, channelId: ChannelId): ChannelRecord | Refusal {
  const channel = view.channels.get(channelId);
  const isOpen = channel !== undefined && !channel.isArchived && hasContentAccess(view, user, channel);
  return isOpen ? channel : refuse.invalidChannelId();
}

/** May know the channel's name, description and subscribers. */
export function hasMetadataAccess(view: View, user: UserRecord, channel: ChannelRecord): boolean {
  return view.subscriptions.isSubscribed(user.id, channel.id) || hasMetadataAccessUnsubscribed(view, user, channel);
}

/** The same without the subscription: what remains when the user leaves. */
export function hasMetadataAccessUnsubscribed(view: View, user: UserRecord, channel: ChannelRecord): boolean {
  if (hasContentAccessUnsubscribed(view, user, channel)) return true;
  if (isGuest(user)) return false;
  return isAdministrator(user) || hasChannelPermission(view, user, channel, "can_administer_channel_group");
}

export function canAdminister(view: View, user: UserRecord, channel: ChannelRecord): boolean {
  return isAdministrator(user) || hasChannelPermission(view, user, channel, "can_administer_channel_group");
}

/** May subscribe others (spec 4.4): channel administrators, and users in the two group settings. */
export function canAddSubscribers(view: View, user: UserRecord, channel: ChannelRecord): boolean {
  if (isGuest(user) || !hasMetadataAccess(view, user, channel)) return false;
  const isPublic = !channel.isPrivate;
  if (isPublic && (canAdminister(view, user, channel) || hasRealmPermission(view, user, "can_add_subscribers_group"))) {
    return true;
  }
  if (hasChannelPermission(view, user, channel, "can_add_subscribers_group")) return true;
  // Only a user who can read a private channel may give others access to its content (D18).
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

/** A guest may see all users unless the organization restricts it (`can_access_all_users_group`). */
export function canAccessAllUsers(view: View, user: UserRecord): boolean {
  return !isGuest(user) || hasRealmPermission(view, user, "can_access_all_users_group");
}

/** Whether a message id lies within one of the user's stays in the channel. */
export function hasReceived(periods: readonly SubscriptionPeriod[], messageId: MessageId): boolean {
  return periods.some(
    (period) => period.joinedAfterId < messageId && (period.leftAtId === null || messageId <= period.leftAtId),
  );
}

/** Whether a channel message may be read: content access now, and with protected history also received at the time. */
export function canReadChannelMessage(
  view: View,
  user: UserRecord,
  channel: ChannelRecord,
  messageId: MessageId,
): boolean {
  if (channel.isWebPublic) return true;
  if (!channel.isPrivate && !isGuest(user)) return true;
  if (!hasContentAccess(view, user, channel)) return false;
  if (channel.isHistoryPublic) return true;
  const subscription = view.subscriptions.get(user.id, channel.id);
  return subscription !== undefined && hasReceived(subscription.periods, messageId);
}

/**
 * Whether a user may learn that a message was once in a channel, and its topic names there (S1): they may read it there
 * now, or received it while they were there and still know the channel. Knowing the channel is not enough, because
 * administrators may not read private channels or their topic names either.
 */
export function mayKnowOrigin(view: View, user: UserRecord, channel: ChannelRecord, messageId: MessageId): boolean {
  if (!hasMetadataAccess(view, user, channel)) return false;
  if (canReadChannelMessage(view, user, channel, messageId)) return true;
  return hasReceived(view.subscriptions.get(user.id, channel.id)?.periods ?? [], messageId);
}

/** Whether a message may be read (spec 4.10). The caller must answer alike for missing and forbidden messages. */
export function canReadMessage(view: View, user: UserRecord, message: MessageRecord): boolean {
  const conversation = view.row("conversations", message.conversationId);
  if (conversation === undefined) return false;
  if (conversation.userIds !== null) return conversation.userIds.includes(user.id);
  const channel = view.channels.get(conversation.channelId ?? 0);
  return channel !== undefined && canReadChannelMessage(view, user, channel, message.id);
}
