/** `realm` events: new values of the organization's settings and permissions (OpenAPI, /events). */
import type { StoredBody } from "../../schemas/events.ts";
import type { NewRealmValues } from "../../schemas/realm-settings.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/** @param data new values by name, without the `realm_` prefix used in the register state */
export function realmEventBody(data: NewRealmValues): Extract<StoredBody<"realm">, { readonly op: "update_dict" }> {
  return { op: "update_dict", property: "default", data };
}

export function realmEvent(data: NewRealmValues): Effect {
  return effects.emit("realm", realmEventBody(data), { to: "realm" });
}
