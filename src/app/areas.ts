/**
 * Adds the parts of each area to the running server (composition root): its routes and its sections of POST /register.
 * An operation of schemas/areas.ts without a handler keeps the server from starting.
 */

import { healthPages } from "../edge/http/health.ts";
import { emailChangePages } from "../edge/pages/email-change.ts";
import { filePages } from "../edge/pages/files.ts";
import { joinPages } from "../edge/pages/join.ts";
import { passwordResetPages } from "../edge/pages/password-reset.ts";
import { picturePages, thumbnailPages } from "../edge/pages/pictures.ts";
import { setupPages } from "../edge/pages/setup.ts";
import { apiDocumentPages, staticPages } from "../edge/pages/static-files.ts";
import { unsubscribePages } from "../edge/pages/unsubscribe.ts";
import { type WebPage, webPages } from "../edge/pages/web-page.ts";
import type { Hub } from "../edge/realtime/hub.ts";
import { realtimeRoutes } from "../edge/realtime/routes.ts";
import type { Binding } from "../operations/calls.ts";
import type { Passwords } from "../operations/identity/passwords.ts";
import { Pictures } from "../operations/media/pictures.ts";
import { TemporaryUrls } from "../operations/media/temporary-urls.ts";
import { Thumbnails } from "../operations/media/thumbnails.ts";
import type { RateLimits } from "../operations/rate-limits.ts";
import { alertWordRoutes, alertWordsState } from "../operations/routes/alert-words.ts";
import { attachmentRoutes } from "../operations/routes/attachments.ts";
import { authenticationRoutes } from "../operations/routes/authentication.ts";
import { avatarRoutes } from "../operations/routes/avatars.ts";
import { botStorageRoutes } from "../operations/routes/bot-storage.ts";
import { botRoutes } from "../operations/routes/bots.ts";
import { channelFolderRoutes, channelFoldersState } from "../operations/routes/channel-folders.ts";
import { channelRoutes } from "../operations/routes/channels.ts";
import { defaultChannelRoutes } from "../operations/routes/default-channels.ts";
import { draftRoutes, draftsState } from "../operations/routes/drafts.ts";
import { emojiRoutes } from "../operations/routes/emoji.ts";
import { inviteRoutes } from "../operations/routes/invites.ts";
import { linkifierRoutes } from "../operations/routes/linkifiers.ts";
import { messageChangeRoutes } from "../operations/routes/message-changes.ts";
import { messageFetchRoutes } from "../operations/routes/message-fetch.ts";
import { messageFlagRoutes } from "../operations/routes/message-flags.ts";
import { messageReportRoutes } from "../operations/routes/message-reports.ts";
import { messageRoutes } from "../operations/routes/messages.ts";
import { mutedUserRoutes, mutedUsersState } from "../operations/routes/muted-users.ts";
import { personalListRoutes, personalListSections } from "../operations/routes/personal-lists.ts";
import { playgroundRoutes, playgroundsState } from "../operations/routes/playgrounds.ts";
import { presenceRoutes } from "../operations/routes/presence.ts";
import { profileFieldRoutes, profileFieldsState } from "../operations/routes/profile-fields.ts";
import { pushDeviceRoutes } from "../operations/routes/push-devices.ts";
import { reactionRoutes } from "../operations/routes/reactions.ts";
import { realmDeactivationRoutes } from "../operations/routes/realm-deactivation.ts";
import { realmDomainRoutes, realmDomainsState } from "../operations/routes/realm-domains.ts";
import { realmPictureRoutes } from "../operations/routes/realm-pictures.ts";
import { realmSettingRoutes } from "../operations/routes/realm-settings.ts";
import { reminderRoutes, remindersState } from "../operations/routes/reminders.ts";
import { scheduledMessageRoutes, scheduledMessagesState } from "../operations/routes/scheduled-messages.ts";
import { serverRoutes } from "../operations/routes/server.ts";
import { sessionRoutes } from "../operations/routes/sessions.ts";
import {
  displaySettings,
  notificationSettings,
  ownSettings,
  settingsDefaults,
  settingsRoutes,
} from "../operations/routes/settings.ts";
import { statusRoutes, userStatusState } from "../operations/routes/status.ts";
import { submessageRoutes } from "../operations/routes/submessages.ts";
import { subscriptionRoutes } from "../operations/routes/subscriptions.ts";
import { usageRoutes } from "../operations/routes/usage.ts";
import { userGroupRoutes } from "../operations/routes/user-groups.ts";
import { userTopicRoutes } from "../operations/routes/user-topics.ts";
import { userRoutes } from "../operations/routes/users.ts";
import { webhookRoutes } from "../operations/routes/webhooks.ts";
import { welcomeTestRoutes } from "../operations/routes/welcome-tests.ts";
import { botsState } from "../queries/bots.ts";
import { channelsState, defaultChannelsState, subscriptionsState } from "../queries/channels.ts";
import { realmEmojiState } from "../queries/emoji.ts";
import { channelPieces, subscriptionPieces } from "../queries/encoded-channels.ts";
import { linkifiersState } from "../queries/linkifiers.ts";
import { newestMessageState, recentDirectConversationsState } from "../queries/messages.ts";
import { presencePieces, presenceSection } from "../queries/presence.ts";
import { realmState } from "../queries/realm-state.ts";
import { emptySections } from "../queries/register-state.ts";
import type { LongSections, Sections } from "../queries/state-section.ts";
import { starredMessagesState } from "../queries/unread.ts";
import { userGroupsState } from "../queries/user-groups.ts";
import { mutedTopicsState, userTopicsState } from "../queries/user-topics.ts";
import { realmUserPieces, realmUserState } from "../queries/visible-users.ts";
import type { Realm } from "../runtime/realm.ts";
import type { Config } from "./config.ts";

