/** The rows of docs/account-bounds.md, which test/readme/account-bounds.test.ts writes and checks. */
import { limits } from "../../schemas/limits.ts";
import type { AccountBound } from "../areas/area.ts";
import { areaCases } from "../areas/index.ts";

const mebibyte = 2 ** 20;
const filesMax = (limits.upload_quota_per_user_mib_default * mebibyte) / limits.upload_charged_bytes_min;
const noRows = { rows: 0, tables: [] } as const;
/** A coalesced event and its place in a list. */
const volatileEventBytes = 500;
/** At most: the group of a permission that names one user. */
const anonymousGroupBytes = 512;
/** Measured: a membership takes 30 bytes of memory, a subscription 280. */
const membershipBytes = 64;
const subscriptionBytes = 512;
/** Measured: an idle socket takes 6.6 KB. */
const socketBytes = 8 * 1024;

export const accountBounds: readonly AccountBound[] = [
  {
    what: "event queues",
    limits: ["queues_per_user_max", "queue_narrow_code_points_max", "event_types_max", "queue_volatile_events_max"],
    rows: limits.queues_per_user_max,
    tables: ["queues"],
    memoryBytes: limits.queues_per_user_max * limits.queue_volatile_events_max * volatileEventBytes,
    test: ["test/realtime/queue-bounds.test.ts", "[S3] a queue keeps only the capabilities and event types"],
  },
  {
    what: "sockets",
    limits: ["sockets_per_user_max"],
    ...noRows,
    memoryBytes: limits.sockets_per_user_max * socketBytes,
    test: ["test/realtime/socket-authentication.test.ts", "[S3] a user has at most 100 sockets"],
  },
  {
    what: "answers and events that its clients do not read",
    limits: ["unsent_bytes_per_user_max"],
    ...noRows,
    memoryBytes: limits.unsent_bytes_per_user_max,
    test: ["test/runtime/unsent-bytes.test.ts", "[S3] unsent_bytes_per_user_max"],
  },
  {
    what: "requests and frames that are not answered yet",
    limits: ["requests_in_flight_bytes_per_sender_max", "body_bytes_max", "json_values_max"],
    ...noRows,
    memoryBytes: limits.requests_in_flight_bytes_per_sender_max,
    test: [
      "test/runtime/unsent-bytes.test.ts",
      "[S3] requests_in_flight_bytes_max, requests_in_flight_bytes_per_sender",
    ],
  },
  {
    what: "uploads that arrive",
    limits: ["uploads_per_user_max", "upload_buffer_bytes"],
    ...noRows,
    memoryBytes: limits.uploads_per_user_max * limits.upload_buffer_bytes,
    test: ["test/api/file-uploads.test.ts", "[S3] uploads_per_user_max and upload_buffer_bytes"],
  },
  {
    what: "sessions",
    limits: ["sessions_per_user_max", "host_header_bytes_max"],
    rows: limits.sessions_per_user_max,
    tables: ["sessions"],
    test: ["test/api/sessions.test.ts", "[S3] sessions_per_user_max"],
  },
  {
    what: "API keys",
    limits: ["api_keys_per_user_max"],
    rows: limits.api_keys_per_user_max,
    tables: ["apiKeys"],
    test: ["test/api/api-keys.test.ts", "[S3] logins evict the key of the oldest login"],
  },
  {
    what: "places of log-ins",
    limits: ["logins_per_user_max"],
    rows: limits.logins_per_user_max,
    tables: ["logins"],
    test: ["test/api/logins.test.ts", "[S3] logins_per_user_max"],
  },
  {
    what: "requests for a new address or password",
    limits: ["email_changes_per_day_max", "password_resets_per_day_max"],
    rows: Math.max(limits.email_changes_per_day_max, limits.password_resets_per_day_max),
    tables: ["emailChangeRequests", "passwordResetRequests"],
    test: ["test/api/email-change.test.ts", "[behaviour 1.4, S3] email_changes_per_hour_max and _per_day_max"],
  },
  {
    what: "push tokens",
    limits: ["push_tokens_per_user_max", "push_token_characters_max"],
    rows: limits.push_tokens_per_user_max,
    tables: ["pushTokens"],
    test: ["test/api/push-devices.test.ts", "[S3] push_tokens_per_user_max"],
  },
  {
    what: "devices",
    limits: ["devices_per_user_max"],
    rows: limits.devices_per_user_max,
    tables: ["devices"],
    test: ["test/api/push-devices.test.ts", "each device gets an id; beyond the limit"],
  },
  {
    what: "status",
    limits: ["status_text_code_points_max", "emoji_name_or_code_code_points_max"],
    rows: 1,
    tables: ["statuses"],
    test: ["test/api/status.test.ts", "[spec 8] status_text has at most 60 code points"],
  },
  {
    what: "values of profile fields",
    limits: ["profile_fields_max", "profile_long_text_code_points_max"],
    rows: limits.profile_fields_max,
    tables: ["profileValues"],
    test: ["test/api/profile-fields.test.ts", "[S3] profile_fields_max"],
  },
  {
    what: "avatar",
    limits: ["avatar_bytes_max"],
    ...noRows,
    diskBytes: limits.avatar_bytes_max,
    test: ["test/api/uploads.test.ts", "[behaviour 1.8] avatar_bytes_max"],
  },
  {
    what: "drafts",
    limits: ["drafts_per_user_max", "message_code_points_max", "direct_recipients_max"],
    rows: limits.drafts_per_user_max,
    tables: ["drafts"],
    test: ["test/api/drafts.test.ts", "[S3] drafts_per_user_max"],
  },
  ...areaCases.flatMap(({ account }) => account?.bound ?? []),
  {
    what: "alert words",
    limits: ["alert_words_per_user_max", "alert_word_code_points_max"],
    rows: limits.alert_words_per_user_max,
    tables: ["alertWords"],
    test: ["test/domain/alert-words.test.ts", "[S3] alert_words_per_user_max: memory grows"],
  },
  {
    what: "bot storage",
    limits: ["bot_storage_code_points_max", "bot_storage_entries_max"],
    rows: limits.bot_storage_entries_max,
    tables: ["botStorage"],
    test: ["test/api/bot-storage.test.ts", "[S3] bot_storage_code_points_max"],
  },
  {
    what: "scheduled messages",
    limits: ["scheduled_messages_per_user_max", "message_code_points_max"],
    rows: limits.scheduled_messages_per_user_max,
    tables: ["scheduledMessages"],
    test: ["test/api/scheduled-messages.test.ts", "[S3] scheduled_messages_per_user_max"],
  },
  {
    what: "reminders",
    limits: ["reminders_per_user_max", "reminder_note_code_points_max"],
    rows: limits.reminders_per_user_max,
    tables: ["reminders"],
    test: ["test/api/reminders.test.ts", "[S3] reminders_per_user_max"],
  },
  {
    what: "policies for topics",
    limits: ["user_topics_per_user_max"],
    rows: limits.user_topics_per_user_max,
    tables: ["userTopics", "topicPolicies"],
    test: ["test/api/user-topics.test.ts", "[S3] user_topics_per_user_max"],
  },
  {
    what: "muted users",
    limits: ["muted_users_per_user_max"],
    rows: limits.muted_users_per_user_max,
    tables: ["mutedUsers"],
    test: ["test/api/muted-users.test.ts", "[S3] muted_users_per_user_max"],
  },
  {
    what: "messages of the next missed-message email",
    limits: ["missed_messages_per_user_max"],
    rows: 1,
    tables: ["missedMessages"],
    test: ["test/outbound/missed-messages-bounds.test.ts", "[S3] missed_messages_per_user_max"],
  },
  {
    what: "answers for an `Idempotency-Key`",
    limits: ["idempotency_keys_per_user_max", "idempotency_answers_bytes_per_user_max"],
    rows: limits.idempotency_keys_per_user_max,
    tables: ["idempotencyAges"],
    diskBytes: 2 * limits.idempotency_answers_bytes_per_user_max,
    test: ["test/runtime/idempotency.test.ts", "[D271, S3] idempotency_answers_bytes_per_user_max"],
  },
  {
    what: "invitations of a day",
    limits: ["invitations_per_user_per_day_max"],
    rows: limits.invitations_per_user_per_day_max,
    tables: ["invitationSends"],
    test: ["test/api/invites-expiry.test.ts", "[S3] invitations_per_user_per_day_max"],
  },
  {
    what: "invitations",
    limits: ["invitations_per_user_max"],
    rows: limits.invitations_per_user_max,
    tables: [
      ...(["invitations", "invitationLinks", "invitationAddresses"] as const),
      ...Array.from({ length: limits.invitation_links_per_address_max }, () => "invitationKeys" as const),
    ],
    test: ["test/api/invites-expiry.test.ts", "[S3] invitations_per_user_max"],
  },
  {
    what: "custom emoji, with the bots of the account",
    limits: ["emoji_per_person_max", "emoji_bytes_max"],
    rows: limits.emoji_per_person_max,
    tables: ["realmEmoji"],
    diskBytes: limits.emoji_per_person_max * limits.emoji_bytes_max,
    test: ["test/api/emoji.test.ts", "[S3] emoji_per_person_max"],
  },
  {
    what: "user groups that the account created",
    limits: ["user_groups_per_person_max", "group_description_code_points_max"],
    rows: limits.user_groups_per_person_max,
    tables: ["groups"],
    test: ["test/runtime/group-bounds.test.ts", "[S3, D130] user_groups_per_person_max"],
  },
  {
    what: "their members and subgroups",
    limits: ["group_memberships_per_person_max"],
    rows: limits.group_memberships_per_person_max,
    tables: ["groupMembers"],
    memoryBytes: limits.group_memberships_per_person_max * membershipBytes,
    test: ["test/runtime/group-bounds.test.ts", "[S3, D130] group_memberships_per_person_max"],
  },
  {
    what: "subscriptions to the channels that the account and its bots created",
    limits: ["channel_subscriptions_per_person_max"],
    ...noRows,
    diskBytes: limits.channel_subscriptions_per_person_max * subscriptionBytes,
    memoryBytes: limits.channel_subscriptions_per_person_max * subscriptionBytes,
    test: ["test/runtime/subscription-bounds.test.ts", "[S3, D282] channel_subscriptions_per_person_max"],
  },
  {
    what: "uploaded files, with the bots of the account",
    limits: ["upload_quota_per_user_mib_default", "upload_charged_bytes_min"],
    rows: filesMax,
    tables: ["attachments", "attachmentFiles", "userAttachments"],
    diskBytes: limits.upload_quota_per_user_mib_default * mebibyte,
    test: ["test/api/upload-quotas.test.ts", "[D272, S3] upload_charged_bytes_min"],
  },
  {
    what: "users and groups that permissions name, with the bots of the account",
    limits: ["permission_names_per_person_max"],
    ...noRows,
    diskBytes: limits.permission_names_per_person_max * anonymousGroupBytes,
    memoryBytes: limits.permission_names_per_person_max * anonymousGroupBytes,
    test: ["test/runtime/channel-creation.test.ts", "[S3, D267] permission_names_per_person_max"],
  },
  {
    what: "bots, each with the bounds of an account",
    limits: ["bots_per_owner_max"],
    ...noRows,
    test: ["test/api/bots.test.ts", "[S3] bots_per_owner_max"],
  },
];

