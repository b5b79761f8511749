/** The alert words of a person, as clients know them and as the table keeps them: by the word without its case. */
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type { View } from "./view.ts";

/** Words as they were written, by their folded form, in order of it. */
export function alertWordsOf(view: View, userId: number): Map<string, string> {
  const range = { start: [userId], end: [userId + 1], limit: limits.alert_words_per_user_max };
  return new Map(view.rows("alertWords", range).map(({ key, row }) => [key[1], row.word]));
}

/** What is given as words, trimmed, by folded form; blank ones are none. Of two spellings the last stays. */
export function foldWords(given: readonly string[]): Map<string, string> {
  const words = given.map((word) => word.trim()).filter((word) => word !== "");
  return new Map(words.map((word) => [fold(word), word]));
}
