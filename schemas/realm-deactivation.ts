/** Deactivation of an organization; only its operator can reactivate it (public API: /realm/deactivate). */

import { defineArea, defineCommands } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";

export const deactivateRealm = defineEndpoint({
  operationId: "deactivate-realm",
  method: "POST",
  path: "/realm/deactivate",
  authentication: "user",
  effectiveness: "durable",
  summary: "Deactivates the organization: all requests are rejected. Nothing is deleted. Owners only.",
  params: {},
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

/** Parameters of its commands, by type. */
export interface RealmDeactivationCommands {
  "realm.deactivate": Record<string, never>;
  "realm.reactivate": Record<string, never>;
}

export const realmDeactivationArea = defineArea({
  endpoints: [deactivateRealm],
  commands: defineCommands<RealmDeactivationCommands>(),
});
