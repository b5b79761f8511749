/** The end of an organization, as long as its operator does not take it back (public API: /realm/deactivate). */
import { defineEndpoint } from "./endpoint.ts";

export const deactivateRealm = defineEndpoint({
  operationId: "deactivate-realm",
  method: "POST",
  path: "/realm/deactivate",
  authentication: "user",
  effectiveness: "durable",
  summary: "Deactivates the organization: nobody is let in any more; owners only. Nothing is deleted.",
  params: {},
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});
