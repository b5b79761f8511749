/** Emoji in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { picture, upload } from "../support/pictures.ts";
import { defineCases } from "./area.ts";
import { realm } from "./draws.ts";
import { placeIn } from "./lessons.ts";
import { reduced } from "./lists.ts";
import { must } from "./make.ts";

export const emojiCases = defineCases({
  audiences: {
    accounts: ["upload-custom-emoji", "get-custom-emoji", "deactivate-custom-emoji"],
  },
  fuzz: {
    things: ["emoji"],
    meanings: {
      "deactivate-custom-emoji emoji_name": "emoji",
    },
    learned: {
      "upload-custom-emoji": (_body, target) => [["emoji", placeIn(target, /^\/realm\/emoji\/([^?]+)/)]],
    },
  },
  draws: {
    "emoji.add": (world) => {
      const file = `${world.hex(32)}.png`;
      return command(realm, "emoji.add", { name: world.oneOfFew(), file, stillFile: null }, world.user());
    },
    "emoji.deactivate": (world) => {
      const name = world.row("realmEmoji")?.row.name ?? world.oneOfFew();
      return command(realm, "emoji.deactivate", { name }, world.administrator());
    },
  },
  lists: {
    appliers: { realm_emoji: reduced },
    keys: { realm_emoji: "ordered" },
    play: async (owner) => {
      await must(upload(owner, "/realm/emoji/square", await picture("png", 64, 64)));
    },
  },
  state: { realm_emoji: ["realm_emoji"] },
});
