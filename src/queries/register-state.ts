/**
 * The state that POST /register gives (behaviour 4.1): one section per event type, each a function of the view. A client asks
 * for sections by `fetch_event_types`, else by `event_types`, else gets all.
 */
import { limits } from "../../schemas/limits.ts";
import type { ChannelRecord, UserRecord } from "../../schemas/records.ts";
import { roles } from "../../schemas/types.ts";
import { apiEmail, avatarFields } from "../domain/people.ts";
import { hasRealmPermission, isAdministrator, isGuest } from "../domain/permissions.ts";
import { realmSetting } from "../domain/realm-settings.ts";
import type { View } from "../domain/view.ts";
import { alertWordsState } from "./alert-words.ts";
import { botsState } from "./bots.ts";
import { channelFoldersState } from "./channel-folders.ts";
import {
  channelBody,
  defaultChannelIds,
  leftChannels,
  subscribedChannels,
  subscriptionBody,
  visibleChannels,
} from "./channels.ts";
import { draftsState } from "./drafts.ts";
import { realmEmojiState } from "./emoji.ts";
import { shownPeople } from "./known-people.ts";
import { linkifiersState } from "./linkifiers.ts";
import { newestReceived } from "./messages.ts";
import { mutedUsersState } from "./muted-users.ts";
import { navigationViewsState } from "./navigation-views.ts";
import { playgroundsState } from "./playgrounds.ts";
import { presenceState } from "./presence.ts";
import { profileFieldsState } from "./profile-fields.ts";
import { realmDomainsState } from "./realm-domains.ts";
import { realmState } from "./realm-state.ts";
import { remindersState } from "./reminders.ts";
import { savedSnippetsState } from "./saved-snippets.ts";
import { scheduledMessagesState } from "./scheduled-messages.ts";
import { displaySettings, notificationSettings, ownSettings, settingsDefaults } from "./settings.ts";
import type { Section, StateRequest } from "./state-section.ts";
import { userStatusState } from "./status.ts";
import { subscriberField } from "./subscriptions.ts";
import { starredMessagesState, unreadMessages } from "./unread.ts";
import { userGroupsState } from "./user-groups.ts";
import { mutedTopicsState, userTopicsState } from "./user-topics.ts";

/** @param types null: everything */
export function registerState(
  view: View,
  user: UserRecord,
  types: readonly string[] | null,
  request: StateRequest,
): Record<string, unknown> {
  const wanted = types === null ? Object.keys(sections) : types;
  const state: Record<string, unknown> = {};
  for (const type of wanted) {
    // Who asks for both knows the newer one (behaviour 4.3).
    if (type === "muted_topics" && types?.includes("user_topic") === true) continue;
    const section = Object.hasOwn(sections, type) ? sections[type] : undefined;
    if (section !== undefined) Object.assign(state, section(view, user, request));
  }
  const hasBoth = types === null || (types.includes("message") && types.includes("update_message_flags"));
  return hasBoth ? { ...state, unread_msgs: unreadMessages(view, user, request.allowsEmptyTopicName) } : state;
}

const realmUser: Section = (view, user, { clientGravatar, allowsIncompleteUserList, webPublicStreamsEnabled }) => {
  const { active, inactive } = shownPeople(view, user, { clientGravatar, allowsIncompleteUserList });
  return {
    realm_users: active,
    realm_non_active_users: inactive,
    cross_realm_bots: [],
    user_id: user.id,
    email: apiEmail(user),
    delivery_email: user.email,
    full_name: user.fullName,
    ...ownAvatar(user),
    is_admin: isAdministrator(user),
    is_owner: user.role === roles.owner,
    is_moderator: user.role === roles.moderator,
    is_guest: isGuest(user),
    ...ownRights(view, user, webPublicStreamsEnabled),
  };
};

