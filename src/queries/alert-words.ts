/** Reads a user's alert words (public API: get-alert-words, register). */

import { alertWordsOf } from "../../domain/alert-words.ts";
import type { View } from "../../domain/view.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Section } from "./state-section.ts";

export function listAlertWords(view: View, user: UserRecord): string[] {
  return [...alertWordsOf(view, user.id).values()];
}

export const alertWordsState: Section<"alert_words"> = (view, user) => ({ alert_words: listAlertWords(view, user) });
