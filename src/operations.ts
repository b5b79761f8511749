/**
 * Every operation and every page of the server, put together (composition root): what carries them out, with the options
 * and the bounds that they share. `schemas/index.ts` is the list of operations; one that is bound to nothing does not start.
 */
import type { Config } from "./config.ts";
import { emailChangePages } from "./http/email-change.ts";
import { filePages } from "./http/file-pages.ts";
import { healthPages } from "./http/health.ts";
import { joinPages } from "./http/join.ts";
import type { Passwords } from "./http/passwords.ts";
import { picturePages } from "./http/picture-pages.ts";
import { Pictures } from "./http/pictures.ts";
import type { RateLimits } from "./http/rate-limits.ts";
import { alertWordRoutes } from "./http/routes/alert-words.ts";
import { attachmentRoutes } from "./http/routes/attachments.ts";
import { authenticationRoutes } from "./http/routes/authentication.ts";
import { avatarRoutes } from "./http/routes/avatars.ts";
import { botStorageRoutes } from "./http/routes/bot-storage.ts";
import { botRoutes } from "./http/routes/bots.ts";
import { channelFolderRoutes } from "./http/routes/channel-folders.ts";
import { channelRoutes } from "./http/routes/channels.ts";
import { defaultChannelRoutes } from "./http/routes/default-channels.ts";
import { draftRoutes } from "./http/routes/drafts.ts";
import { emojiRoutes } from "./http/routes/emoji.ts";
import { inviteRoutes } from "./http/routes/invites.ts";
import { linkifierRoutes } from "./http/routes/linkifiers.ts";
import { messageChangeRoutes } from "./http/routes/message-changes.ts";
import { messageFetchRoutes } from "./http/routes/message-fetch.ts";
import { messageFlagRoutes } from "./http/routes/message-flags.ts";
import { messageReportRoutes } from "./http/routes/message-reports.ts";
import { messageRoutes } from "./http/routes/messages.ts";
import { mutedUserRoutes } from "./http/routes/muted-users.ts";
import { navigationViewRoutes } from "./http/routes/navigation-views.ts";
import { playgroundRoutes } from "./http/routes/playgrounds.ts";
import { presenceRoutes } from "./http/routes/presence.ts";
import { profileFieldRoutes } from "./http/routes/profile-fields.ts";
import { pushDeviceRoutes } from "./http/routes/push-devices.ts";
import { reactionRoutes } from "./http/routes/reactions.ts";
import { realmDeactivationRoutes } from "./http/routes/realm-deactivation.ts";
import { realmDomainRoutes } from "./http/routes/realm-domains.ts";
import { realmPictureRoutes } from "./http/routes/realm-pictures.ts";
import { realmSettingRoutes } from "./http/routes/realm-settings.ts";
import { reminderRoutes } from "./http/routes/reminders.ts";
import { savedSnippetRoutes } from "./http/routes/saved-snippets.ts";
import { scheduledMessageRoutes } from "./http/routes/scheduled-messages.ts";
import { serverRoutes } from "./http/routes/server.ts";
import { settingsRoutes } from "./http/routes/settings.ts";
import { statusRoutes } from "./http/routes/status.ts";
import { submessageRoutes } from "./http/routes/submessages.ts";
import { subscriptionRoutes } from "./http/routes/subscriptions.ts";
import { usageRoutes } from "./http/routes/usage.ts";
import { userGroupRoutes } from "./http/routes/user-groups.ts";
import { userTopicRoutes } from "./http/routes/user-topics.ts";
import { userRoutes } from "./http/routes/users.ts";
import { webhookRoutes } from "./http/routes/webhooks.ts";
import { welcomeTestRoutes } from "./http/routes/welcome-tests.ts";
import { staticPages } from "./http/static-pages.ts";
import { TemporaryUrls } from "./http/temporary-urls.ts";
import { thumbnailPages } from "./http/thumbnail-pages.ts";
import { Thumbnails } from "./http/thumbnails.ts";
import type { Hub } from "./realtime/hub.ts";
import { realtimeRoutes } from "./realtime/routes.ts";
import type { Realm } from "./runtime/realm.ts";

export interface OperationTools {
  readonly passwords: Passwords;
  readonly rates: RateLimits;
  readonly hubOf: (realm: Realm) => Hub;
  /** The organization's own address, for links in mails. */
  readonly siteOf: (realm: Realm) => string;
  /** When this process began to serve; milliseconds. */
  readonly startedAt: number;
}

