/** What programs and devices may keep on the server. */
export const programLimits = {
  /** Keys and values of one account together. */
  bot_storage_code_points_max: 1_000_000,
  bot_storage_entries_max: 2000,
} as const;
