/** Realm pictures in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { realm } from "./draws.ts";

export const realmPicturesCases = defineCases({
  audiences: {
    administrators: ["upload-realm-icon", "delete-realm-icon", "upload-realm-logo", "delete-realm-logo"],
    accounts: ["get-realm-icon", "get-realm-logo"],
  },
  draws: {
    "realm.picture.set": (world) => {
      const name = world.random.pick(["icon", "logo", "night_logo"] as const);
      const params = { name, file: world.maybe(`${world.hex(32)}.png`) };
      return command(realm, "realm.picture.set", params, world.administrator());
    },
  },
});
