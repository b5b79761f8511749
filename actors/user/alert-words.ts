/**
 * A user's own alert words (public API: add and remove), unique regardless of case. Both requests answer with the whole
 * list.
 */

import { alertWordsOf, foldWords } from "../../domain/alert-words.ts";
import { checkLine, compareText } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { Command } from "../protocol/commands.ts";
import { callerOf, done, type Outcome } from "../protocol/decide.ts";
import { type Effect, effects } from "../protocol/effects.ts";

export function addAlertWords(_context: unknown, command: Command<"alert-words.add">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.noSuchUser();
  for (const word of command.params.words) {
    const refused = checkLine("alert word", word.trim());
    if (refused !== null) return refused;
  }
  const words = alertWordsOf(view, user.id);
  const added = [...foldWords(command.params.words)].filter(([folded]) => !words.has(folded));
  if (words.size + added.length > limits.alert_words_per_user_max) return refuse.badRequest("Too many alert words");
  const writes = added.map(([folded, word]) => effects.put("alertWords", [user.id, folded], { word }));
  for (const [folded, word] of added) words.set(folded, word);
  return changed(user.id, words, writes);
}

export function removeAlertWords(_context: unknown, command: Command<"alert-words.remove">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.noSuchUser();
  const words = alertWordsOf(view, user.id);
  const removed = [...foldWords(command.params.words).keys()].filter((folded) => words.delete(folded));
  const writes = removed.map((folded) => effects.remove("alertWords", [user.id, folded]));
  return changed(user.id, words, writes);
}

/** @param words the list after the change, by case-folded form */
function changed(userId: number, words: ReadonlyMap<string, string>, writes: readonly Effect[]): Outcome {
  const list = [...words].sort(([a], [b]) => compareText(a, b)).map(([, word]) => word);
  if (writes.length === 0) return done({ alert_words: list }, []);
  const event = effects.emit("alert_words", { alert_words: list }, { to: "users", ids: [userId] });
  return done({ alert_words: list }, [...writes, event]);
}

export const alertWordsDecisions = {
  "alert-words.add": addAlertWords,
  "alert-words.remove": removeAlertWords,
} as const;
