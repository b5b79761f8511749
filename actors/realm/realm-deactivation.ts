/**
 * Deactivates and reactivates an organization (public API: /realm/deactivate; `cli reactivate-realm`). Its data is
 * unchanged. Meanwhile requests with a valid API key are rejected with REALM_DEACTIVATED (D1), and timers still fire.
 */

import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import { roles } from "../../schemas/types.ts";
import type { Command } from "../protocol/commands.ts";
import { callerOf, done, type Outcome } from "../protocol/decide.ts";
import { effects } from "../protocol/effects.ts";
import type { RealmContext } from "./context.ts";

export function deactivateRealm(
  _context: RealmContext,
  asked: Command<"realm.deactivate">,
  view: View,
): Outcome<RealmContext> {
  const caller = callerOf(asked, view);
  if (caller !== null && caller.role !== roles.owner) return refuse.ownerRequired();
  const all = [
    effects.put("realm", "realm", { ...view.realm, deactivatedAt: view.now }),
    effects.emit("realm", { op: "deactivated", realm_id: view.realm.id }, { to: "realm" }),
  ];
  return done({}, all, { phase: "deactivated" });
}

/** By the operator: no user can authenticate while the organization is deactivated. */
export function reactivateRealm(
  _context: RealmContext,
  _asked: Command<"realm.reactivate">,
  view: View,
): Outcome<RealmContext> {
  return done({}, [effects.put("realm", "realm", { ...view.realm, deactivatedAt: null })], { phase: "open" });
}

export function isOpenAlready(_context: RealmContext, asked: Command<"realm.reactivate">): Outcome<RealmContext> {
  return asked.callerId === null ? done({}, []) : refuse.ownerRequired();
}

export const realmDeactivationDecisions = {
  "realm.deactivate": deactivateRealm,
  "realm.reactivate": reactivateRealm,
} as const;
