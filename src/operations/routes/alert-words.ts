/** Alert words (public API: get, add and remove). */
import { command } from "../../../actors/protocol/decision.ts";
import { alertWordsOf } from "../../../domain/alert-words.ts";
import type { View } from "../../../domain/view.ts";
import { addAlertWords, getAlertWords, removeAlertWords } from "../../../schemas/alert-words.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Section } from "../../queries/state-section.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

function listAlertWords(view: View, user: UserRecord): string[] {
  return [...alertWordsOf(view, user.id).values()];
}

export const alertWordsState: Section<"alert_words"> = (view, user) => ({ alert_words: listAlertWords(view, user) });

interface Words {
  readonly alert_words: readonly string[];
}

export const alertWordRoutes = [
  bind(getAlertWords, (call) => ok({ alert_words: listAlertWords(call.realm.view, requireCaller(call)) })),
  bind(addAlertWords, (call) => ask(call, "alert-words.add")),
  bind(removeAlertWords, (call) => ask(call, "alert-words.remove")),
];

function ask(call: Call<Words>, type: "alert-words.add" | "alert-words.remove") {
  const { id } = requireCaller(call);
  const params = { words: call.params.alert_words };
  return call.realm.dispatcher.ask(command({ actor: "user", id }, type, params, id), call.idempotencyKey);
}
