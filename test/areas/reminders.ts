/** Reminders in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { scheduledCommands } from "../support/scheduled-commands.ts";
import { defineCases } from "./area.ts";
import { self } from "./draws.ts";
import { farAhead, made } from "./make.ts";

export const remindersCases = defineCases({
  audiences: {
    accounts: ["get-reminders", "create-message-reminder", "delete-reminder"],
  },
  fuzz: {
    things: ["reminder"],
    meanings: {
      reminder_id: "reminder",
    },
    learned: {
      "create-message-reminder": ({ reminder_id }) => [["reminder", reminder_id]],
    },
  },
  draws: {
    "reminders.add": (world) => scheduledCommands.remind(world.message(), world.name(), world.later(), world.user()),
    "reminders.remove": (world) => {
      const { userId, id } = world.own("reminders");
      return scheduledCommands.forget(id, userId);
    },
    "reminders.due": null,
    "reminders.give-up": () => command(self(2), "reminders.give-up", { id: 99_999 }, null),
  },
  owned: {
    reminder_id: async (client) => {
      const message = { type: "direct", to: [client.userId], content: "x" };
      const message_id = await made(client.post("/messages", message), "id");
      return made(client.post("/reminders", { message_id, scheduled_delivery_timestamp: farAhead }), "reminder_id");
    },
  },
  state: { reminders: ["reminders"] },
  weights: { "reminders.add": 3 },
});
