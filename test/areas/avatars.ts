/** Avatars in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { self } from "./draws.ts";

export const avatarsCases = defineCases({
  audiences: {
    accounts: ["upload-avatar", "delete-avatar"],
  },
  draws: {
    "user.avatar.set": (world) => {
      const id = world.user();
      return command(self(id), "user.avatar.set", { file: world.maybe(`${world.hex(32)}.png`) }, id);
    },
  },
  ofPeople: ["user.avatar.set"],
});
