/** The realm section of POST /register: settings, permissions, and the server's limits (spec 8, D5, D8). */

import { botDomain } from "../../domain/bots.ts";
import { emojiData } from "../../domain/emoji/emoji-data.ts";
import { shownGroupValue } from "../../domain/group-values.ts";
import { realmGroupId } from "../../domain/permissions.ts";
import { seconds } from "../../domain/presence.ts";
import { shownPicture } from "../../domain/realm-pictures.ts";
import { realmSetting, settingValueOf } from "../../domain/realm-settings.ts";
import type { View } from "../../domain/view.ts";
import type { AnswerOf } from "../../schemas/endpoint.ts";
import {
  allowsGuests,
  channelGroupSettings,
  type GroupSetting,
  type RealmGroupSettingName,
  realmGroupSettingNames,
  realmGroupSettings,
  type SystemGroupName,
  systemGroupNames,
  userGroupSettings,
} from "../../schemas/group-settings.ts";
import { limits } from "../../schemas/limits.ts";
import { externalAccounts } from "../../schemas/profile-fields.ts";
import { exposedAs, realmSettingRows } from "../../schemas/realm-settings.ts";
import type { rowFields as realmRowFields } from "../../schemas/realm-state.ts";
import { jitsiServerUrl, realmUrls, serverState } from "./server-state.ts";
import type { Section, StateRequest } from "./state-section.ts";

type Numbers = Readonly<Partial<Record<SystemGroupName, number>>>;

const creation: Numbers = {
  "role:administrators": 2,
  "role:moderators": 4,
  "role:fullmembers": 3,
  "role:members": 1,
};

const policies = [
  ["realm_create_public_stream_policy", "can_create_public_channel_group", creation],
  ["realm_create_private_stream_policy", "can_create_private_channel_group", creation],
  [
    "realm_create_web_public_stream_policy",
    "can_create_web_public_channel_group",
    { "role:nobody": 6, "role:owners": 7, "role:administrators": 2, "role:moderators": 4 },
  ],
  [
    "realm_wildcard_mention_policy",
    "can_mention_many_users_group",
    {
      "role:nobody": 6,
      "role:administrators": 5,
      "role:moderators": 7,
      "role:fullmembers": 3,
      "role:members": 2,
      "role:everyone": 1,
    },
  ],
] as const satisfies readonly (readonly [field: string, setting: RealmGroupSettingName, numbers: Numbers])[];

type Policies = Readonly<Record<(typeof policies)[number][0], number>>;

function olderPolicies(view: View): Policies {
  return Object.fromEntries(
    policies.map(([field, setting, numbers]) => [field, policyOf(view, realmGroupId(view, setting), numbers)]),
  ) as Policies;
}

/** A group that is not a system group may contain anybody, so the widest number is used. */
function policyOf(view: View, groupId: number, numbers: Numbers): number {
  const at = systemGroupNames.indexOf(view.groups.get(groupId)?.name as SystemGroupName);
  const wider = at < 0 ? undefined : systemGroupNames.slice(at).find((name) => numbers[name] !== undefined);
  const widest = systemGroupNames.findLast((name) => numbers[name] !== undefined);
  return numbers[wider ?? widest ?? "role:nobody"] ?? 1;
}

/** The groups that may hold each permission, for clients with a settings page (behaviour 3.9). */
function supportedPermissions() {
  const table = (settings: Readonly<Record<string, GroupSetting>>, creator: string, ofSystemGroups: string | null) =>
    Object.fromEntries(
      Object.entries(settings).map(([name, setting]) => [
        name,
        {
          require_system_group: setting.requiresSystemGroup,
          allow_internet_group: false,
          allow_nobody_group: setting.allowedSystemGroups.includes("role:nobody"),
          allow_everyone_group: allowsGuests(setting),
          default_group_name: setting.default === "creator" ? creator : setting.default,
          default_for_system_groups: ofSystemGroups,
          allowed_system_groups: isImpliedByFlags(setting) ? [] : setting.allowedSystemGroups,
        },
      ]),
    );
  return {
    realm: table(realmGroupSettings, "", null),
    stream: table(channelGroupSettings, "stream_creator_or_nobody", null),
    group: table(userGroupSettings, "group_creator", "role:nobody"),
  };
}

