/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { AlertWordsEvents, AlertWordsOperations } from "./alert-words.ts";
import type { AttachmentsOperations } from "./attachments.ts";
import type { AuthenticationOperations } from "./authentication.ts";
import type { AvatarsOperations } from "./avatars.ts";
import type { BotStorageOperations } from "./bot-storage.ts";
import type { BotsOperations } from "./bots.ts";
import type { ChannelEvents } from "./channel-events.ts";
import type { ChannelFoldersEvents, ChannelFoldersOperations } from "./channel-folders.ts";
import type { ChannelsOperations } from "./channels.ts";
import type { DefaultChannelsOperations } from "./default-channels.ts";
import type { DraftsEvents, DraftsOperations } from "./drafts.ts";
import type { EmojiOperations } from "./emoji.ts";
import type { InvitesEvents, InvitesOperations } from "./invites.ts";
import type { LinkifiersOperations } from "./linkifiers.ts";
import type { MessageChangesOperations } from "./message-changes.ts";
import type { MessageEvents } from "./message-events.ts";
import type { MessageFlagsOperations } from "./message-flags.ts";
import type { MessageReportsOperations } from "./message-reports.ts";
import type { MessagesOperations } from "./messages.ts";
import type { MutedUsersEvents, MutedUsersOperations } from "./muted-users.ts";
import type { NavigationViewsEvents, NavigationViewsOperations } from "./navigation-views.ts";
import type { PlaygroundsOperations } from "./playgrounds.ts";
import type { PresenceOperations } from "./presence.ts";
import type { ProfileFieldsOperations } from "./profile-fields.ts";
import type { PushDevicesOperations } from "./push-devices.ts";
import type { QueuesOperations } from "./queues.ts";
import type { ReactionsOperations } from "./reactions.ts";
import type { RealmDeactivationOperations } from "./realm-deactivation.ts";
import type { RealmDomainsEvents, RealmDomainsOperations } from "./realm-domains.ts";
import type { RealmEvents } from "./realm-events.ts";
import type { RealmPicturesOperations } from "./realm-pictures.ts";
import type { RealmSettingsEvents, RealmSettingsOperations } from "./realm-settings.ts";
import type { RegisterOperations } from "./register.ts";
import type { RemindersEvents, RemindersOperations } from "./reminders.ts";
import type { SavedSnippetsEvents, SavedSnippetsOperations } from "./saved-snippets.ts";
import type { ScheduledMessagesEvents, ScheduledMessagesOperations } from "./scheduled-messages.ts";
import type { ServerEvents, ServerOperations } from "./server.ts";
import type { SessionsOperations } from "./sessions.ts";
import type { SettingsEvents, SettingsOperations } from "./settings.ts";
import type { StatusOperations } from "./status.ts";
import type { SubmessagesOperations } from "./submessages.ts";
import type { SubscriptionsOperations } from "./subscriptions.ts";
import type { UsageOperations } from "./usage.ts";
import type { UserEvents } from "./user-events.ts";
import type { UserGroupsOperations } from "./user-groups.ts";
import type { UserTopicsOperations } from "./user-topics.ts";
import type { UsersOperations } from "./users.ts";
import type { WebhooksOperations } from "./webhooks.ts";
import type { WelcomeTestsOperations } from "./welcome-tests.ts";

export type { ErrorCode, ErrorCodes } from "./errors.ts";
export type * from "./type-channel.ts";
export type * from "./type-message.ts";
export type * from "./type-message-body.ts";
export type * from "./type-subscription.ts";
export type * from "./type-user-settings.ts";
export type * from "./type-user-settings-change.ts";
export type * from "./type-user-settings-defaults.ts";
export type * from "./type-user-settings-defaults-change.ts";
export type * from "./type-webhook-message.ts";
export type * from "./types.ts";

/** Every operation by method and path, with its parameters and the fields of its answer. */
export interface Operations
  extends AlertWordsOperations,
    AttachmentsOperations,
    AuthenticationOperations,
    AvatarsOperations,
    BotStorageOperations,
    BotsOperations,
    ChannelFoldersOperations,
    ChannelsOperations,
    DefaultChannelsOperations,
    DraftsOperations,
    EmojiOperations,
    InvitesOperations,
    LinkifiersOperations,
    MessageChangesOperations,
    MessageFlagsOperations,
    MessageReportsOperations,
    MessagesOperations,
    MutedUsersOperations,
    NavigationViewsOperations,
    PlaygroundsOperations,
    PresenceOperations,
    ProfileFieldsOperations,
    PushDevicesOperations,
    QueuesOperations,
    ReactionsOperations,
    RealmDeactivationOperations,
    RealmDomainsOperations,
    RealmPicturesOperations,
    RealmSettingsOperations,
    RemindersOperations,
    SavedSnippetsOperations,
    ScheduledMessagesOperations,
    ServerOperations,
    SessionsOperations,
    SettingsOperations,
    StatusOperations,
    SubmessagesOperations,
    SubscriptionsOperations,
    UsageOperations,
    UserGroupsOperations,
    UserTopicsOperations,
    UsersOperations,
    WebhooksOperations,
    WelcomeTestsOperations,
    RegisterOperations {}

/** Every event by type. */
export interface Events
  extends AlertWordsEvents,
    ChannelFoldersEvents,
    DraftsEvents,
    InvitesEvents,
    MutedUsersEvents,
    NavigationViewsEvents,
    RealmDomainsEvents,
    RealmSettingsEvents,
    RemindersEvents,
    SavedSnippetsEvents,
    ScheduledMessagesEvents,
    ServerEvents,
    SettingsEvents,
    MessageEvents,
    ChannelEvents,
    UserEvents,
    RealmEvents {}

/** Parameters whose text the server reads as JSON if it can, so that a text such as "12" must be quoted. */
export const jsonOrText: ReadonlySet<string> = new Set([
  "domain",
  "jitsi_server_url",
  "message_content_delete_limit_seconds",
  "message_content_edit_limit_seconds",
  "message_retention_days",
  "move_messages_between_streams_limit_seconds",
  "move_messages_within_stream_limit_seconds",
  "payload_url",
  "service_payload_url",
  "to",
  "topics_policy",
]);
