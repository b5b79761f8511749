/** POST /realm/deactivate (public API). */
import { command } from "../../../actors/protocol/decision.ts";
import { deactivateRealm } from "../../../schemas/realm-deactivation.ts";
import { bind, requireCaller } from "../calls.ts";

export const realmDeactivationRoutes = [
  bind(deactivateRealm, (call) =>
    call.realm.dispatcher.ask(
      command({ actor: "realm" }, "realm.deactivate", {}, requireCaller(call).id),
      call.idempotencyKey,
    ),
  ),
];
