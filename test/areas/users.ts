/** Users in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import type { World } from "../sim/world.ts";
import { commands } from "../support/runtime.ts";
import { defineCases, forgetsSubscriptions } from "./area.ts";
import { realm } from "./draws.ts";

/** A user who may be removed: the first few mostly stay, or the run would end early. */
function expendable(world: World): number {
  return world.random.chance(0.2) ? world.user() : world.id("users");
}

export const usersCases = defineCases({
  audiences: {
    spectators: ["get-users"],
    humans: ["deactivate-own-user"],
    administrators: ["create-user"],
    accounts: [
      "get-own-user",
      "get-user",
      "get-user-by-email",
      "update-user",
      "update-user-by-email",
      "deactivate-user",
      "reactivate-user",
    ],
  },
  draws: {
    "user.create": (world) => commands.createUser(`${world.name()}@example.com`, world.administrator()),
    "user.update": null,
    "user.set-role": null,
    "user.deactivate": (world) =>
      command(
        realm,
        "user.deactivate",
        { userId: expendable(world), comment: world.maybe("bye") },
        world.administrator(),
      ),
    "user.deactivate-self": (world) => command(realm, "user.deactivate-self", {}, expendable(world)),
    "user.reactivate": (world) => command(realm, "user.reactivate", { userId: world.user() }, world.administrator()),
    "user.grant-email-changes": () =>
      command(realm, "user.grant-email-changes", { email: "owner@localhost", isGranted: true }, null),
  },
  weights: { "user.deactivate": 0.3, "user.deactivate-self": 0.3, "user.reactivate": 5 },
  facts: { readers: { "user.deactivate": () => forgetsSubscriptions } },
  restricted: {
    administrators: [
      { operationId: "update-user", method: "PATCH", path: "/users/{other}", params: { full_name: "Renamed" } },
      { operationId: "update-user-by-email", method: "PATCH", path: "/users/{email}", params: { full_name: "Again" } },
      { operationId: "deactivate-user", method: "DELETE", path: "/users/{other}", params: {} },
      { operationId: "reactivate-user", method: "POST", path: "/users/{gone}/reactivate", params: {} },
    ],
    owners: [
      { operationId: "update-user", method: "PATCH", path: "/users/{other}", params: { role: 100 } },
      { operationId: "deactivate-user", method: "DELETE", path: "/users/{owner}", params: {} },
    ],
  },
});
