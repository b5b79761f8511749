/** Bounds of who is there and who types (E4): a part of `schemas/limits.ts`, whose rules hold. */
export const presenceLimits = {
  batch_persist_ms: 30_000,
  batch_rows_max: 250,
  usage_days_kept: 30,
  usage_people_per_answer_max: 1000,
  presence_history_days: 14,
  presence_ping_interval_s: 60,
  presence_offline_threshold_s: 200,
  presence_hidden_s: 320,
  presence_update_min_s: 55,
  presence_legacy_active_offset_s: 70,
  presence_coalesce_ms: 1000,
  /** Events about newly online people in the older form, which is one for each of them, to all queues together. */
  presence_older_deliveries_max: 10_000,
  typing_expiry_ms: 15_000,
  typing_typists_per_conversation_max: 100,
  typing_channel_subscribers_max: 100,
  typing_started_expiry_ms: 45_000,
  typing_stopped_wait_ms: 12_000,
  typing_started_wait_ms: 30_000,
} as const;
