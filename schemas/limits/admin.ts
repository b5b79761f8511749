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
