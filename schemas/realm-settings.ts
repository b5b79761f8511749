/**
 * Organization-level settings that the operations refer to (D5), with their defaults and the name under which
 * /register publishes them. A realm stores only what differs from the default.
 */
import type { SystemGroupName } from "./group-settings.ts";

export const realmSettings = {
  topics_policy: {
    default: "allow_empty_topic" as "allow_empty_topic" | "disable_empty_topic",
    publishedAs: "realm_topics_policy",
  },
  empty_topic_display_name: { default: "general chat", publishedAs: "realm_empty_topic_display_name" },
  enable_spectator_access: { default: false, publishedAs: "realm_enable_spectator_access" },
  send_channel_events_messages: { default: false, publishedAs: "realm_send_channel_events_messages" },
  waiting_period_threshold: { default: 0, publishedAs: "realm_waiting_period_threshold" },
  description: { default: "", publishedAs: "realm_description" },
} as const;
export type RealmSettingName = keyof typeof realmSettings;
export type RealmSettingValue<N extends RealmSettingName> = N extends "topics_policy"
  ? "allow_empty_topic" | "disable_empty_topic"
  : (typeof realmSettings)[N]["default"] extends string
    ? string
    : (typeof realmSettings)[N]["default"] extends boolean
      ? boolean
      : number;

/** Organization-level permissions held by groups (behaviour of the public API), by the system group of a new realm. */
export const realmGroupSettings = {
  can_create_public_channel_group: { default: "role:members", allowsEveryone: false },
  can_create_private_channel_group: { default: "role:members", allowsEveryone: false },
  can_create_web_public_channel_group: { default: "role:owners", allowsEveryone: false },
  can_add_subscribers_group: { default: "role:members", allowsEveryone: false },
  can_set_topics_policy_group: { default: "role:members", allowsEveryone: true },
  can_set_delete_message_policy_group: { default: "role:moderators", allowsEveryone: false },
  can_access_all_users_group: { default: "role:everyone", allowsEveryone: true },
  direct_message_initiator_group: { default: "role:everyone", allowsEveryone: true },
  direct_message_permission_group: { default: "role:everyone", allowsEveryone: true },
  can_add_custom_emoji_group: { default: "role:members", allowsEveryone: false },
  can_create_bots_group: { default: "role:members", allowsEveryone: false },
  can_create_write_only_bots_group: { default: "role:members", allowsEveryone: false },
  can_mention_many_users_group: { default: "role:administrators", allowsEveryone: true },
} as const satisfies Record<string, { default: SystemGroupName; allowsEveryone: boolean }>;
export type RealmGroupSettingName = keyof typeof realmGroupSettings;
