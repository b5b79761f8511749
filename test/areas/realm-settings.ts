/** Realm settings in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { commands } from "../support/runtime.ts";
import { defineCases } from "./area.ts";
import { realm } from "./draws.ts";

export const realmSettingsCases = defineCases({
  audiences: {
    administrators: ["update-realm"],
  },
  draws: {
    "realm.change-settings": (world) => {
      const settings = world.random.pick([
        { name: world.name() },
        { waiting_period_threshold: world.random.below(3) },
        { message_retention_days: world.random.pick([-1, 30]) },
        { moderation_request_channel_id: world.privateChannel() },
      ]);
      return command(
        realm,
        "realm.change-settings",
        { settings, groups: {}, isWebPublicAllowed: false },
        world.administrator(),
      );
    },
    "realm.end-waiting-periods": () => command(realm, "realm.end-waiting-periods", {}, null),
    "realm.create": () => commands.throwing(),
  },
  weights: { "realm.create": 0.3 },
});
