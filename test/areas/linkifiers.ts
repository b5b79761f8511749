/** Linkifiers in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import type { World } from "../sim/world.ts";
import { defineCases } from "./area.ts";
import { order, realm } from "./draws.ts";
import { turned } from "./lessons.ts";
import { reduced } from "./lists.ts";
import { freshName, made, must } from "./make.ts";

function linkifier(world: World) {
  const name = world.oneOfFew();
  return { pattern: `#${name}-(?P<id>[0-9]+)`, urlTemplate: `https://example.com/${name}/{id}` };
}

export const linkifiersCases = defineCases({
  audiences: {
    administrators: [
      "add-linkifier",
      "update-linkifier",
      "remove-linkifier",
      "reorder-linkifiers",
      "preview-linkifier",
    ],
    accounts: ["get-linkifiers"],
  },
  fuzz: {
    things: ["linkifier", "linkifiers"],
    meanings: {
      filter_id: "linkifier",
      ordered_linkifier_ids: "linkifiers",
    },
    learned: {
      "add-linkifier": ({ id }) => [["linkifier", id]],
      "get-linkifiers": ({ linkifiers }) => [["linkifiers", turned(linkifiers)]],
    },
  },
  draws: {
    "linkifier.add": (world) => command(realm, "linkifier.add", linkifier(world), world.administrator()),
    "linkifier.update": (world) =>
      command(realm, "linkifier.update", { ...linkifier(world), id: world.id("linkifiers") }, world.administrator()),
    "linkifier.remove": (world) =>
      command(realm, "linkifier.remove", { id: world.id("linkifiers") }, world.administrator()),
    "linkifier.reorder": (world) =>
      command(realm, "linkifier.reorder", { order: order(world, "linkifiers") }, world.administrator()),
  },
  shared: {
    filter_id: (client) => {
      const linkifier = { pattern: `#${freshName()}-(?P<id>[0-9]+)`, url_template: "https://example.com/{id}" };
      return made(client.post("/realm/filters", linkifier), "id");
    },
  },
  forms: {
    "update-linkifier": () => ({
      pattern: `#${freshName()}(?P<id>[0-9]+)`,
      url_template: "https://example.com/{id}",
    }),
  },
  lists: {
    appliers: { realm_linkifiers: reduced },
    keys: { realm_linkifiers: "ordered" },
    play: async (owner) => {
      const linkifier = { pattern: "#(?P<id>[0-9]+)", url_template: "https://example.com/{id}" };
      await must(owner.post("/realm/filters", linkifier));
    },
  },
  state: { realm_linkifiers: ["realm_linkifiers"] },
});
