/** Message flags in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { personalFlags } from "../../schemas/message-flags.ts";
import { hasTrait } from "../../schemas/message-traits.ts";
import type { World } from "../sim/world.ts";
import { type Consequence, defineCases } from "./area.ts";
import { self } from "./draws.ts";

function flagUpdate(world: World, messageIds: readonly number[]) {
  return {
    op: world.random.pick(["add", "remove"] as const),
    flag: world.random.pick(["read", "starred", "starred", "collapsed"] as const),
    messageIds,
    mustReachAll: world.flip(),
    answer: {},
    countsUpdated: world.flip(),
  };
}

const starred = "starred" as const;

function forgetsStars(callerId: number | null): Consequence {
  return { claims: [], forgets: ([kind, , userId]) => kind === "star" && userId === callerId };
}

export const messageFlagsCases = defineCases({
  audiences: {
    accounts: [
      "update-message-flags",
      "update-message-flags-for-narrow",
      "mark-all-as-read",
      "mark-stream-as-read",
      "mark-topic-as-read",
      "get-read-receipts",
    ],
  },
  draws: {
    "message-flags.update": (world) => {
      const id = world.user();
      const update = flagUpdate(world, [...new Set([world.message(), world.message()])]);
      return command(self(id), "message-flags.update", update, id);
    },
    "message-flags.continue": (world) => {
      const id = world.user();
      const progress = { waiting: null, updated: 0, ignoredChannelIds: [] };
      return command(self(id), "message-flags.continue", { ...flagUpdate(world, [world.message()]), progress }, id);
    },
  },
  state: { update_message_flags: [], starred_messages: ["starred_messages"] },
  weights: { "message-flags.update": 8 },
  facts: {
    readers: {
      "message-flags.update": ({ params, callerId }) =>
        params.flag !== starred || !params.mustReachAll
          ? forgetsStars(callerId)
          : {
              claims: params.messageIds.map((id) => ({ key: ["star", id, callerId ?? 0], value: params.op === "add" })),
            },
      "message-flags.continue": ({ callerId }) => forgetsStars(callerId),
    },
    actual: {
      star: (replica, messageId, userId) => replica.has("messageFlags", [userId, personalFlags[starred], messageId]),
    },
    ofMessages: ["star"],
    /** A star ends where its holder cannot see the message, for example in the channel to which it was moved. */
    mayEnd: {
      star: (replica, messageId) => hasTrait(replica.get("messages", messageId)?.traits ?? 0, "changedChannel"),
    },
  },
});
