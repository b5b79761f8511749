/** POST /realm/deactivate (public API). */
import { command } from "../../../actors/commands.ts";
import { deactivateRealm } from "../../../schemas/realm-deactivation.ts";
import { bind, callerOf } from "../../runtime/calls.ts";

export const realmDeactivationRoutes = [
  bind(deactivateRealm, (call) =>
    call.realm.dispatcher.ask(command({ actor: "realm" }, "realm.deactivate", {}, callerOf(call).id), call.claim),
  ),
];
