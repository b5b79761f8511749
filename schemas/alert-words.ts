/** Alert words: words and phrases that a person wants to be told of (public API: alert words). Case does not matter. */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";

const words = { alert_words: Type.Array(Type.String()) };

export const getAlertWords = defineEndpoint({
  operationId: "get-alert-words",
  method: "GET",
  path: "/users/me/alert_words",
  authentication: "user",
  effectiveness: "read",
  summary: "The caller's alert words, in order of the alphabet.",
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
  summary: "Adds alert words; those that are there already are ignored.",
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
  summary: "Removes alert words; those that are not there are ignored.",
  params: { alert_words: Type.Array(Type.String(), { maxItems: limits.alert_words_per_user_max }) },
  ok: words,
  errors: [],
});