/** Clients interpret an empty list as every system group that the flags do not exclude. */
function isImpliedByFlags({ requiresSystemGroup, allowedSystemGroups }: GroupSetting): boolean {
  const byFlags = systemGroupNames.filter(
    (name) =>
      name !== "role:internet" &&
      (allowedSystemGroups.includes(name) || (name !== "role:nobody" && name !== "role:everyone")),
  );
  return !requiresSystemGroup && byFlags.length === allowedSystemGroups.length;
}

/** Spec 8: limits that clients learn here (D8), and constants for presence and typing. */
const exposedLimits = {
  max_stream_name_length: limits.channel_name_code_points_max,
  max_stream_description_length: limits.channel_description_code_points_max,
  max_channel_folder_name_length: limits.channel_folder_name_code_points_max,
  max_channel_folder_description_length: limits.channel_folder_description_code_points_max,
  max_bulk_new_subscription_messages: limits.new_subscription_messages_max,
  max_topic_length: limits.topic_code_points_max,
  max_message_length: limits.message_code_points_max,
  max_reminder_note_length: limits.reminder_note_code_points_max,
  max_avatar_file_size_mib: limits.avatar_bytes_max / (1024 * 1024),
  max_icon_file_size_mib: limits.realm_picture_bytes_max / (1024 * 1024),
  max_logo_file_size_mib: limits.realm_picture_bytes_max / (1024 * 1024),
  server_presence_ping_interval_seconds: limits.presence_ping_interval_s,
  server_presence_offline_threshold_seconds: limits.presence_offline_threshold_s,
  server_typing_started_expiry_period_milliseconds: limits.typing_started_expiry_ms,
  server_typing_stopped_wait_period_milliseconds: limits.typing_stopped_wait_ms,
  server_typing_started_wait_period_milliseconds: limits.typing_started_wait_ms,
  event_queue_longpoll_timeout_seconds: Math.ceil(limits.heartbeat_ms_max / 1000) + 40,
  server_supported_permission_settings: supportedPermissions(),
} as const;

function realmPictures(view: View): (readonly [name: string, value: string])[] {
  return (["icon", "logo", "night_logo"] as const).flatMap((name) => {
    const { url, source } = shownPicture(view, name, view.row("realmPictures", name));
    return [[`realm_${name}_url`, url] as const, [`realm_${name}_source`, source] as const];
  });
}

export const realmState: Section<"realm"> = (view, _user, request) => ({
  ...ownFields(view, request),
  ...olderPolicies(view),
  ...serverState,
  ...exposedLimits,
  ...rowFields(view),
});

/** Settings, permissions and pictures: made from the same rows as their schemas, which the compiler cannot follow. */
function rowFields(view: View) {
  return Object.fromEntries([
    ...realmPictures(view),
    ...realmSettingRows.map(([name]) => [exposedAs(name), settingValueOf(view.realm, name)] as const),
    ...realmGroupSettingNames.map(
      (name) => [`realm_${name}`, shownGroupValue(view, realmGroupId(view, name))] as const,
    ),
  ]) as AnswerOf<typeof realmRowFields>;
}

function ownFields(view: View, { siteUrl, webPublicStreamsEnabled, sendsEmail, uploads, startedAt }: StateRequest) {
  return {
    max_file_upload_size_mib: uploads.maxFileMib,
    realm_upload_quota_mib: uploads.quotaMib,
    ...realmUrls(view, siteUrl),
    server_emoji_data_url: `${siteUrl}${emojiData().path}`,
    realm_bot_domain: botDomain(siteUrl),
    realm_default_external_accounts: externalAccounts,
    realm_is_zephyr_mirror_realm: false,
    jitsi_server_url: realmSetting(view, "jitsi_server_url") ?? jitsiServerUrl,
    server_web_public_streams_enabled: webPublicStreamsEnabled,
    server_sends_email: sendsEmail,
    server_generation: seconds(startedAt),
    realm_mandatory_topics: realmSetting(view, "topics_policy") === "disable_empty_topic",
    realm_allow_edit_history: realmSetting(view, "message_edit_history_visibility_policy") !== "none",
    password_min_length: limits.password_code_points_min,
    realm_date_created: seconds(view.realm.createdAt),
    realm_presence_disabled: false,
  };
}
