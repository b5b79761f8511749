/** Channel and subscription objects for reads and events (spec 2.4; behaviour 2.3). */

import { isRecentlyActive } from "../../domain/channels.ts";
import { shownGroupValue } from "../../domain/group-values.ts";
import { channelGroupId, hasContentAccess, hasMetadataAccess, isGuest } from "../../domain/permissions.ts";
import { isAnnouncementOnly, postPolicy } from "../../domain/post-policy.ts";
import { seconds } from "../../domain/presence.ts";
import { compareText } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import type { ChannelBody, ChannelRecord } from "../../schemas/channels.ts";
import { channelGroupSettingNames } from "../../schemas/group-settings.ts";
import {
  type SubscriptionBody,
  type SubscriptionRecord,
  subscriptionNotificationNames,
} from "../../schemas/subscriptions.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Section } from "./state-section.ts";
import { type SubscriberLists, subscriberField } from "./subscriptions.ts";

export function channelBody(view: View, channel: ChannelRecord): ChannelBody {
  const policy = postPolicy(view, channelGroupId(view, channel, "can_send_message_group"));
  const body: Record<string, unknown> = {
    stream_id: channel.id,
    name: channel.name,
    description: channel.description,
    rendered_description: channel.renderedDescription,
    creator_id: channel.creatorId,
    date_created: seconds(channel.createdAt),
    invite_only: channel.isPrivate,
    is_web_public: channel.isWebPublic,
    history_public_to_subscribers: channel.isHistoryPublic,
    is_archived: channel.isArchived,
    is_recently_active: isRecentlyActive(view, channel),
    is_announcement_only: isAnnouncementOnly(policy),
    stream_post_policy: policy,
    stream_weekly_traffic: null,
    subscriber_count: view.subscriptions.ofChannel(channel.id).size,
    first_message_id: channel.firstMessageId,
    folder_id: channel.folderId,
    message_retention_days: channel.messageRetentionDays,
    topics_policy: channel.topicsPolicy,
  };
  for (const name of channelGroupSettingNames) body[name] = shownGroupValue(view, channelGroupId(view, channel, name));
  // The loop has set every permission.
  return body as ChannelBody;
}

/**
 * The subscriber lists that a client requested, and whether it accepts null for notification settings that inherit the
 * user's.
 */
export interface SubscriptionOptions {
  readonly subscriberLists: SubscriberLists;
  readonly allowsNullNotifications: boolean;
}

/** The user setting that a null inherits (spec 2.3). */
const inherited = {
  desktop_notifications: "enable_stream_desktop_notifications",
  audible_notifications: "enable_stream_audible_notifications",
  push_notifications: "enable_stream_push_notifications",
  email_notifications: "enable_stream_email_notifications",
  wildcard_mentions_notify: "wildcard_mentions_notify",
} as const;

export function subscriptionBody(
  view: View,
  subscription: SubscriptionRecord,
  channel: ChannelRecord,
  options: SubscriptionOptions,
): SubscriptionBody {
  return {
    ...channelBody(view, channel),
    ...ownSubscriptionFields(view, subscription, options.allowsNullNotifications),
    ...subscriberField(view, channel.id, options.subscriberLists),
  };
}

/** The fields of a subscription that a channel lacks, without its subscribers. */
export function ownSubscriptionFields(view: View, subscription: SubscriptionRecord, allowsNull: boolean) {
  const user = view.users.get(subscription.userId) ?? { settings: {} };
  const notifications: Record<string, unknown> = {};
  subscriptionNotificationNames.forEach((name, index) => {
    const own = subscription.notifications[index] ?? null;
    notifications[name] = own ?? (allowsNull ? null : userSetting(user, inherited[name]));
  });
  return {
    color: subscription.color,
    is_muted: subscription.isMuted,
    in_home_view: !subscription.isMuted,
    pin_to_top: subscription.pinToTop,
    // The loop has set every notification.
    ...(notifications as Pick<SubscriptionBody, (typeof subscriptionNotificationNames)[number]>),
  };
}

/** The channels that the user is subscribed to, by name. */
export function subscribedChannels(view: View, user: UserRecord) {
  return channelsOf(view, user, true);
}

