/** User topics in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { refuse } from "../../schemas/errors.ts";
import { defineCases } from "./area.ts";
import { self } from "./draws.ts";

export const userTopicsCases = defineCases({
  audiences: {
    accounts: ["update-user-topic", "mute-topic"],
  },
  draws: {
    "user-topics.set": (world) => {
      const id = world.user();
      const place = { channel: world.channel(), topic: world.topic(), unknown: refuse.invalidChannelId() };
      return command(self(id), "user-topics.set", { ...place, policy: world.random.pick([0, 1, 3]) }, id);
    },
    "user-topics.move": null,
    "user-topics.end": null,
  },
  state: { user_topic: ["user_topics"], muted_topics: ["muted_topics"] },
});
