/** Authentication in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { self } from "./draws.ts";

export const authenticationCases = defineCases({
  audiences: {
    everybody: ["fetch-api-key", "dev-fetch-api-key"],
    accounts: ["regenerate-own-api-key"],
  },
  draws: {
    "user.api-key.add": (world) => {
      const id = world.user();
      const login = { fingerprint: world.oneOfFew(), client: "c", address: "a" };
      return command(self(id), "user.api-key.add", { hash: world.hex(16), ...(world.flip() ? { login } : {}) }, id);
    },
    "user.api-key.regenerate": (world) => {
      const id = world.user();
      return command(self(id), "user.api-key.regenerate", { hash: world.hex(16) }, id);
    },
  },
});
