/** The first run, in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { realm } from "./draws.ts";

export const setupCases = defineCases({
  draws: {
    /** The organizations of the simulation are set up, so every secret is wrong. */
    "realm.set-up": (world) => {
      const person = { name: world.name(), fullName: world.name(), email: "first@example.com", passwordHash: "hash" };
      return command(realm, "realm.set-up", { ...person, secret: world.hex(16), channelNames: [world.name()] }, null);
    },
  },
});
