/**
 * The section `realm` of the state that POST /register returns (OpenAPI register-queue): the organization's settings
 * and permissions, the server's limits (spec 8, D5, D8), and what this server can do.
 */
import { type TSchema, Type } from "typebox";
import { type RealmGroupSettingName, realmGroupSettingNames } from "./group-settings.ts";
import { OtherId, OtherText } from "./person-marks.ts";
import { pictureSources, type RealmPictureName } from "./realm-pictures.ts";
import { exposedAs, type RealmSettingName, realmSettingRows } from "./realm-settings.ts";
import { GroupSettingValue, nullable } from "./types.ts";

const settings = Object.fromEntries(realmSettingRows.map(([name, { shown }]) => [exposedAs(name), shown])) as {
  readonly [N in RealmSettingName as `realm_${N}`]: TSchema;
};

const permissions = Object.fromEntries(realmGroupSettingNames.map((name) => [`realm_${name}`, GroupSettingValue])) as {
  readonly [N in RealmGroupSettingName as `realm_${N}`]: typeof GroupSettingValue;
};

const PictureSource = Type.Enum([...pictureSources]);
const pictures = {
  realm_icon_url: OtherText,
  realm_icon_source: PictureSource,
  realm_logo_url: OtherText,
  realm_logo_source: PictureSource,
  realm_night_logo_url: OtherText,
  realm_night_logo_source: PictureSource,
} satisfies { readonly [N in RealmPictureName as `realm_${N}_url` | `realm_${N}_source`]: TSchema };

const maxima = {
  max_file_upload_size_mib: Type.Integer(),
  max_stream_name_length: Type.Integer(),
  max_stream_description_length: Type.Integer(),
  max_channel_folder_name_length: Type.Integer(),
  max_channel_folder_description_length: Type.Integer(),
  max_bulk_new_subscription_messages: Type.Integer(),
  max_topic_length: Type.Integer(),
  max_message_length: Type.Integer(),
  max_reminder_note_length: Type.Integer(),
  max_avatar_file_size_mib: Type.Integer(),
  max_icon_file_size_mib: Type.Integer(),
  max_logo_file_size_mib: Type.Integer(),
  password_min_length: Type.Integer(),
  password_max_length: Type.Integer(),
  password_min_guesses: Type.Integer(),
  server_presence_ping_interval_seconds: Type.Integer(),
  server_presence_offline_threshold_seconds: Type.Integer(),
  server_typing_started_expiry_period_milliseconds: Type.Integer(),
  server_typing_stopped_wait_period_milliseconds: Type.Integer(),
  server_typing_started_wait_period_milliseconds: Type.Integer(),
  event_queue_longpoll_timeout_seconds: Type.Integer(),
};

/** A choice by its name in the code, with its number in the setting. */
const Choices = Type.Record(Type.String(), Type.Object({ name: OtherText, id: OtherId }));

const SupportedPermissions = Type.Record(
  Type.String(),
  Type.Object({
    require_system_group: Type.Boolean(),
    allow_internet_group: Type.Boolean(),
    allow_nobody_group: Type.Boolean(),
    allow_everyone_group: Type.Boolean(),
    default_group_name: OtherText,
    default_for_system_groups: nullable(OtherText),
    allowed_system_groups: Type.Array(OtherText),
  }),
);

const server = {
  server_emoji_data_url: OtherText,
  server_generation: Type.Integer(),
  server_web_public_streams_enabled: Type.Boolean(),
  server_sends_email: Type.Boolean(),
  server_supported_permission_settings: Type.Object({
    realm: SupportedPermissions,
    stream: SupportedPermissions,
    group: SupportedPermissions,
  }),
  server_jitsi_server_url: OtherText,
  jitsi_server_url: OtherText,
  server_name_changes_disabled: Type.Boolean(),
  server_avatar_changes_disabled: Type.Boolean(),
  server_inline_image_preview: Type.Boolean(),
  server_inline_url_embed_preview: Type.Boolean(),
  server_thumbnail_formats: Type.Array(
    Type.Object({
      name: OtherText,
      max_width: Type.Integer(),
      max_height: Type.Integer(),
      format: OtherText,
      animated: Type.Boolean(),
    }),
  ),
  server_can_summarize_topics: Type.Boolean(),
  settings_send_digest_emails: Type.Boolean(),
  server_min_deactivated_realm_deletion_days: Type.Null(),
  server_max_deactivated_realm_deletion_days: Type.Null(),
  server_needs_upgrade: Type.Boolean(),
  development_environment: Type.Boolean(),
  giphy_rating_options: Choices,
  zulip_plan_is_not_limited: Type.Boolean(),
  upgrade_text_for_wide_organization_logo: OtherText,
};

/** The fields that rows of tables declare. */
export const rowFields = { ...settings, ...permissions, ...pictures };

export const realmState = {
  ...rowFields,
  ...maxima,
  ...server,
  realm_url: OtherText,
  realm_uri: OtherText,
  realm_upload_quota_mib: nullable(Type.Integer()),
  realm_bot_domain: OtherText,
  realm_date_created: Type.Integer(),
  realm_default_external_accounts: Type.Record(
    Type.String(),
    Type.Object({ text: OtherText, name: OtherText, hint: OtherText, url_pattern: OtherText }),
  ),
  realm_available_video_chat_providers: Choices,
  realm_authentication_methods: Type.Object({
    Email: Type.Object({ enabled: Type.Boolean(), available: Type.Boolean() }),
  }),
  realm_email_auth_enabled: Type.Boolean(),
  realm_password_auth_enabled: Type.Boolean(),
  realm_is_zephyr_mirror_realm: Type.Boolean(),
  realm_mandatory_topics: Type.Boolean(),
  realm_allow_edit_history: Type.Boolean(),
  realm_presence_disabled: Type.Boolean(),
  realm_plan_type: Type.Integer(),
  realm_push_notifications_enabled: Type.Boolean(),
  realm_push_notifications_enabled_end_timestamp: Type.Null(),
  // Permissions as numbers, for older clients.
  realm_create_public_stream_policy: Type.Integer(),
  realm_create_private_stream_policy: Type.Integer(),
  realm_create_web_public_stream_policy: Type.Integer(),
  realm_wildcard_mention_policy: Type.Integer(),
};
