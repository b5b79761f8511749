/** Bots in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { commands } from "../support/runtime.ts";
import { defineCases, forgetsSubscriptions } from "./area.ts";
import { realm } from "./draws.ts";

export const botsCases = defineCases({
  audiences: {
    members: ["get-bot-api-key", "create-bot", "get-bots", "update-bot", "deactivate-bot", "regenerate-bot-api-key"],
  },
  fuzz: {
    things: ["bot"],
    meanings: {
      bot_id: "bot",
    },
    learned: {
      "create-bot": ({ user_id }) => [["bot", user_id]],
    },
  },
  draws: {
    "bot.create": (world) => {
      const botType = world.random.pick([1, 3]);
      return commands.createBot(botType === 3 ? 3 : 1 + world.random.below(2), botType, world.user());
    },
    "bot.update": (world) => commands.giveBot(world.id("bots"), world.user(), world.administrator()),
    "bot.deactivate": (world) => command(realm, "bot.deactivate", { botId: world.id("bots") }, world.administrator()),
    "bot.regenerate-key": (world) =>
      command(
        realm,
        "bot.regenerate-key",
        { botId: world.id("bots"), apiKeyHash: world.hex(16) },
        world.administrator(),
      ),
    "bot.add-key": (world) =>
      command(realm, "bot.add-key", { botId: world.id("bots"), apiKeyHash: world.hex(16) }, world.administrator()),
  },
  state: { realm_bot: ["realm_bots"] },
  facts: { readers: { "bot.deactivate": () => forgetsSubscriptions } },
});