/** Channels that the user has unsubscribed from and can still see, by name. */
export function leftChannels(view: View, user: UserRecord) {
  return channelsOf(view, user, false).filter(({ channel }) => hasMetadataAccess(view, user, channel));
}

function channelsOf(view: View, user: UserRecord, isActive: boolean) {
  const found: { subscription: SubscriptionRecord; channel: ChannelRecord }[] = [];
  for (const subscription of view.subscriptions.ofUser(user.id)) {
    const channel = view.channels.get(subscription.channelId);
    if (channel !== undefined && subscription.isActive === isActive) found.push({ subscription, channel });
  }
  return found.sort((a, b) => byName(a.channel, b.channel));
}

export function byName(a: ChannelRecord, b: ChannelRecord): number {
  return compareText(a.name, b.name);
}

/** Channels that the user can see, by name. */
export function visibleChannels(view: View, user: UserRecord): ChannelRecord[] {
  return [...view.channels.all()].filter((channel) => hasMetadataAccess(view, user, channel)).sort(byName);
}

/** The channels that GET /streams requests (OpenAPI, get-streams). */
export interface ChannelChoice {
  readonly include_public: boolean;
  readonly include_web_public: boolean;
  readonly include_subscribed: boolean;
  readonly include_all: boolean;
  readonly include_all_active: boolean;
  readonly include_default: boolean;
  readonly include_owner_subscribed: boolean;
  readonly include_can_access_content: boolean;
  readonly exclude_archived: boolean;
}

/** By name. A bot may request its owner's subscriptions; all other channels must be visible to the caller. */
export function chosenChannels(view: View, user: UserRecord, choice: ChannelChoice): ChannelRecord[] {
  const ownerId = choice.include_owner_subscribed ? user.botOwnerId : null;
  const isOwners = ({ id }: ChannelRecord) => ownerId !== null && view.subscriptions.isSubscribed(ownerId, id);
  const isChosen = (channel: ChannelRecord) =>
    choice.include_all ||
    choice.include_all_active ||
    (choice.include_subscribed && view.subscriptions.isSubscribed(user.id, channel.id)) ||
    (choice.include_public && !channel.isPrivate) ||
    (choice.include_web_public && channel.isWebPublic) ||
    (choice.include_default && channel.isDefault) ||
    (choice.include_can_access_content && hasContentAccess(view, user, channel));
  return [...view.channels.all()]
    .filter((channel) => !choice.exclude_archived || !channel.isArchived)
    .filter((channel) => isOwners(channel) || (isChosen(channel) && hasMetadataAccess(view, user, channel)))
    .sort(byName);
}

/** Ids of default channels, ascending. */
export function defaultChannelIds(view: View): number[] {
  return [...view.channels.all()]
    .filter((channel) => channel.isDefault && !channel.isArchived)
    .map((channel) => channel.id)
    .sort((a, b) => a - b);
}

export const subscriptionsState: Section<"subscription"> = (view, user, request) => {
  const options = {
    subscriberLists: request.subscriberLists,
    allowsNullNotifications: request.allowsNullNotifications,
  };
  const isShown = ({ channel }: { channel: ChannelRecord }) => request.showsArchived || !channel.isArchived;
  const subscribed = subscribedChannels(view, user).filter(isShown);
  const left = leftChannels(view, user).filter(isShown);
  const own = new Set([...subscribed, ...left].map(({ channel }) => channel.id));
  return {
    subscriptions: subscribed.map((entry) => subscriptionBody(view, entry.subscription, entry.channel, options)),
    unsubscribed: left.map((entry) => subscriptionBody(view, entry.subscription, entry.channel, options)),
    never_subscribed: visibleChannels(view, user)
      .filter((channel) => !own.has(channel.id) && isShown({ channel }))
      .map((channel) => ({
        ...channelBody(view, channel),
        ...subscriberField(view, channel.id, request.subscriberLists),
      })),
  };
};

export const channelsState: Section<"stream"> = (view, user, { showsArchived }) => {
  const shown = visibleChannels(view, user).filter((channel) => showsArchived || !channel.isArchived);
  return { streams: shown.map((channel) => channelBody(view, channel)) };
};

export const defaultChannelsState: Section<"default_streams"> = (view, user) => ({
  realm_default_streams: isGuest(user) ? [] : defaultChannelIds(view),
});
