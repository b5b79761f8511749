/** Alert words: words and phrases that notify a user (public API: alert words), compared case-insensitively. */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import { sentAsStored } from "./event.ts";
import type { UserId } from "./ids.ts";
import { OtherText } from "./person-marks.ts";

const limits = {
  alert_word_code_points_max: 100,
  alert_words_per_user_max: 1000,
} as const;

const words = { alert_words: Type.Array(OtherText) };

export const getAlertWords = defineEndpoint({
  operationId: "get-alert-words",
  method: "GET",
  path: "/users/me/alert_words",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the caller's alert words in alphabetical order.",
  params: {},
  ok: words,
  errors: [],
});

export const addAlertWords = defineEndpoint({
  operationId: "add-alert-words",
  method: "POST",
  path: "/users/me/alert_words",
  authentication: "user",
  effectiveness: "durable",
  summary: "Adds alert words; existing ones are ignored.",
  params: {
    alert_words: Type.Array(Type.String({ maxLength: limits.alert_word_code_points_max }), {
      maxItems: limits.alert_words_per_user_max,
    }),
  },
  ok: words,
  errors: [],
});

export const removeAlertWords = defineEndpoint({
  operationId: "remove-alert-words",
  method: "DELETE",
  path: "/users/me/alert_words",
  authentication: "user",
  effectiveness: "durable",
  summary: "Removes alert words; unknown ones are ignored.",
  params: { alert_words: Type.Array(Type.String(), { maxItems: limits.alert_words_per_user_max }) },
  ok: words,
  errors: [],
});

export interface AlertWordRecord {
  readonly word: string;
}

/** Parameters of its commands, by type. */
export interface AlertWordsCommands {
  "alert-words.add": { readonly words: readonly string[] };
  "alert-words.remove": { readonly words: readonly string[] };
}

/** Their replies, by type; other commands reply without fields. */
export interface AlertWordsReplies {
  readonly "alert-words.add": ResultOf<typeof addAlertWords>;
  readonly "alert-words.remove": ResultOf<typeof removeAlertWords>;
}

export const alertWordsArea = defineArea({
  endpoints: [getAlertWords, addAlertWords, removeAlertWords],
  commands: defineCommands<AlertWordsCommands, AlertWordsReplies>(),
  state: { alert_words: words },
  tables: {
    alertWords: defineTable<readonly [userId: UserId, foldedWord: string], AlertWordRecord>({
      fields: ["word"],
    }),
  },
  events: {
    alert_words: sentAsStored({ "": { alert_words: Type.Array(OtherText) } }),
  },
  limits,
});
