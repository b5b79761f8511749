/** Limits on images and thumbnails (behaviour 1.8), with units in the names (S3). */
export const pictureLimits = {
  picture_pixels_max: 40_000_000,
  pictures_concurrent_max: 2,
  pictures_waiting_max: 16,
  picture_seconds_max: 10,
  thumbnail_width_px_max: 840,
  thumbnail_height_px_max: 560,
  /** A larger image is shown in full size, because the whole image is in memory while its thumbnail is generated. */
  thumbnail_source_bytes_max: 32 * 1024 * 1024,
  /** A larger animated thumbnail is replaced by a still one. */
  thumbnail_animation_bytes_max: 4 * 1024 * 1024,
  thumbnail_frames_max: 300,
  /** An image with more frames is shown as a still image: the library lists all frames on the event loop. */
  animation_frames_max: 10_000,
  /** Distinct thumbnails waiting to be generated, one at a time. */
  thumbnails_waiting_max: 256,
  /** Across all organizations; the least recently used are evicted and generated again on demand. */
  thumbnails_cached_bytes_max: 64 * 1024 * 1024,
} as const;

/** Limits of the operator's listener and of the command line. */
export const adminLimits = {
  /** A body of `POST /admin/...`. */
  admin_body_bytes_max: 16 * 1024 * 1024,
  admin_operations_concurrent_max: 8,
  /** Names in ADMIN_HOSTS. */
  admin_hosts_max: 16,
  /** Commands of one operation that wait together, so that their turns share a flush and requests run between them. */
  admin_commands_at_once: 100,
  admin_realms_created_max: 10_000,
  /** Progress that a client has not read; beyond it, lines of progress are left out. */
  admin_unread_bytes_max: 64 * 1024,
  /** How long the command line waits for another process to release the data folder, e.g. a server that starts or stops. */
  admin_wait_ms_max: 5000,
  /** Samples of each figure that the server keeps for the operator's page: an hour of them. */
  live_samples_max: 720,
  live_sample_ms: 5000,
  /** After the last request of the page, the delay of the event loop is measured for so long. */
  live_watch_ms: 60_000,
  /** Logins to the operator's page that are valid at the same time; the next one ends the oldest. */
  admin_sessions_max: 16,
  admin_session_ms: 12 * 60 * 60 * 1000,
  /** The body of a login to the operator's page. */
  admin_login_bytes_max: 1024,
  /** Dead letters of an organization that the operator's page shows. */
  live_letters_shown_max: 50,
  backup_keep_default: 7,
  backup_keep_max: 1000,
} as const;

