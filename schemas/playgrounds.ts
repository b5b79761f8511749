/** Code playgrounds: where code of a language can be run (spec 2.10, 4.18; public API: add-code-playground, remove-code-playground). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Id } from "./types.ts";

export const addPlayground = defineEndpoint({
  operationId: "add-code-playground",
  method: "POST",
  path: "/realm/playgrounds",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Adds a code playground (spec 4.18); organization administrators only. `url_template` since level 196.",
  params: {
    name: Type.String({ maxLength: limits.playground_name_code_points_max }),
    /** Kept as given: clients compare it with the language of a block of code. */
    pygments_language: Type.String({ maxLength: limits.code_language_code_points_max }),
    url_template: Type.String({ maxLength: limits.url_code_points_max }),
  },
  ok: { id: Id },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const removePlayground = defineEndpoint({
  operationId: "remove-code-playground",
  method: "DELETE",
  path: "/realm/playgrounds/{playground_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Removes a code playground; organization administrators only.",
  params: { playground_id: Id },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});
