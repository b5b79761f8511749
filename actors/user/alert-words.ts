/**
 * A user's own alert words (public API: add and remove), unique regardless of case. Both requests answer with the whole
 * list.
 */

import { alertWordsOf, foldWords } from "../../domain/alert-words.ts";
import { checkLine, compareText } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, type Effect, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";

export function addAlertWords(user: UserRecord, params: Params<"alert-words.add">, view: View): Outcome {
  for (const word of params.words) {
    const refused = checkLine("alert word", word.trim());
    if (refused !== null) return refused;
  }
  const words = alertWordsOf(view, user.id);
  const added = [...foldWords(params.words)].filter(([folded]) => !words.has(folded));
  if (words.size + added.length > limits.alert_words_per_user_max) return refuse.badRequest("Too many alert words");
  const writes = added.map(([folded, word]) => effects.put("alertWords", [user.id, folded], { word }));
  for (const [folded, word] of added) words.set(folded, word);
  return changed(user.id, words, writes);
}

export function removeAlertWords(user: UserRecord, params: Params<"alert-words.remove">, view: View): Outcome {
  const words = alertWordsOf(view, user.id);
  const removed = [...foldWords(params.words).keys()].filter((folded) => words.delete(folded));
  const writes = removed.map((folded) => effects.remove("alertWords", [user.id, folded]));
  return changed(user.id, words, writes);
}

/** @param words the list after the change, by case-folded form */
function changed(userId: UserId, words: ReadonlyMap<string, string>, writes: readonly Effect[]): Outcome {
  const list = [...words].sort(([a], [b]) => compareText(a, b)).map(([, word]) => word);
  if (writes.length === 0) return done({ alert_words: list }, []);
  const event = effects.emit("alert_words", { alert_words: list }, { to: "users", ids: [userId] });
  return done({ alert_words: list }, [...writes, event]);
}

export const alertWordsDecisions = {
  "alert-words.add": forUser(addAlertWords),
  "alert-words.remove": forUser(removeAlertWords),
} as const;
