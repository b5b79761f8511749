/**
 * An organization ends and comes back (public API: /realm/deactivate; `cli reactivate-realm`). Its data stays as it is; who shows a key
 * is told REALM_DEACTIVATED (D1), and what is due meanwhile is carried out unseen.
 */
import { refuse } from "../../schemas/errors.ts";
import { roles } from "../../schemas/types.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";

export function deactivateRealm(_context: unknown, asked: Command<"realm.deactivate">, view: View): Outcome {
  const caller = callerOf(asked, view);
  if (caller !== null && caller.role !== roles.owner) return refuse.ownerRequired();
  if (view.realm.deactivatedAt !== null) return done({}, []);
  return done({}, [
    effects.put("realm", "realm", { ...view.realm, deactivatedAt: view.now }),
    effects.emit("realm", { op: "deactivated", realm_id: view.realm.id }, { to: "realm" }),
  ]);
}

/** Only the operator's: nobody of the organization is let in to ask for it. */
export function reactivateRealm(_context: unknown, asked: Command<"realm.reactivate">, view: View): Outcome {
  if (asked.callerId !== null) return refuse.ownerRequired();
  if (view.realm.deactivatedAt === null) return done({}, []);
  return done({}, [effects.put("realm", "realm", { ...view.realm, deactivatedAt: null })]);
}
