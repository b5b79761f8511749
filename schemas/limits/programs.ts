/** What programs and devices may keep on the server, and what an organization says of itself. */
export const programLimits = {
  push_token_characters_max: 4096,
  push_app_id_characters_max: 255,
  push_tokens_per_user_max: 100,
  devices_per_user_max: 100,
  realm_domain_characters_max: 255,
  realm_domains_max: 1000,
  /** Keys and values of one account together. */
  bot_storage_code_points_max: 1_000_000,
  bot_storage_entries_max: 2000,
  submessages_per_message_max: 2000,
  submessage_code_points_max: 10_000,
  submessage_type_code_points_max: 40,
  /** Counted for each beside its content, when it is bounded how much one answer holds. */
  submessage_characters_beside: 1000,
  /** Contents of one message's submessages together. */
  submessage_characters_per_message_max: 200_000,
} as const;
