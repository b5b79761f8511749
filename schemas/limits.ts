/**
 * Every bound of the server, its unit in its name (S3). Lengths of names are Unicode code points (D8).
 * Relations between bounds are asserted when this module loads, so that a careless edit cannot start.
 */
import { doorLimits } from "./limits/doors.ts";
import { pictureLimits } from "./limits/pictures.ts";
import { presenceLimits } from "./limits/presence.ts";
import { programLimits } from "./limits/programs.ts";
import { readingLimits } from "./limits/reading.ts";
import { searchLimits } from "./limits/search.ts";
import { timeLimits } from "./limits/time.ts";
import { wireLimits } from "./limits/wire.ts";

export const limits = {
  // Requests
  body_bytes_max: 1024 * 1024,
  form_parameters_max: 1000,
  form_name_characters_max: 200,
  /** Arrays and objects within one another, in JSON from outside; operations need four. */
  json_nesting_max: 64,
  header_value_bytes_max: 1024,
  idempotency_key_bytes_max: 255,
  idempotency_keys_per_user_max: 10_000,
  idempotency_answer_bytes_max: 64 * 1024,
  idempotency_waiters_max: 100,
  idempotency_kept_ms: 24 * 60 * 60 * 1000,
  /** Of a request's head, which uWebSockets.js refuses by itself when it is larger; `start.mjs` sets it. */
  http_head_bytes_max: 32 * 1024,
  path_bytes_max: 4096,
  url_query_bytes_max: 16 * 1024,

  // Uploads and pictures (behaviour 1.8)
  avatar_bytes_max: 5 * 1024 * 1024,
  emoji_bytes_max: 5 * 1024 * 1024,
  realm_picture_bytes_max: 5 * 1024 * 1024,
  /** What a multipart body may have beside its file. */
  upload_margin_bytes: 64 * 1024,
  /** What an upload that goes to disk as it comes holds in memory: a chunk of the socket, and what waits to be written. */
  upload_buffer_bytes: 1024 * 1024,
  upload_chunk_bytes: 64 * 1024,
  upload_file_mib_default: 25,
  upload_file_mib_max: 100 * 1024,
  /** Of all files together. One person's share does not fill the disk for everybody. */
  upload_quota_mib_default: 10 * 1024,
  upload_quota_per_user_mib_default: 1024,
  upload_quota_mib_max: 1024 * 1024 * 1024,
  upload_part_headers_bytes_max: 16 * 1024,
  upload_path_name_bytes_max: 600,
  upload_kept_unclaimed_ms: 5 * 7 * 24 * 60 * 60 * 1000,
  upload_image_header_bytes: 256 * 1024,
  temporary_url_ms: 60 * 1000,
  download_chunk_bytes: 64 * 1024,
  download_stall_ms_max: 60 * 1000,
  downloads_concurrent_max: 1000,
  /** Links of one message that claim a file; a longest message has hardly room for more. */
  attachments_per_message_max: 100,
  attachments_listed_max: 10_000,
  attachments_per_command_max: 500,
  /** Messages that link to one file, the newest: as many are told of, or looked at for a link. A message may hold many links. */
  attachment_messages_told_max: 100,
  /** The same: as many lose a link in a turn, or are looked at before others are let in. */
  attachment_messages_per_pass_max: 1000,
  upload_bytes_in_flight_max: 64 * 1024 * 1024,
  uploads_per_user_max: 3,
  file_name_code_points_max: 255,
  code_highlight_ms_max: 250,
  code_highlight_start_ms_max: 5_000,
  code_highlight_waiting_max: 64,
  emoji_name_code_points_max: 100,
  emoji_per_realm_max: 2000,

  // Names and texts, in code points
  channel_name_code_points_max: 60,
  channel_description_code_points_max: 1024,
  channel_folder_name_code_points_max: 60,
  channel_folder_description_code_points_max: 1024,
  topic_code_points_max: 60,
  message_code_points_max: 10_000,
  report_description_code_points_max: 1000,
  /** Of a reported message, in what moderators are told. */
  report_quote_code_points_max: 8000,
  full_name_code_points_max: 100,
  group_name_code_points_max: 100,
  group_description_code_points_max: 1024,
  realm_name_code_points_max: 40,
  realm_description_code_points_max: 1000,
  welcome_message_code_points_max: 8000,
  code_language_code_points_max: 40,
  playground_name_code_points_max: 200,
  jitsi_url_code_points_max: 200,
  status_text_code_points_max: 60,
  emoji_name_or_code_code_points_max: 200,
  navigation_view_fragment_bytes_max: 1200,
  navigation_view_name_code_points_max: 100,
  saved_snippet_title_code_points_max: 60,
  alert_word_code_points_max: 100,
  reminder_note_code_points_max: 500,
  email_code_points_max: 254,
  password_bytes_max: 1024,
  password_code_points_min: 8,
  deactivation_comment_code_points_max: 2000,
  client_name_code_points_max: 30,
  local_id_code_points_max: 64,
  timezone_code_points_max: 64,

  // Personal settings (spec 2.3)
  email_batching_period_s_min: 1,
  email_batching_period_s_max: 7 * 24 * 60 * 60,
  font_size_px_min: 1,
  font_size_px_max: 32_767,
  line_height_percent_min: 1,
  line_height_percent_max: 32_767,
  bot_service_name_code_points_max: 100,
  url_code_points_max: 2048,
  profile_field_name_code_points_max: 40,
  profile_field_hint_code_points_max: 80,
  profile_field_data_code_points_max: 16 * 1024,
  profile_short_text_code_points_max: 50,
  profile_long_text_code_points_max: 500,

  // Organization settings (D5)
  waiting_period_days_max: 36_500,
  setting_days_or_seconds_max: 2_147_483_647,

  // Counts
  users_per_realm_max: 1_000_000,
  channels_per_realm_max: 100_000,
  channel_folders_per_realm_max: 1000,
  /** A channel in which nobody has written for so long is not recently active. */
  channel_inactive_days: 180,
  /** How often channels are looked through for those that have become inactive, and how often it is seen whether that is due. */
  channel_activity_told_ms: 24 * 60 * 60 * 1000,
  channel_activity_look_ms: 60 * 60 * 1000,
  channel_activity_per_command_max: 500,
  subscribers_per_request_max: 20_000,
  channels_per_request_max: 1000,
  default_channels_max: 100,
  /** With more people newly subscribed by one request, nobody is told by a direct message. */
  new_subscription_messages_max: 100,
  /** Of a channel with fewer, clients that ask for a part of the subscribers get them all. */
  whole_subscriber_list_max: 250,
  subscribers_active_days: 14,
  direct_recipients_max: 200,
  /** As text: addresses with commas between them. */
  direct_recipients_code_points_max: 40_000,
  group_members_max: 20_000,
  /** Named ones, deactivated ones counted. */
  user_groups_per_realm_max: 10_000,
  /** More people who are added to or removed from a group at once get no message of it (behaviour 1.8). */
  group_notices_max: 100,
  group_members_per_command_max: 500,
  api_keys_per_user_max: 100,
  playgrounds_per_realm_max: 1000,
  navigation_views_per_user_max: 1000,
  saved_snippets_per_user_max: 1000,
  drafts_per_user_max: 1000,
  /** The end of the year 9999. */
  draft_timestamp_s_max: 253_402_300_799,
  /** Failed ones counted. */
  scheduled_messages_per_user_max: 1000,
  reminders_per_user_max: 1000,
  /** The end of the year 9999. */
  delivery_timestamp_s_max: 253_402_300_799,
  alert_words_per_user_max: 1000,
  muted_users_per_user_max: 1000,
  user_topics_per_user_max: 5000,
  bots_per_owner_max: 500,
  profile_fields_max: 100,
  profile_summary_fields_max: 2,
  profile_people_max: 200,
  linkifiers_max: 1000,
  messages_per_fetch_max: 5000,
  /** Of their texts, as sent and as shown, in one direction from the anchor: an answer that has as many ends there. */
  fetch_characters_max: 16_000_000,
  narrow_terms_max: 100,
  /** Channels and conversations whose indexes are merged for one feed; with more, the newest messages are walked. */
  feed_places_max: 2000,
  topics_per_list_max: 100_000,
  recent_direct_conversations_max: 1000,
  profile_values_per_update_max: 100,
  /** How many of a guest's direct conversations are looked through for people whom they may know. */
  known_conversations_max: 10_000,
  /** Changes of what somebody may see that are told one by one; with more, their queues end and they register again. */
  sight_events_max: 1000,
  sight_pairs_max: 100_000,
  /** Subscribers of private channels that appear, told in one turn; with more, the queues of whom it concerns end, too. */
  sight_subscribers_max: 1_000_000,
  /** A change of members that can be split is split so that each part looks at no more. */
  sight_pairs_per_command_max: 10_000,
  pending_mails_scanned_max: 10_000,

  // Turns and mailboxes
  turn_commands_max: 512,
  turn_budget_ms: 4,
  /** After so many turns in which nobody asked for anything, long work goes on in large pieces. */
  quiet_after_turns: 500,
  /** And for so many turns with requests a piece of it waits. */
  turns_without_pieces_max: 3,
  turn_bytes_budget: 4 * 1024 * 1024,
  turn_bytes_max: 16 * 1024 * 1024,
  queued_commands_max: 20_000,
  subscribers_per_command_max: 200,
  profile_values_per_command_max: 500,
  user_topics_per_command_max: 200,
  mailbox_attempts_max: 3,
  /** Of a realm; with more, the oldest go. As many go in one transaction. */
  dead_letters_max: 10_000,
  dead_letters_pruned_max: 500,
  deferred_answer_ms_max: 15 * 60 * 1000,
  activations_max: 20_000,
  volatile_activations_max: 100_000,
  cached_rows_per_table_max: 20_000,
  /** People with a policy for one topic, kept in memory for the next post. */
  topic_policies_kept_max: 100,
  cached_messages_characters_max: 32 * 1024 * 1024,
  /** Counted for each beside its texts: its other fields, and what is derived from it. */
  cached_message_characters_beside: 1150,
  timer_sleep_ms_max: 60_000,
  counter_lease_positions: 100_000,

  ...searchLimits,

  // Store
  store_tables_max: 128,
  /** Of an older store, in one transaction. */
  sealing_rows_per_slice: 20_000,
  /** A larger file that was closed in order is checked in part when the server starts. */
  store_checked_at_start_bytes_max: 256 * 1024 * 1024,
  /** Damaged rows of one table that `check` names; it counts the others. */
  check_rows_reported_max: 20,
  /** Damaged rows that the log names, each once. */
  damage_reports_max: 1000,
  store_free_bytes_min: 256 * 1024 * 1024,
  store_ballast_bytes: 32 * 1024 * 1024,
  /** Given back when a start finds less than this: a start writes a few pages. */
  store_start_reserve_bytes: 4 * 1024 * 1024,
  /** How long a server that only reads may go on after its data folder was taken over, removed or replaced. */
  data_folder_check_ms: 1000,
  /** How long a start waits for the lock of a process that was killed and has not ended yet. */
  data_folder_lock_wait_ms: 2000,
  /** A backup of another container, which may have been killed, holds the removal of files for so long after it last said that it goes on. */
  file_hold_ms: 60 * 60 * 1000,
  /** Organizations that are looked at in one go; the others follow right after. */
  data_folder_checks_per_pass: 100,

  // Changes of messages
  /** Kept and shown of a message's earlier forms, a topic's earlier names, the moves of a message; older ones go. */
  message_history_entries_max: 100,
  /** Of two renderings together that are compared; longer ones have no `content_html_diff`. */
  history_diff_characters_max: 20_000,
  /** Words and tags that differ; beyond, the whole text counts as replaced. */
  history_diff_edits_max: 150,
  move_batch_messages: 200,
  /** Of the texts in a batch, as sent and as shown: a batch that has as many takes no more. */
  move_batch_characters: 1_000_000,
  /** Counted to say how much of a topic may be moved. */
  move_messages_counted_max: 10_000,
  reactions_per_message_max: 1000,
  /** Clients open the editor at the last moment (behaviour of the public API). */
  edit_grace_s: 20,
  resolve_undo_s: 60,

  // Topic deletion (spec 4.13)
  /** Rows that go with the messages of one command, also of a retention round; a message that has more goes alone. */
  removal_batch_rows: 1000,
  topic_deletion_batch_messages: 200,
  /** While others ask for things: what a post beside a deletion waits for. */
  topic_deletion_batch_messages_busy: 25,
  topic_deletion_waiters_max: 100,

  ...timeLimits,

  ...readingLimits,

  // Encoded lists of users (spec 4.15)
  encoded_users_per_piece: 256,
  encoded_users_bytes_max: 256 * 1024 * 1024,

  // Event queues and sockets (realtime.md, Bounds)
  queues_per_user_max: 100,
  queue_volatile_events_max: 200,
  queue_narrow_terms_max: 20,
  event_types_max: 100,
  event_ids_per_piece_max: 1000,
  event_log_bytes_max: 1024 * 1024 * 1024,
  event_log_kept_ms_min: 15 * 60 * 1000,
  event_log_kept_ms_max: 7 * 24 * 60 * 60 * 1000,
  event_log_prune_rows_max: 2000,
  replay_rows_per_pass_max: 2000,
  replay_events_per_answer_max: 1000,
  replay_characters_per_answer_max: 1024 * 1024,
  heartbeat_ms_min: 45_000,
  heartbeat_ms_max: 50_000,
  sockets_per_user_max: 100,
  sockets_max: 200_000,
  socket_authentication_ms_max: 5000,
  /** Texts that sockets have alike (program, site, network address) and that are looked up when one opens. */
  socket_texts_shared_max: 1000,
  socket_heartbeat_s: 30,
  socket_heartbeat_s_min: 4,
  socket_heartbeat_s_max: 600,
  socket_buffer_bytes_soft_max: 1024 * 1024,
  socket_buffer_bytes_hard_max: 2 * 1024 * 1024,
  /** Events that are ready at once share frames of this size; one that is longer has a frame of its own. */
  socket_events_frame_bytes_max: 64 * 1024,
  socket_calls_pending_max: 64,
  ws_frame_bytes_max: 1024 * 1024,
  ws_frame_bytes_hard_max: 2 * 1024 * 1024,
  ws_ref_code_points_max: 64,

  ...pictureLimits,
  ...presenceLimits,
  ...programLimits,

  // Requests per time (D28)
  rate_api_per_minute: 200,
  rate_api_burst: 1000,
  rate_failed_logins_per_minute: 10,
  rate_anonymous_per_minute: 100,
  rate_buckets_max: 100_000,
  password_hashes_concurrent_max: 2,
  password_hashes_waiting_max: 100,

  ...doorLimits,
  ...wireLimits,

  // Shutdown
  drain_sockets_per_batch: 500,
  /** With more sockets than make so many batches, batches are larger: a stop has its time. */
  drain_batches_max: 100,
  drain_pause_ms: 20,
  shutdown_ms_max: 4500,
} as const;

