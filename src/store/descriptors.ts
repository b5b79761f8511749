/** The process, or the system, has no file descriptor left: a passing state, not a fault of the disk. */
export function isOutOfDescriptors(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  // LMDB has no codes.
  return code === "EMFILE" || code === "ENFILE" || (code === undefined && /too many open files/i.test(message));
}
