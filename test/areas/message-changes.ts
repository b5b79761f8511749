/** Message changes in the tests that cover every area. */

import { command } from "../../actors/protocol/decision.ts";
import type { MessageMove } from "../../schemas/message-changes.ts";
import type { Replica } from "../sim/replica.ts";
import { deleteCommand, editCommand } from "../support/message-changes.ts";
import { commands } from "../support/runtime.ts";
import { type Consequence, defineCases, messageIdOf, nothing } from "./area.ts";

function formerMove(conversationId: number): MessageMove {
  return {
    moveId: 0,
    movedById: 2,
    at: 0,
    messageId: 1,
    propagateMode: "change_all",
    conversationId,
    from: { channelId: 1, topic: "lunch" },
    to: { channelId: 1, topic: "plans" },
    afterId: 0,
    upToId: 0,
    isLimitedToVisible: false,
    isWhole: true,
    target: "free",
    notifiesOldThread: false,
    notifiesNewThread: false,
    count: 0,
    waiting: null,
  };
}

/** Topic deletions are not tracked per message, so nothing is claimed about the channel's messages any more. */
function forgetsChannel(channelId: number): Consequence {
  const isThere = (messageId: number, replica: Replica) => {
    const message = replica.get("messages", messageId);
    const conversation = message === undefined ? undefined : replica.get("conversations", message.conversationId);
    return conversation === undefined || conversation.channelId === channelId;
  };
  return { claims: [], forgetsMessages: isThere };
}

export const messageChangesCases = defineCases({
  audiences: {
    accounts: ["update-message", "delete-message", "get-message-history"],
  },
  fuzz: {
    meanings: {
      "delete-message message_id": "message",
      "update-message message_id": "message",
    },
  },
  draws: {
    "message.edit": (world) => {
      const moves = world.random.chance(0.4);
      return editCommand(
        world.message(),
        {
          ...(world.random.chance(0.6) ? { content: `e${world.token()}` } : {}),
          ...(moves ? { topic: world.topic() } : {}),
          ...(moves && world.random.chance(0.3) ? { channelId: world.channel() } : {}),
          propagateMode: world.random.pick(["change_one", "change_later", "change_all"]),
          notifiesOldThread: world.flip(),
          notifiesNewThread: world.flip(),
        },
        world.user(),
      );
    },
    "message.delete": (world) => deleteCommand(world.message(), world.user()),
    "messages.import": null,
    /** For a move that is complete, as after a crash. A move in progress needs many messages. */
    "topic.announce-rename": (world) => {
      const id = world.id("conversations");
      return command({ actor: "conversation", id }, "topic.announce-rename", formerMove(id), null);
    },
    "topic.move-ended": null,
    "topic.refreshLastMessage": (world) =>
      command({ actor: "conversation", id: world.id("conversations") }, "topic.refreshLastMessage", {}, null),
    "topic-deletion.request": (world) =>
      commands.deleteTopic(world.topic(), world.random.pick([0, Number.MAX_SAFE_INTEGER]), world.channel()),
    "topic-deletion.continue": (world) =>
      command({ actor: "topic-deletion", channelId: 1, topic: world.topic() }, "topic-deletion.continue", {}, null),
    "topic-deletion.move-ended": (world) =>
      command({ actor: "topic-deletion", channelId: 1, topic: world.topic() }, "topic-deletion.move-ended", {}, null),
    "topic-deletion.deadline": (world) =>
      command({ actor: "topic-deletion", channelId: 1, topic: world.topic() }, "topic-deletion.deadline", {}, null),
    "topic-deletion.abandon": (world) =>
      command({ actor: "topic-deletion", channelId: 1, topic: world.topic() }, "topic-deletion.abandon", {}, null),
  },
  forms: { "update-message": () => ({ content: "x2" }) },
  weights: { "message.edit": 12, "message.delete": 3, "topic-deletion.abandon": 0.3, "topic-deletion.request": 0.5 },
  facts: {
    readers: {
      "message.edit": (command) => {
        const { content } = command.params;
        return content === null
          ? nothing
          : { claims: [{ key: ["content", messageIdOf(command)], value: content.text }] };
      },
      "message.delete": (command) => ({ claims: [], deletes: messageIdOf(command) }),
      "topic-deletion.request": ({ to }) => forgetsChannel(to.actor === "topic-deletion" ? to.channelId : 0),
    },
  },
});