export const introduction = `# What one account can cost

The most that one account can store, and make the server keep in memory, if every text is as long as its bound allows. The figures are computed
from the limits in \`schemas/\` and from the longest rows, encoded; \`test/readme/account-bounds.test.ts\` writes and checks this page, and
measures the rows that are always in memory. Disk is an upper bound: pages of the store may be half empty, and a long row takes pages of its
own. An empty field means that nothing is kept there: rows without memory are read when they are asked for, and the caches of rows are
bounded for the whole process.

| what | bounds | disk | memory | test at the bound |
|---|---|---|---|---|
`;

export const notBounded = `
A bot is an account of its own: its owner may have \`bots_per_owner_max\` active ones, which share the owner's upload quota.

## What grows with the content

These have no bound for an account, because they are the content of the organization. Requests have one
(\`rate_api_per_minute\`, D28), so has each message, and the server rejects writes before the disk is full (M5).

| what | bounds |
|---|---|
| messages | \`message_code_points_max\` of text, with bounds on their HTML; \`message_history_entries_max\` edits that are remembered |
| reactions, submessages of polls and to-do lists | \`reactions_per_message_max\`, \`submessages_per_message_max\`, \`submessage_characters_per_message_max\`, from all users together |
| stars and other flags, exceptions from read marks | two rows of less than 50 bytes for each message that the user can read |
| subscriptions | one for each channel of the organization, \`channels_per_realm_max\`, each with \`stays_max\` periods; in memory. Nobody adds others beyond \`subscriptions_per_realm_max\` |
| events | the log of the organization has \`event_log_bytes_max\`; queues only refer to it |

## What an organization's administrators can store

Each of these is bounded for the organization: channels (\`channels_per_realm_max\`), groups (\`user_groups_per_realm_max\`) with their members
and subgroups (\`group_memberships_per_realm_max\`), folders (\`channel_folders_per_realm_max\`), invitations (\`invitations_per_realm_max\`), emoji
(\`emoji_per_realm_max\`, each of at most \`emoji_bytes_max\`), linkifiers (\`linkifiers_max\`), playgrounds (\`playgrounds_per_realm_max\`), domains (\`realm_domains_max\`), profile fields
(\`profile_fields_max\`), default channels (\`default_channels_max\`), dead letters (\`dead_letters_max\`).
`;
