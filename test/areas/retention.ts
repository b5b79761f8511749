/** Retention in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";

export const retentionCases = defineCases({
  draws: {
    "retention.check": () => command({ actor: "retention" }, "retention.check", {}, null),
    "retention.due": (world) => command({ actor: "retention" }, "retention.due", { dueAt: world.later() }, null),
    "retention.sweep": () => command({ actor: "retention" }, "retention.sweep", {}, null),
    "retention.confirm": () => command({ actor: "retention" }, "retention.confirm", {}, null),
    "retention.abandon": () => command({ actor: "retention" }, "retention.abandon", {}, null),
  },
});