export interface AreaTools {
  readonly passwords: Passwords;
  readonly rates: RateLimits;
  readonly hubOf: (realm: Realm) => Hub;
  /** The organization's own address, for links in emails. */
  readonly siteOf: (realm: Realm) => string;
  /** When this process began to serve, in milliseconds. */
  readonly startedAt: number;
  /** null if it is not built. */
  readonly webPage: WebPage | null;
  /** A person has claimed the owner's account: it may have another address. */
  readonly onSetUp: (realm: Realm) => void;
}

/** The tools that the routes of some areas need besides the realm of a request. */
interface Setting extends AreaTools {
  readonly config: Config;
  readonly pictures: Pictures;
  readonly temporaryUrls: TemporaryUrls;
  /** Server switches for channels. */
  readonly channels: { readonly webPublicStreamsEnabled: boolean; readonly topicDeletionTimeoutMs: number };
}

interface AreaParts {
  readonly routes?: readonly Binding[] | ((setting: Setting) => readonly Binding[]);
  /** Its sections of POST /register, by event type. */
  readonly sections?: Partial<Sections>;
  /** The same of long sections, for those who may see all users. */
  readonly longSections?: LongSections;
}

/** Accounts and authentication. */
const accountAreas: readonly AreaParts[] = [
  { routes: serverRoutes },
  {
    routes: ({ passwords, rates, config }) => authenticationRoutes({ passwords, rates }, config.developmentLogins),
  },
  { routes: ({ passwords, rates }) => sessionRoutes({ passwords, rates }) },
  {
    routes: ({ passwords }) => userRoutes(passwords),
    sections: { realm_user: realmUserState },
    longSections: { realm_user: realmUserPieces },
  },
  {
    routes: ({ config, siteOf }) =>
      inviteRoutes({
        validityMinutes: config.invitationLinkValidityMinutes,
        siteOf,
        sendsEmail: sendsEmail(config),
      }),
  },
  { routes: botRoutes, sections: { realm_bot: botsState } },
  { routes: botStorageRoutes },
  { routes: webhookRoutes },
];

/** Data that an organization shares: its settings, channels and groups. */
const organizationAreas: readonly AreaParts[] = [
  {
    routes: ({ passwords, rates, siteOf, config }) =>
      settingsRoutes({ passwords, rates, siteOf, sendsEmail: sendsEmail(config) }),
    sections: {
      user_settings: ownSettings,
      realm_user_settings_defaults: settingsDefaults,
      update_display_settings: displaySettings,
      update_global_notifications: notificationSettings,
    },
  },
  { routes: ({ channels }) => realmSettingRoutes(channels), sections: { realm: realmState } },
  { routes: realmDomainRoutes, sections: { realm_domains: realmDomainsState } },
  { routes: realmDeactivationRoutes },
  { routes: welcomeTestRoutes },
  { routes: profileFieldRoutes, sections: { custom_profile_fields: profileFieldsState } },
  {
    routes: ({ channels }) => channelRoutes(channels),
    sections: { stream: channelsState },
    longSections: { stream: channelPieces },
  },
  { routes: channelFolderRoutes, sections: { channel_folders: channelFoldersState } },
  {
    routes: ({ channels }) => subscriptionRoutes(channels),
    sections: { subscription: subscriptionsState },
    longSections: { subscription: subscriptionPieces },
  },
  { routes: defaultChannelRoutes, sections: { default_streams: defaultChannelsState } },
  { routes: userGroupRoutes(), sections: { realm_user_groups: userGroupsState } },
  { routes: linkifierRoutes, sections: { realm_linkifiers: linkifiersState } },
  { routes: playgroundRoutes, sections: { realm_playgrounds: playgroundsState } },
];