function relate(holds: boolean, what: string): void {
  if (!holds) throw new Error(`limits contradict each other: ${what}`);
}

relate(
  limits.ws_frame_bytes_hard_max >= 2 * limits.ws_frame_bytes_max,
  "a frame over the bound must reach the handler",
);
relate(
  limits.socket_buffer_bytes_hard_max === 2 * limits.socket_buffer_bytes_soft_max,
  "hard buffer bound = twice soft",
);
relate(
  6 * limits.fetch_characters_max <= limits.unsent_bytes_max,
  "a largest answer to GET /messages, both ways from its anchor, fits into what may be unsent",
);
relate(
  limits.sockets_unauthenticated_max * limits.ws_frame_bytes_hard_max <= limits.requests_in_flight_bytes_max,
  "frames of sockets that nobody has authenticated take no more memory than requests may",
);
relate(limits.store_ballast_bytes > limits.turn_bytes_max, "the ballast covers the largest turn (M5)");
relate(
  5 * limits.sight_subscribers_max + 50 * limits.sight_pairs_max < limits.turn_bytes_max,
  "what is told of private channels that appear fits into a turn",
);
relate(limits.presence_hidden_s > limits.presence_offline_threshold_s, "who hides looks offline at once");
relate(4 * limits.move_batch_characters <= limits.turn_bytes_max, "the texts of a batch fit into one turn");
relate(limits.move_batch_messages <= limits.event_ids_per_piece_max, "the ids of a batch fit into one event");
relate(
  limits.drain_batches_max * limits.drain_pause_ms < limits.shutdown_ms_max / 2,
  "as many sockets as there may be are told in the time that a stop has",
);
relate(
  limits.path_bytes_max + limits.url_query_bytes_max + 12 * 1024 <= limits.http_head_bytes_max,
  "what is over the bounds of a request line is refused in the envelope, whatever headers a browser sends",
);
relate(limits.heartbeat_ms_min < limits.heartbeat_ms_max, "heartbeat window");
relate(limits.message_code_points_max * 4 < limits.body_bytes_max, "a longest message fits into a body");
relate(
  3 * limits.navigation_view_fragment_bytes_max + "/api/v1/navigation_views/".length < limits.path_bytes_max,
  "a fragment fits into a path with every byte percent-encoded",
);
relate(
  limits.upload_bytes_in_flight_max >= limits.avatar_bytes_max + limits.upload_margin_bytes,
  "a largest upload fits into what may be in flight",
);
relate(
  limits.thumbnail_source_bytes_max >= limits.upload_file_mib_default * 1024 * 1024,
  "every picture within the default bound of uploads gets a thumbnail",
);
relate(limits.thumbnail_animation_bytes_max < limits.thumbnails_cached_bytes_max, "the cache takes every thumbnail");
