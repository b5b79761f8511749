/** Reactions in the tests that cover every area. */
import type { Command } from "../../actors/protocol/decision.ts";
import { reactCommand } from "../support/message-changes.ts";
import { type Consequence, defineCases, messageIdOf, nothing } from "./area.ts";
import { placeIn } from "./lessons.ts";
import { must, noteToSelf } from "./make.ts";

function reaction(command: Command<"reaction.add" | "reaction.remove">): Consequence {
  const { name } = command.params;
  if (name === null || command.params.code !== null) return nothing;
  const key = ["reaction", messageIdOf(command), command.callerId ?? 0, name];
  return { claims: [{ key, value: command.type === "reaction.add" }] };
}

export const reactionsCases = defineCases({
  audiences: {
    accounts: ["add-reaction", "remove-reaction"],
  },
  fuzz: {
    things: ["reacted message"],
    makes: {
      "reacted message": async (client) => {
        const id = await noteToSelf(client, "x");
        await must(client.post(`/messages/${id}/reactions`, { emoji_name: "smile" }));
        return id;
      },
    },
    meanings: {
      "remove-reaction message_id": "reacted message",
    },
    learned: {
      "add-reaction": (_body, target) => [["reacted message", placeIn(target, /^\/messages\/(\d+)\//)]],
    },
  },
  draws: {
    "reaction.add": (world) => reactCommand("add", world.message(), world.random.pick(["smile", "tada"]), world.user()),
    "reaction.remove": (world) => {
      const made = world.random.chance(0.8) ? world.row("reactions") : undefined;
      if (made === undefined) return reactCommand("remove", world.message(), "tada", world.user());
      const [messageId, userId] = made.key;
      return reactCommand("remove", messageId, made.row.emojiName, userId);
    },
  },
  forms: {
    "add-reaction": () => ({ emoji_name: "tada" }),
    "remove-reaction": () => ({ emoji_name: "tada" }),
  },
  weights: { "reaction.add": 4 },
  facts: {
    readers: { "reaction.add": reaction, "reaction.remove": reaction },
    actual: {
      reaction: (replica, messageId, userId, name) =>
        replica.keys("reactions").some((key) => {
          const [id, who] = key as [number, number, string];
          return id === messageId && who === userId && replica.get("reactions", key)?.emojiName === name;
        }),
    },
    ofMessages: ["reaction"],
  },
});
