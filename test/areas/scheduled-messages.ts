/** Scheduled messages in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import type { World } from "../sim/world.ts";
import { scheduledCommands } from "../support/scheduled-commands.ts";
import { defineCases } from "./area.ts";
import { participants, self } from "./draws.ts";
import { farAhead, made } from "./make.ts";

function destination(world: World, senderId: number): number | number[] {
  return world.flip() ? world.channel() : participants(world, senderId);
}

export const scheduledMessagesCases = defineCases({
  audiences: {
    accounts: [
      "get-scheduled-messages",
      "create-scheduled-message",
      "update-scheduled-message",
      "delete-scheduled-message",
    ],
  },
  fuzz: {
    things: ["scheduled message"],
    meanings: {
      scheduled_message_id: "scheduled message",
    },
    learned: {
      "create-scheduled-message": ({ scheduled_message_id }) => [["scheduled message", scheduled_message_id]],
    },
  },
  draws: {
    "scheduled-messages.add": (world) => {
      const id = world.user();
      return scheduledCommands.schedule(world.token(), world.later(), destination(world, id), id);
    },
    "scheduled-messages.update": (world) => {
      const { userId, id } = world.own("scheduledMessages");
      return scheduledCommands.edit(id, world.maybe(world.token()), world.maybe(world.later()), userId);
    },
    "scheduled-messages.remove": (world) => {
      const { userId, id } = world.own("scheduledMessages");
      return scheduledCommands.unschedule(id, userId);
    },
    "scheduled-messages.due": null,
    "scheduled-messages.give-up": (world) => {
      const id = world.user();
      return command(self(id), "scheduled-messages.give-up", { id: world.id("scheduledMessages"), timer: 0 }, null);
    },
  },
  owned: {
    scheduled_message_id: (client) => {
      const message = { type: "direct", to: [client.userId], content: "x", scheduled_delivery_timestamp: farAhead };
      return made(client.post("/scheduled_messages", message), "scheduled_message_id");
    },
  },
  forms: { "update-scheduled-message": () => ({ content: "x2" }) },
  state: { scheduled_messages: ["scheduled_messages"] },
  weights: { "scheduled-messages.add": 6 },
});
