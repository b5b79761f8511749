/** Read state in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { self } from "./draws.ts";

export const readStateCases = defineCases({
  draws: {
    "read-state.mark-all": (world) => {
      const id = world.user();
      return command(self(id), "read-state.mark-all", {}, id);
    },
    "read-state.mark-channel": (world) => {
      const id = world.user();
      return command(self(id), "read-state.mark-channel", { channelId: world.channel() }, id);
    },
    "read-state.mark-topic": (world) => {
      const id = world.user();
      const place = { channelId: world.channel(), topic: world.topic() };
      return command(self(id), "read-state.mark-topic", { ...place, mustHaveReceived: world.flip() }, id);
    },
    "read-state.announce": null,
    /** A command left by an older server, for messages that have not moved. */
    "read-state.carry": (world) => {
      const id = world.id("conversations");
      const place = { id, channelId: world.replica.get("conversations", id)?.channelId ?? 0 };
      const messages = [{ id: world.message(), senderId: world.user(), traits: 0 }];
      const carried = { messages, from: place, to: place, isNew: false, upToId: 0, afterUserId: 0 };
      return command({ actor: "realm" }, "read-state.carry", carried, null);
    },
    "read-state.sweep": null,
  },
});