/** Limits that several areas share, and those of the server itself: requests, turns, store, rates, shutdown (S3). */
export const commonLimits = {
  // Requests
  body_bytes_max: 1024 * 1024,
  form_parameters_max: 1000,
  form_name_characters_max: 200,
  /** Nesting depth of arrays and objects in JSON from outside; operations need four. */
  json_nesting_max: 64,
  /**
   * Values and names in the JSON of a request, over all its parameters, or in a frame. An empty array or object counts
   * as two. They are counted before anything is built.
   */
  json_values_max: 50_000,
  header_value_bytes_max: 1024,
  /** Authorization headers of verified credentials that the process remembers, about 20,000; as much for cookies. */
  credentials_remembered_bytes_max: 8 * 1024 * 1024,
  /** Added per header to its length. */
  credentials_remembered_overhead_bytes: 320,
  idempotency_key_bytes_max: 255,
  idempotency_keys_per_user_max: 10_000,
  idempotency_answer_bytes_max: 64 * 1024,
  /** All stored answers of a user: with `idempotency_keys_per_user_max` of the longest it would be 640 MiB. */
  idempotency_answers_bytes_per_user_max: 16 * 1024 * 1024,
  idempotency_waiters_max: 100,
  idempotency_kept_ms: 24 * 60 * 60 * 1000,
  /** Size of a request's head; the transport rejects larger ones itself. */
  http_head_bytes_max: 32 * 1024,
  /** The longest host name, and a port: sessions, sockets and scheduled messages store it. */
  host_header_bytes_max: 253 + ":65535".length,
  path_bytes_max: 4096,
  url_query_bytes_max: 16 * 1024,
  /** Bytes in a multipart body besides the file. */
  upload_margin_bytes: 64 * 1024,
  /** The web page, its assets and their compressed copies, which are in memory. */
  web_bytes_max: 32 * 1024 * 1024,
  web_files_max: 1000,
  code_highlight_ms_max: 250,
  code_highlight_start_ms_max: 5_000,
  code_highlight_waiting_max: 64,
  topic_code_points_max: 60,
  /** Organizations with a label of their own in the metrics. */
  metrics_realms_max: 50,
  welcome_message_code_points_max: 8000,
  code_language_code_points_max: 40,
  emoji_name_or_code_code_points_max: 200,
  email_code_points_max: 254,
  password_bytes_max: 1024,
  password_code_points_min: 8,
  client_name_code_points_max: 30,
  url_code_points_max: 2048,
  subscribers_per_request_max: 20_000,
  direct_recipients_max: 200,
  /** As text: addresses separated by commas. */
  direct_recipients_code_points_max: 40_000,
  group_members_max: 20_000,
  /** The end of the year 9999. */
  delivery_timestamp_s_max: 253_402_300_799,
  narrow_terms_max: 100,
  profile_values_per_update_max: 100,

  // Turns and mailboxes
  turn_commands_max: 512,
  turn_budget_ms: 4,
  /** Turns of several organizations hand their records to the journal together after at most this long, and one turn more. */
  turn_pass_ms_max: 2,
  /** After this many turns without requests, background work uses large batches. */
  idle_after_turns: 500,
  /** The number of turns with requests that a background command waits at most. */
  turns_without_background_max: 15,
  /** Beyond this, turns wait for the journal's flush. */
  journal_unflushed_bytes_max: 32 * 1024 * 1024,
  /** Beyond this, turns wait for the journal: events that leave when they are durable, as readers get them. */
  gate_bytes_max: 64 * 1024 * 1024,
  /** The gate releases waiting answers for at most this long, and one chunk more, before others get their turn. */
  gate_pass_ms_max: 5,
  /** Sockets of one such chunk. */
  gate_piece_sockets: 250,
  /** Beyond this, turns wait for the stores: memory of the rows and records that these do not have yet. */
  overlay_bytes_max: 64 * 1024 * 1024,
  /** How many rows that the stores have are dropped from memory at a time. */
  overlay_drop_rows: 5_000,
  /** Turns reach the stores after this time, or when there are this many bytes of them, or of memory that they take. */
  checkpoint_interval_ms: 300,
  checkpoint_bytes: 8 * 1024 * 1024,
  checkpoint_memory_bytes: 8 * 1024 * 1024,
  turn_bytes_budget: 4 * 1024 * 1024,
  turn_bytes_max: 16 * 1024 * 1024,
  queued_commands_max: 20_000,
  mailbox_attempts_max: 3,
  /** Dead letters per realm; the oldest beyond that are removed, `dead_letters_pruned_max` per transaction. */
  dead_letters_max: 10_000,
  dead_letters_pruned_max: 500,
  deferred_answer_ms_max: 15 * 60 * 1000,
  activations_max: 20_000,
  volatile_activations_max: 100_000,
  cached_rows_per_table_max: 20_000,
  cached_messages_characters_max: 32 * 1024 * 1024,
  /** Added per message to the size of its texts: its other fields and derived data. */
  cached_message_overhead_characters: 1220,
  timer_sleep_ms_max: 60_000,
  /** How often idle organizations are looked for, and the pause after each that is closed. */
  realm_idle_check_ms: 60_000,
  realm_close_pause_ms: 10,
  /** How often a server that npm started looks whether its parent is still there. */
  parent_check_ms: 2000,
  /** How long the erasure of an organization waits for requests and deliveries that use it. */
  realm_withdrawal_ms_max: 10_000,
  realm_withdrawal_check_ms: 20,
  /** For how long due organizations are opened before the requests that wait are served, and for how long those have. */
  realms_opened_ms: 50,
  realms_opened_pause_ms: 10,
  counter_lease_positions: 100_000,

  // Store
  store_tables_max: 128,
  /** A larger file is checked only in part at a start, unless the machine may have lost power while it was open. */
  store_checked_at_start_bytes_max: 256 * 1024 * 1024,
  /** A process that opened such a file after a kill, and ends before this time, may have met damage. */
  store_trusted_ms: 60_000,
  /** Damaged rows per table that `check` lists; it counts the rest. */
  check_rows_reported_max: 20,
  /** Damaged rows that the log reports, each once. */
  damage_reports_max: 1000,
  store_free_bytes_min: 256 * 1024 * 1024,
  store_reserved_bytes: 40 * 1024 * 1024,
  /** Released if less than this is free at start: starting writes a few pages. */
  store_start_reserve_bytes: 4 * 1024 * 1024,
  /** Files whose size is asked for at once, for the quota of all stores. */
  store_sizes_per_look: 500,
  /** How soon a server without writes notices that its data folder was taken over, removed or replaced. */
  data_folder_check_ms: 1000,
  /** How long a start waits for the lock of a killed process that has not exited yet. */
  data_folder_lock_wait_ms: 2000,
  /** How long an operator may let a start wait for the process before it, and how often it looks. */
  data_folder_wait_seconds_max: 3600,
  data_folder_wait_look_ms: 10,
  /** File removal waits until a backup in another container has shown no progress for this long. */
  file_hold_ms: 60 * 60 * 1000,
  /** Copies beside a running server are flushed in pieces, with pauses of so many times what the last one took. */
  flush_piece_bytes: 256 * 1024,
  flush_pause_ratio: 10,
  flush_pause_ms_max: 50,
  /** Organizations checked in one pass; the others follow in the next passes. */
  data_folder_checks_per_pass: 100,

  // Journal
  /** A record that does not fit into a segment of this size gets a larger one. */
  journal_segment_bytes: 4 * 1024 * 1024,
  /** Segments that are kept for reuse; others are removed when they are released. */
  journal_spares_max: 2,
  /** A spare segment is written and flushed in steps of this size, between the flushes of records. */
  journal_spare_step_bytes: 256 * 1024,
  /** How long the journal waits for a file descriptor before the process ends. */
  journal_descriptor_wait_ms_max: 60_000,
  /** After a flush of at least this time, flushes overlap. */
  journal_slow_flush_ms: 2,
  /** Flushes of the journal at a time: libuv's pool has four threads. */
  journal_flushes_max: 4,
  /** A flush that takes twice as long as the last one, and at least this long, is done by the journal thread itself. */
  journal_overdue_ms_min: 20,
  /** Records that a start brings into the stores at a time: a server lets no more wait (`overlay_bytes_max`). */
  journal_applied_bytes_max: 64 * 1024 * 1024,
  journal_record_bytes_max: 64 * 1024 * 1024,
  /**
   * Memory shared with the journal thread, a power of two. Records that do not fit wait in the main thread; one of more
   * than an eighth is handed over in memory of its own.
   */
  journal_ring_bytes: 2 * 1024 * 1024,

  // Descriptors (D43)
  /** Numbers at the end of the process's limit that no connection and no file of a request takes. */
  descriptors_reserved: 256,
  /** Where the limit is low, the reserve is this share of it. */
  descriptors_reserved_share: 0.25,
  /** Where the system has a higher limit, or none, the server counts with this one. */
  descriptors_max: 1024 * 1024,
  /** Refused connections are counted, and logged once in this time. */
  connections_refused_log_ms: 60_000,

  // Requests per time (D28)
  rate_api_per_minute: 200,
  rate_api_burst: 1000,
  rate_failed_logins_per_minute: 10,
  rate_anonymous_per_minute: 100,
  rate_buckets_max: 100_000,
  password_hashes_concurrent_max: 2,
  password_hashes_waiting_max: 100,

  // Shutdown
  drain_sockets_per_batch: 500,
  /**
   * If the sockets would need more batches than this, the batches are larger, so that the shutdown finishes in time.
   */
  drain_batches_max: 100,
  drain_pause_ms: 20,
  shutdown_ms_max: 4500,
  /**
   * A transaction of the checkpoint thread has that long to end before the process exits; then the process is killed. So
   * has a thread that is being started.
   */
  exit_wait_ms_max: 2000,

  // The clock (D26)
  /** A larger jump ahead is accepted only after the clock has stayed there for `clock_jump_lasting_ms`. */
  clock_jump_ms_max: 5 * 60 * 1000,
  clock_jump_lasting_ms: 2 * 60 * 1000,
} as const;
