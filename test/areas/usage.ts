/** Usage in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { realm } from "./draws.ts";

export const usageCases = defineCases({
  audiences: {
    administrators: ["get-usage", "get-realm-statistics"],
  },
  draws: {
    "inputs.persist": (world) => {
      const counts = [{ day: world.random.below(40), userId: world.user(), reports: 1 }];
      return command(realm, "inputs.persist", { counts }, null);
    },
  },
});
