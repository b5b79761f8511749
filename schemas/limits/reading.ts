/** Bounds of read state and flags (behaviour 1.8, 8). */
export const readingLimits = {
  unread_messages_shown_max: 50_000,
  starred_messages_shown_max: 10_000,
  flagged_messages_per_request_max: 20_000,
  flagged_messages_per_narrow_max: 5000,
  flagged_messages_per_command_max: 500,
  /** What a mark looks at before it answers; what is more is told of apart. */
  read_rows_inline_max: 100,
  read_rows_per_command_max: 1000,
  /** How many posts of a person go by, on average, until a floor is raised over them, and how many rows that looks at. */
  own_posts_per_floor: 64,
  own_floor_rows_max: 256,
  read_announcement_pause_ms: 5,
  /** What is not told by then was given up (a dead letter): messages that move are not noted down for it any more. */
  read_announcement_ms_max: 24 * 60 * 60 * 1000,
  /** Of a channel, that somebody who moves messages looks at. */
  read_announcements_looked_at_max: 16,
  /** Of one channel, newest first, before its topics are looked at one by one. */
  unread_rows_scanned_max: 20_000,
  read_exceptions_at_once_max: 50_000,
  channel_tails_max: 10_000,
  channel_tail_entries_max: 400_000,
  channel_tail_entries_per_channel_max: 100_000,
  /** People times messages that change their place, of one command. */
  carried_read_states_per_command_max: 2000,
  /** And of one batch, for which other commands wait: of messages in a large channel fewer go at once, but not fewer than these. */
  carried_read_states_per_batch: 20_000,
  move_batch_messages_min: 4,
  read_receipts_per_pass_max: 500,
  topic_participants_scanned_max: 1000,
  /** More who would want to read it, or who have a policy for the topic, make a notice unread for everybody. */
  resolve_notice_readers_max: 1000,
  /** More people named in one message make nobody follow its topic. */
  mention_follows_per_message_max: 50,
} as const;
