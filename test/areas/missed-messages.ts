/** Missed messages in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";

export const missedMessagesCases = defineCases({
  draws: {
    "missed-messages.collect": (world) =>
      command(
        { actor: "realm" },
        "missed-messages.collect",
        { messageId: world.message(), afterUserId: world.user() },
        null,
      ),
    "missed-messages.due": null,
  },
});
