/** What an account keeps in its storage (public API: /bot_storage). */
import { limits } from "../../schemas/limits.ts";
import type { View } from "../domain/view.ts";

/** @returns null when one of the keys does not exist */
export function readBotStorage(
  view: View,
  userId: number,
  hashes: readonly string[] | null,
): Readonly<Record<string, string>> | null {
  if (hashes === null) {
    const range = { start: [userId], end: [userId + 1], limit: limits.bot_storage_entries_max };
    return Object.fromEntries(view.rows("botStorage", range).map(({ row }) => [row.key, row.value]));
  }
  const rows = [...new Set(hashes)].map((hash) => view.row("botStorage", [userId, hash]));
  if (rows.includes(undefined)) return null;
  return Object.fromEntries(rows.flatMap((row) => (row === undefined ? [] : [[row.key, row.value]])));
}
