/** Welcome tests in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";

export const welcomeTestsCases = defineCases({
  audiences: {
    administrators: ["test-welcome-bot-custom-message"],
  },
  draws: {
    "welcome.test": (world) => {
      const id = world.administrator();
      return command({ actor: "direct", userIds: [1, id] }, "welcome.test", { text: world.token() }, id);
    },
  },
});
