/** In DATA_DIR: when a backup last succeeded, for the metric. A restored folder has none. */
export const lastBackupName = "last-backup.json";