export function createOperations(config: Config, tools: OperationTools) {
  const files = createFiles(config);
  return {
    bindings: [
      ...doorRoutes(config, tools),
      ...organizationRoutes(config, tools),
      ...personalRoutes,
      ...conversationRoutes,
      ...files.routes,
      ...liveRoutes(config, tools),
    ],
    pages: [...healthPages, ...emailChangePages, ...joinPages(tools), ...files.pages],
    fileBytesMax: mebibytes(config.maxFileUploadSizeMib),
  };
}

/** How people and programs come in. */
function doorRoutes(config: Config, { passwords, rates, siteOf }: OperationTools) {
  return [
    ...serverRoutes,
    ...authenticationRoutes(passwords, rates, config.developmentLogins),
    ...userRoutes(passwords),
    ...inviteRoutes({ validityMinutes: config.invitationLinkValidityMinutes, siteOf }),
    ...botRoutes,
    ...botStorageRoutes,
    ...webhookRoutes,
  ];
}

/** What an organization shares: its settings, channels and groups. */
function organizationRoutes(config: Config, { passwords, rates, siteOf }: OperationTools) {
  const { webPublicStreamsEnabled, topicDeletionTimeoutMs } = config;
  const channelOptions = { webPublicStreamsEnabled, topicDeletionTimeoutMs };
  return [
    ...settingsRoutes({ passwords, rates, siteOf }),
    ...realmSettingRoutes(channelOptions),
    ...realmDomainRoutes,
    ...realmDeactivationRoutes,
    ...welcomeTestRoutes,
    ...profileFieldRoutes,
    ...channelRoutes(channelOptions),
    ...channelFolderRoutes,
    ...subscriptionRoutes(channelOptions),
    ...defaultChannelRoutes,
    ...userGroupRoutes(),
    ...linkifierRoutes,
    ...playgroundRoutes,
  ];
}

/** What is one person's own and needs nothing but the realm. */
const personalRoutes = [
  ...statusRoutes,
  ...navigationViewRoutes,
  ...savedSnippetRoutes,
  ...draftRoutes,
  ...scheduledMessageRoutes,
  ...reminderRoutes,
  ...alertWordRoutes,
  ...mutedUserRoutes,
  ...pushDeviceRoutes,
  ...userTopicRoutes,
];

const conversationRoutes = [
  ...messageRoutes,
  ...messageFetchRoutes,
  ...messageChangeRoutes,
  ...messageReportRoutes,
  ...reactionRoutes,
  ...submessageRoutes,
  ...messageFlagRoutes,
];

/** Presence, typing and event queues. */
function liveRoutes(config: Config, { hubOf, startedAt }: OperationTools) {
  const { presenceLimitedToAccessible: isPresenceLimited } = config;
  return [
    ...presenceRoutes({ limitsToAccessible: isPresenceLimited }),
    ...usageRoutes,
    ...realtimeRoutes({
      hubOf,
      idleQueueTimeoutMs: config.idleQueueTimeoutMs,
      limitsPresence: isPresenceLimited,
      webPublicStreamsEnabled: config.webPublicStreamsEnabled,
      uploads: { maxFileMib: config.maxFileUploadSizeMib, quotaMib: config.uploadQuotaMib },
      startedAt,
    }),
  ];
}

/** Pictures and other files: what carries them out shares its bounds. */
function createFiles(config: Config) {
  const pictures = new Pictures();
  const temporaryUrls = new TemporaryUrls();
  const quotas = {
    realmQuotaBytes: mebibytes(config.uploadQuotaMib),
    personQuotaBytes: mebibytes(config.uploadQuotaPerUserMib),
  };
  return {
    routes: [
      ...attachmentRoutes({ pictures, temporaryUrls, quotas }),
      ...avatarRoutes(pictures),
      ...emojiRoutes(pictures),
      ...realmPictureRoutes(pictures),
    ],
    pages: [...staticPages, ...picturePages, ...thumbnailPages(new Thumbnails(pictures)), ...filePages(temporaryUrls)],
  };
}

function mebibytes<T extends number | null>(count: T): T {
  return (count === null ? null : count * 1024 * 1024) as T;
}
