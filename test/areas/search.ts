/** The search index in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";

export const searchCases = defineCases({
  draws: { "search.rebuild": () => command({ actor: "realm" }, "search.rebuild", {}, null) },
  weights: { "search.rebuild": 0.1 },
});
