/** Channel folders in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { textOf } from "../sim/world.ts";
import { defineCases } from "./area.ts";
import { order, realm } from "./draws.ts";
import { turned } from "./lessons.ts";
import { reduced } from "./lists.ts";
import { freshName, made, must } from "./make.ts";

export const channelFoldersCases = defineCases({
  audiences: {
    administrators: ["create-channel-folder", "patch-channel-folders", "update-channel-folder"],
    accounts: ["get-channel-folders"],
  },
  fuzz: {
    things: ["folders"],
    meanings: {
      "patch-channel-folders order": "folders",
    },
    learned: {
      "get-channel-folders": ({ channel_folders }) => [["folders", turned(channel_folders)]],
    },
  },
  draws: {
    "channel-folder.create": (world) =>
      command(realm, "channel-folder.create", { name: world.name(), description: textOf("d") }, world.administrator()),
    "channel-folder.update": (world) => {
      const change = {
        name: world.maybe(world.name()),
        description: world.maybe(textOf("e")),
        isArchived: world.maybe(world.flip()),
      };
      const params = { folderId: world.id("channelFolders"), ...change };
      return command(realm, "channel-folder.update", params, world.administrator());
    },
    "channel-folder.reorder": (world) =>
      command(realm, "channel-folder.reorder", { order: order(world, "channelFolders") }, world.administrator()),
  },
  shared: {
    channel_folder_id: (client) =>
      made(client.post("/channel_folders/create", { name: freshName(), description: "" }), "channel_folder_id"),
  },
  forms: { "update-channel-folder": () => ({ name: freshName() }) },
  lists: {
    appliers: {
      channel_folders: () => undefined,
      channel_folder: reduced,
    },
    keys: { channel_folders: "any order" },
    play: async (owner) => {
      const ids: number[] = [];
      for (const name of ["first", "second"]) {
        ids.push((await must(owner.post("/channel_folders/create", { name, description: "" }))).channel_folder_id);
      }
      await must(owner.patch(`/channel_folders/${ids[0]}`, { name: "renamed" }));
      await must(owner.patch("/channel_folders", { order: [...ids].reverse() }));
    },
  },
  state: { channel_folders: ["channel_folders"] },
});
