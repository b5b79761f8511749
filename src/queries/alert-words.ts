/** A person's alert words as they are read (public API: get-alert-words, register). */
import type { UserRecord } from "../../schemas/records.ts";
import { alertWordsOf } from "../domain/alert-words.ts";
import type { View } from "../domain/view.ts";
import type { Section } from "./state-section.ts";

export function listAlertWords(view: View, user: UserRecord): string[] {
  return [...alertWordsOf(view, user.id).values()];
}

export const alertWordsState: Section = (view, user) => ({ alert_words: listAlertWords(view, user) });
