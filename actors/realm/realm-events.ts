/** `realm` events: how clients learn of new values of the organization's settings and permissions (OpenAPI, /events). */
import { type Answer, type Effect, effects } from "../effects.ts";

/** @param data new values by name, without the prefix that they have in the state */
export function realmEventBody(data: Readonly<Record<string, unknown>>): Answer {
  return { op: "update_dict", property: "default", data };
}

/** For everybody. */
export function realmEvent(data: Readonly<Record<string, unknown>>): Effect {
  return effects.emit("realm", realmEventBody(data), { to: "realm" });
}
