/** Limits of the operator's listener and of the command line. */
export const adminLimits = {
  /** A body of `POST /admin/...`. */
  admin_body_bytes_max: 16 * 1024 * 1024,
  admin_operations_concurrent_max: 8,
  /** Commands of one operation that wait together, so that their turns share a flush and requests run between them. */
  admin_commands_at_once: 100,
  admin_realms_created_max: 10_000,
  /** Progress that a client has not read; beyond it, lines of progress are left out. */
  admin_unread_bytes_max: 64 * 1024,
  /** How long the command line waits for another process to release the data folder, e.g. a server that starts or stops. */
  admin_wait_ms_max: 5000,
  backup_keep_default: 7,
  backup_keep_max: 1000,
} as const;
