/** Settings in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { realm, self } from "./draws.ts";

export const settingsCases = defineCases({
  audiences: {
    humans: ["update-settings", "update-display-settings", "update-notification-settings"],
    administrators: ["update-realm-user-settings-defaults"],
  },
  draws: {
    "user.change-settings": (world) => {
      const id = world.user();
      const settings = {
        color_scheme: world.random.pick([1, 2, 3]),
        presence_enabled: world.flip(),
        enable_drafts_synchronization: true,
      };
      const change = { settings, fullName: world.random.chance(0.1) ? world.name() : null, password: null };
      return command(self(id), "user.change-settings", change, id);
    },
    "realm.change-settings-defaults": (world) =>
      command(
        realm,
        "realm.change-settings-defaults",
        { settings: { enable_sounds: world.flip() } },
        world.administrator(),
      ),
  },
  state: {
    user_settings: ["user_settings"],
    realm_user_settings_defaults: ["realm_user_settings_defaults"],
  },
  weights: { "user.change-settings": 3 },
  ofPeople: ["user.change-settings"],
  facts: {
    readers: {
      "user.change-settings": ({ params, callerId }) => ({
        claims: Object.entries(params.settings)
          .filter(([name]) => name === "color_scheme")
          .map(([name, value]) => ({ key: ["setting", callerId ?? 0, name], value })),
      }),
    },
    actual: { setting: (replica, userId, name) => replica.get("users", userId)?.settings[String(name)] ?? 1 },
  },
});
