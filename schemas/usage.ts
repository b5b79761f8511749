/** Usage statistics for administrators (spec 4.7, new_user_input; D32): our own, the public API has none. */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { Id } from "./types.ts";

export const getUsage = defineEndpoint({
  operationId: "get-usage",
  method: "GET",
  path: "/realm/usage",
  authentication: "user",
  effectiveness: "read",
  role: "administrator",
  summary: "How often people used a client on one day: reports of presence with `new_user_input`; administrators only.",
  params: {
    /** UTC; today when it is left out. */
    date: Type.Optional(Type.String({ maxLength: 10 })),
    /** Where the last answer ended. */
    after_user_id: Type.Optional(Id),
  },
  ok: {
    date: Type.String(),
    user_input: Type.Record(Type.String(), Type.Integer()),
    found_newest: Type.Boolean(),
  },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});