/** What clients would else derive from permissions (OpenAPI register-queue). */
function ownRights(view: View, user: UserRecord, isWebPublicAllowed: boolean) {
  const canCreatePublic = hasRealmPermission(view, user, "can_create_public_channel_group");
  const canCreatePrivate = hasRealmPermission(view, user, "can_create_private_channel_group");
  const isOpen = isWebPublicAllowed && realmSetting(view, "enable_spectator_access");
  return {
    can_create_public_streams: canCreatePublic,
    can_create_private_streams: canCreatePrivate,
    can_create_streams: canCreatePublic || canCreatePrivate,
    can_create_web_public_streams: isOpen && hasRealmPermission(view, user, "can_create_web_public_channel_group"),
    can_subscribe_other_users: hasRealmPermission(view, user, "can_add_subscribers_group"),
    can_invite_others_to_realm: hasRealmPermission(view, user, "can_invite_users_group"),
  };
}

/** One's own picture, with its address in any case. */
function ownAvatar(user: UserRecord) {
  const { avatar_version: _version, ...fields } = avatarFields(user, false);
  return fields;
}

const subscription: Section = (view, user, request) => {
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

const channelsState: Section = (view, user, { showsArchived }) => {
  const shown = visibleChannels(view, user).filter((channel) => showsArchived || !channel.isArchived);
  return { streams: shown.map((channel) => channelBody(view, channel)) };
};

const presence: Section = (view, user, request) => {
  const state = presenceState(view, request.presences, user, {
    lastUpdateId: null,
    historyDays: request.presenceHistoryDays,
    isModern: request.slimPresence,
    limitsToAccessible: request.limitsPresence,
  });
  return { ...state };
};

/** The caller's direct conversations, newest first (behaviour 4.1); of very many, those that began last. */
const recentPrivateConversations: Section = (view, user) => {
  const keys = view.keys("directConversations", {
    start: [user.id + 1],
    end: [user.id],
    reverse: true,
    limit: limits.recent_direct_conversations_max,
  });
  const recent = keys.flatMap(([, id]) => {
    const conversation = view.row("conversations", id);
    if (conversation === undefined) return [];
    const others = (conversation.userIds ?? []).filter((participant) => participant !== user.id);
    return [{ max_message_id: conversation.lastMessageId, user_ids: others }];
  });
  return { recent_private_conversations: recent.sort((a, b) => b.max_message_id - a.max_message_id) };
};

/** What an organization has none of: clients that ask learn that there is nothing. */
function nothing(state: Record<string, unknown>): Section {
  return () => state;
}

const sections: Readonly<Record<string, Section>> = {
  message: (view, user) => ({ max_message_id: newestReceived(view, user) }),
  realm: realmState,
  realm_billing: nothing({ realm_billing: { has_pending_sponsorship_request: false } }),
  realm_user: realmUser,
  realm_bot: botsState,
  realm_embedded_bots: nothing({ realm_embedded_bots: [] }),
  realm_incoming_webhook_bots: nothing({ realm_incoming_webhook_bots: [] }),
  subscription,
  stream: channelsState,
  default_streams: (view, user) => ({ realm_default_streams: isGuest(user) ? [] : defaultChannelIds(view) }),
  realm_user_groups: userGroupsState,
  presence,
  user_settings: ownSettings,
  recent_private_conversations: recentPrivateConversations,
  alert_words: alertWordsState,
  channel_folders: channelFoldersState,
  custom_profile_fields: profileFieldsState,
  default_stream_groups: nothing({ realm_default_stream_groups: [] }),
  drafts: draftsState,
  muted_topics: mutedTopicsState,
  muted_users: mutedUsersState,
  navigation_views: navigationViewsState,
  giphy: nothing({ giphy_api_key: "" }),
  onboarding_steps: nothing({ onboarding_steps: [], navigation_tour_video_url: null }),
  push_device: nothing({ push_devices: {} }),
  realm_domains: realmDomainsState,
  realm_emoji: realmEmojiState,
  realm_filters: nothing({ realm_filters: [] }),
  realm_linkifiers: linkifiersState,
  reminders: remindersState,
  realm_playgrounds: playgroundsState,
  saved_snippets: savedSnippetsState,
  scheduled_messages: scheduledMessagesState,
  starred_messages: starredMessagesState,
  stop_words: nothing({ stop_words: [] }),
  realm_user_settings_defaults: settingsDefaults,
  update_display_settings: displaySettings,
  update_global_notifications: notificationSettings,
  user_status: userStatusState,
  user_topic: userTopicsState,
  video_calls: nothing({ has_zoom_token: false }),
};
