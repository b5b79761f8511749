/**
 * Organization-level settings that the operations refer to (D5), with their defaults and the name under which
 * /register publishes them. A realm stores only what differs from the default.
 */
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
