/**
 * Deactivates and reactivates an organization (public API: /realm/deactivate; `cli reactivate-realm`). Its data is
 * unchanged. Meanwhile requests with a valid API key are rejected with REALM_DEACTIVATED (D1), and timers still fire.
 */

import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import { roles } from "../../schemas/types.ts";
import type { UserRecord } from "../../schemas/users.ts";

import { done, effects, forEither, forServer, type Outcome } from "../protocol/decision.ts";

export function deactivateRealm(caller: UserRecord | null, _params: unknown, view: View): Outcome {
  if (caller !== null && caller.role !== roles.owner) return refuse.ownerRequired();
  const all = [
    effects.put("realm", "realm", { ...view.realm, deactivatedAt: view.now }),
    effects.emit("realm", { op: "deactivated", realm_id: view.realm.id }, { to: "realm" }),
  ];
  return done({}, all, undefined, "deactivated");
}

/** By the operator: no user can authenticate while the organization is deactivated. */
export function reactivateRealm(_params: unknown, view: View): Outcome {
  return done({}, [effects.put("realm", "realm", { ...view.realm, deactivatedAt: null })], undefined, "open");
}

export function isOpenAlready(caller: UserRecord | null): Outcome {
  return caller === null ? done({}, []) : refuse.ownerRequired();
}

export const realmDeactivationDecisions = {
  "realm.deactivate": forEither(deactivateRealm),
  "realm.reactivate": forServer(reactivateRealm),
} as const;