/** Data of one user. */
const personalAreas: readonly AreaParts[] = [
  { routes: statusRoutes, sections: { user_status: userStatusState } },
  { routes: personalListRoutes, sections: personalListSections },
  { routes: draftRoutes, sections: { drafts: draftsState } },
  { routes: scheduledMessageRoutes, sections: { scheduled_messages: scheduledMessagesState } },
  { routes: reminderRoutes, sections: { reminders: remindersState } },
  { routes: alertWordRoutes, sections: { alert_words: alertWordsState } },
  { routes: mutedUserRoutes, sections: { muted_users: mutedUsersState } },
  { routes: pushDeviceRoutes },
  { routes: userTopicRoutes, sections: { user_topic: userTopicsState, muted_topics: mutedTopicsState } },
];

const conversationAreas: readonly AreaParts[] = [
  {
    routes: messageRoutes,
    sections: { message: newestMessageState, recent_private_conversations: recentDirectConversationsState },
  },
  { routes: messageFetchRoutes },
  { routes: messageChangeRoutes },
  { routes: messageReportRoutes },
  { routes: reactionRoutes },
  { routes: submessageRoutes },
  { routes: messageFlagRoutes, sections: { starred_messages: starredMessagesState } },
];

/** Images and other files, which share limits. */
const fileAreas: readonly AreaParts[] = [
  {
    routes: ({ config, pictures, temporaryUrls }) =>
      attachmentRoutes({ pictures, temporaryUrls, quotas: quotasOf(config) }),
  },
  { routes: ({ pictures }) => avatarRoutes(pictures) },
  { routes: ({ pictures }) => emojiRoutes(pictures), sections: { realm_emoji: realmEmojiState } },
  { routes: ({ pictures }) => realmPictureRoutes(pictures) },
];

/** Presence, typing and event queues. */
const liveAreas: readonly AreaParts[] = [
  {
    routes: ({ config }) => presenceRoutes({ limitsToAccessible: config.presenceLimitedToAccessible }),
    sections: { presence: presenceSection },
    longSections: { presence: presencePieces },
  },
  { routes: usageRoutes },
  { routes: queueRoutes },
];

const areas = [
  ...accountAreas,
  ...organizationAreas,
  ...personalAreas,
  ...conversationAreas,
  ...fileAreas,
  ...liveAreas,
];

/** All sections of POST /register's state, by event type. */
export const registerSections: Sections = Object.assign({}, emptySections, ...areas.map(({ sections }) => sections));

export const longRegisterSections: LongSections = Object.assign({}, ...areas.map(({ longSections }) => longSections));

export function createOperations(config: Config, tools: AreaTools) {
  const { webPublicStreamsEnabled, topicDeletionTimeoutMs } = config;
  const pictures = new Pictures();
  const temporaryUrls = new TemporaryUrls();
  const channels = { webPublicStreamsEnabled, topicDeletionTimeoutMs };
  const mailed = { ...tools, sendsEmail: sendsEmail(config) };
  const setting = { ...tools, config, pictures, temporaryUrls, channels };
  return {
    bindings: areas.flatMap(({ routes = [] }) => (typeof routes === "function" ? routes(setting) : routes)),
    pages: [
      ...healthPages,
      ...apiDocumentPages(tools),
      ...emailChangePages,
      ...joinPages(mailed),
      ...passwordResetPages(mailed),
      ...setupPages(tools),
      ...unsubscribePages(tools),
      ...staticPages,
      ...picturePages,
      ...thumbnailPages(new Thumbnails(pictures)),
      ...filePages(temporaryUrls),
      ...webPages(tools.webPage),
    ],
    fileBytesMax: mebibytes(config.maxFileUploadSizeMib),
  };
}

/** Without a mail server each email is a file that the operator must pass on (D276). */
function sendsEmail({ smtpServer }: Config): boolean {
  return smtpServer !== null;
}

function queueRoutes({ config, hubOf, startedAt }: Setting): readonly Binding[] {
  return realtimeRoutes({
    sections: registerSections,
    longSections: longRegisterSections,
    hubOf,
    idleQueueTimeoutMs: config.idleQueueTimeoutMs,
    limitsPresence: config.presenceLimitedToAccessible,
    webPublicStreamsEnabled: config.webPublicStreamsEnabled,
    sendsEmail: sendsEmail(config),
    uploads: { maxFileMib: config.maxFileUploadSizeMib, quotaMib: config.uploadQuotaMib },
    startedAt,
  });
}

function quotasOf(config: Config) {
  return {
    realmQuotaBytes: mebibytes(config.uploadQuotaMib),
    personQuotaBytes: mebibytes(config.uploadQuotaPerUserMib),
  };
}

function mebibytes<T extends number | null>(count: T): T {
  return (count === null ? null : count * 1024 * 1024) as T;
}
