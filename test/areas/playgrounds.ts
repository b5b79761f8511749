/** Playgrounds in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { realm } from "./draws.ts";
import { reduced } from "./lists.ts";
import { freshName, made, must } from "./make.ts";

export const playgroundsCases = defineCases({
  audiences: {
    administrators: ["add-code-playground", "remove-code-playground"],
  },
  fuzz: {
    things: ["playground"],
    meanings: {
      playground_id: "playground",
    },
    learned: {
      "add-code-playground": ({ id }) => [["playground", id]],
    },
  },
  draws: {
    "playground.add": (world) => {
      const params = { name: world.oneOfFew(), language: "Python", urlTemplate: "https://example.com/{code}" };
      return command(realm, "playground.add", params, world.administrator());
    },
    "playground.remove": (world) =>
      command(realm, "playground.remove", { id: world.id("playgrounds") }, world.administrator()),
  },
  shared: {
    playground_id: (client) => {
      const playground = { name: freshName(), pygments_language: "Python", url_template: "https://example.com/{code}" };
      return made(client.post("/realm/playgrounds", playground), "id");
    },
  },
  lists: {
    appliers: { realm_playgrounds: reduced },
    keys: { realm_playgrounds: "ordered" },
    play: async (owner) => {
      const playground = { name: "P", pygments_language: "Python", url_template: "https://example.com/{code}" };
      await must(owner.post("/realm/playgrounds", playground));
    },
  },
  state: { realm_playgrounds: ["realm_playgrounds"] },
});
