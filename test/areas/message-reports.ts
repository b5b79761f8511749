/** Message reports in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";

export const messageReportsCases = defineCases({
  audiences: {
    accounts: ["report-message"],
  },
  fuzz: {
    meanings: {
      "report-message message_id": "message",
    },
  },
  draws: {
    "message.report": (world) =>
      command(
        { actor: "message", id: world.message() },
        "message.report",
        { reportType: world.random.pick(["spam", "other"]), description: world.random.pick(["", "why"]) },
        world.user(),
      ),
  },
});
