/** Navigation views in the tests that cover every area. */
import { command } from "../../actors/protocol/commands.ts";
import type { World } from "../sim/world.ts";
import { defineCases } from "./area.ts";
import { self } from "./draws.ts";
import { reduced } from "./lists.ts";
import { must } from "./make.ts";

function fragment(world: World): string {
  return world.random.pick(["inbox", "narrow/is/starred", "narrow/is/dm", "recent"]);
}

/** Mostly an existing one. */
function view(world: World): { readonly userId: number; readonly fragment: string } {
  return world.row("navigationViews")?.row ?? { userId: world.user(), fragment: fragment(world) };
}

export const navigationViewsCases = defineCases({
  audiences: {
    accounts: ["get-navigation-views", "add-navigation-view", "edit-navigation-view", "remove-navigation-view"],
  },
  fuzz: {
    things: ["view"],
    meanings: {
      "remove-navigation-view fragment": "view",
    },
    learned: {
      "get-navigation-views": ({ navigation_views }) => [["view", navigation_views.at(-1)?.fragment]],
    },
  },
  draws: {
    "navigation-views.add": (world) => {
      const id = world.user();
      const params = { fragment: fragment(world), isPinned: world.flip(), name: world.maybe("view") };
      return command(self(id), "navigation-views.add", params, id);
    },
    "navigation-views.update": (world) => {
      const { userId, fragment } = view(world);
      const params = { fragment, isPinned: world.maybe(world.flip()), name: world.maybe("other") };
      return command(self(userId), "navigation-views.update", params, userId);
    },
    "navigation-views.remove": (world) => {
      const { userId, fragment } = view(world);
      return command(self(userId), "navigation-views.remove", { fragment }, userId);
    },
  },
  lists: {
    appliers: {
      navigation_views: () => undefined,
      navigation_view: reduced,
    },
    keys: { navigation_views: "any order" },
    play: async (owner) => {
      for (const fragment of ["narrow/topic/lunch", "narrow/topic/dinner"]) {
        await must(owner.post("/navigation_views", { fragment, is_pinned: true, name: fragment }));
        await must(owner.patch(`/navigation_views/${fragment}`, { is_pinned: false }));
      }
      await must(owner.delete("/navigation_views/narrow/topic/lunch"));
    },
  },
  state: { navigation_views: ["navigation_views"] },
});
