/** Attachments in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { attachmentsOf, uploaded } from "../support/attachments.ts";
import { defineCases } from "./area.ts";
import { realm, self } from "./draws.ts";

export const attachmentsCases = defineCases({
  audiences: {
    spectators: ["get-file-temporary-url"],
    accounts: ["upload-file", "get-attachments", "remove-attachment"],
  },
  fuzz: {
    things: ["attachment", "file realm", "file"],
    meanings: {
      attachment_id: "attachment",
      realm_id_str: "file realm",
      filename: "file",
    },
    learned: {
      "get-attachments": ({ attachments }) => [["attachment", attachments[0]?.id]],
      "upload-file": ({ url }) => {
        const [, realm, file] = /^\/user_uploads\/(\d+)\/(.+)$/.exec(url) ?? [];
        return [
          ["file realm", realm],
          ["file", file === undefined ? undefined : decodeURIComponent(file)],
        ];
      },
    },
  },
  draws: {
    "attachment.add": (world) => {
      const id = world.user();
      const file = {
        file: world.hex(32),
        name: "a.txt",
        size: 10 + world.random.below(100),
        image: null,
        sha256: world.hex(32),
        realmQuotaBytes: null,
        personQuotaBytes: null,
      };
      return command(self(id), "attachment.add", file, id);
    },
    "attachment.remove": (world) => {
      const id = world.user();
      return command(self(id), "attachment.remove", { attachmentId: world.id("attachments") }, id);
    },
    "attachment.expire": (world) =>
      command(realm, "attachment.expire", { attachmentId: world.id("attachments"), unclaimedSince: 0 }, null),
    "attachments.recheck": (world) => {
      const attachmentIds = [world.id("attachments")];
      return command(realm, "attachments.recheck", { attachmentIds }, null);
    },
  },
  owned: {
    attachment_id: async (client) => {
      await uploaded(client, "x");
      return (await attachmentsOf(client)).at(-1)?.id;
    },
  },
});
