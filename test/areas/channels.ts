/** Channels in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { commands } from "../support/runtime.ts";
import { defineCases, forgetsSubscriptions, nothing } from "./area.ts";
import { realm } from "./draws.ts";
import { freshName, made } from "./make.ts";

const noChange = {
  description: null,
  newName: null,
  isPrivate: null,
  isWebPublic: null,
  isHistoryPublic: null,
  isDefault: null,
  messageRetentionDays: null,
  isArchived: null,
  folder: null,
  topicsPolicy: null,
  groups: {},
  isWebPublicAllowed: false,
} as const;

export const channelsCases = defineCases({
  audiences: {
    "members and bots": ["create-channel"],
    administrators: ["delete-topic"],
    accounts: [
      "get-stream-email-address",
      "create-big-blue-button-video-call",
      "get-streams",
      "get-stream-by-id",
      "get-stream-id",
      "update-stream",
      "archive-stream",
    ],
  },
  draws: {
    "channel.create": (world) => {
      const request = commands.createChannel(
        world.random.chance(0.7) ? world.name() : world.channelName(),
        world.users(4),
        world.user(),
      );
      const isPrivate = world.random.chance(0.4);
      return { ...request, params: { ...request.params, isPrivate, isHistoryPublic: isPrivate ? world.flip() : null } };
    },
    "channel.update": (world) => {
      const change = {
        ...noChange,
        channelId: world.channel(),
        newName: world.random.chance(0.2) ? world.name() : null,
        isPrivate: world.random.chance(0.2) ? world.flip() : null,
        isHistoryPublic: world.random.chance(0.1) ? world.flip() : null,
        isArchived: world.random.chance(0.2) ? false : null,
        messageRetentionDays: world.random.chance(0.1) ? 30 : null,
        folder: world.random.chance(0.2) ? { id: world.maybe(world.id("channelFolders")) } : null,
      };
      return command(realm, "channel.update", change, world.administrator());
    },
    "channel.archive": (world) =>
      command(
        realm,
        "channel.archive",
        { channelId: world.random.chance(0.1) ? 1 : world.id("channels") },
        world.administrator(),
      ),
    "channel.find-first-message": (world) =>
      command(realm, "channel.find-first-message", { channelId: world.channel() }, null),
    "channels.announce-inactive": (world) =>
      command(realm, "channels.announce-inactive", { since: 0, upTo: world.now(), afterId: 0 }, null),
  },
  shared: {
    stream_id: async (client) => {
      const id = await made(
        client.post("/channels/create", { name: freshName(), subscribers: [client.account?.userId] }),
        "id",
      );
      await client.say(id, "t", "x");
      return id;
    },
  },
  forms: {
    "update-stream": () => ({ description: "changed" }),
    "delete-topic": () => ({ topic_name: "t" }),
  },
  state: { stream: ["streams"] },
  weights: { "channel.create": 2, "channel.archive": 0.4 },
  facts: {
    readers: {
      "channel.create": ({ params }, answer) => {
        const id = answer?.["id"];
        return typeof id !== "number"
          ? nothing
          : { claims: params.subscriberIds.map((userId) => ({ key: ["subscription", id, userId], value: true })) };
      },
      "channel.archive": () => forgetsSubscriptions,
      "channel.update": () => forgetsSubscriptions,
    },
  },
  restricted: {
    administrators: [
      { operationId: "update-stream", method: "PATCH", path: "/streams/{channel}", params: { description: "changed" } },
      { operationId: "archive-stream", method: "DELETE", path: "/streams/{channel}", params: {} },
    ],
  },
});
