/** Messages in the tests that cover every area. */
import { commands } from "../support/runtime.ts";
import { defineCases, nothing } from "./area.ts";
import { participants } from "./draws.ts";
import { noteToSelf } from "./make.ts";

export const messagesCases = defineCases({
  audiences: {
    spectators: ["get-messages", "get-message", "get-stream-topics"],
    senders: ["send-message"],
    accounts: ["render-message", "check-messages-match-narrow"],
  },
  fuzz: {
    things: ["message"],
    makes: { message: (client) => noteToSelf(client, "x") },
    learned: {
      "send-message": ({ id }) => [["message", id]],
    },
  },
  draws: {
    "message.post": (world) => {
      const senderId = world.user();
      return world.random.chance(0.75)
        ? commands.post(world.topic(), world.token(), senderId, world.channel())
        : commands.direct(participants(world, senderId), world.token(), senderId);
    },
  },
  shared: { message_id: (client) => client.say("general", "t", "x") },
  state: { message: ["max_message_id"], recent_private_conversations: ["recent_private_conversations"] },
  weights: { "message.post": 70 },
  facts: {
    readers: {
      "message.post": ({ params }, answer) => {
        const id = answer?.["id"];
        return typeof id === "number" ? { claims: [{ key: ["content", id], value: params.content }] } : nothing;
      },
    },
    actual: { content: (replica, messageId) => replica.get("messages", messageId)?.content },
    ofMessages: ["content"],
  },
});
