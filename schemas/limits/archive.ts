/** Limits of the archive of the journal (S3). */
export const archiveLimits = {
  /** How long a record waits at most until its copy begins. */
  archive_interval_ms: 1000,
  /** Pauses after a failure grow to this. */
  archive_retry_ms_max: 60_000,
  /** Records that wait for an archive that cannot be written; beyond it, the journal continues without them. */
  archive_backlog_bytes_max: 256 * 1024 * 1024,
  /** Records are copied in files of this size. */
  archive_file_bytes: 4 * 1024 * 1024,
  /** So many smaller files are replaced by one. */
  archive_small_files_max: 60,
  /** New bases are made after so many bytes of records, because a restore has to apply them. */
  archive_base_records_bytes_max: 2 * 1024 * 1024 * 1024,
  archive_base_hours_default: 24,
  archive_base_hours_max: 24 * 365,
  archive_days_default: 14,
  archive_days_max: 3650,
  /** How long a stop waits for the last records to be copied. The next start copies the rest. */
  archive_end_ms_max: 1500,
  /** A restore applies records to an organization in transactions of this size. */
  archive_restore_bytes: 8 * 1024 * 1024,
} as const;
