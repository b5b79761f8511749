/** A user's alert words, as clients see them and as the table stores them: keyed by the folded word. */

import { fold } from "../schemas/fold.ts";
import type { UserId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import type { View } from "./view.ts";

/** Words as the user wrote them, by their folded form and in its order. */
export function alertWordsOf(view: View, userId: UserId): Map<string, string> {
  const range = { start: [userId], end: [userId + 1], limit: limits.alert_words_per_user_max };
  return new Map(view.rows("alertWords", range).map(({ key, row }) => [key[1], row.word]));
}

/** Trims words and keys them by folded form, without blank ones. The last one of two spellings wins. */
export function foldWords(given: readonly string[]): Map<string, string> {
  const words = given.map((word) => word.trim()).filter((word) => word !== "");
  return new Map(words.map((word) => [fold(word), word]));
}
