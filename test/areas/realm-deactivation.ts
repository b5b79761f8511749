/** Realm deactivation in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { realm } from "./draws.ts";

export const realmDeactivationCases = defineCases({
  audiences: {
    accounts: ["deactivate-realm"],
  },
  draws: {
    "realm.deactivate": (world) => command(realm, "realm.deactivate", {}, world.administrator()),
    "realm.reactivate": () => command(realm, "realm.reactivate", {}, null),
  },
  weights: { "realm.deactivate": 0.05 },
});
