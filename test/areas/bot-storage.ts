/** Bot storage in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { self } from "./draws.ts";

export const botStorageCases = defineCases({
  audiences: {
    accounts: ["update-bot-storage", "get-bot-storage", "remove-bot-storage"],
  },
  draws: {
    "bot-storage.set": (world) => {
      const id = world.user();
      const key = world.oneOfFew();
      const entries = [{ hash: `hash of ${key}`, key, value: world.name() }];
      return command(self(id), "bot-storage.set", { entries }, id);
    },
    "bot-storage.remove": (world) => {
      const stored = world.replica.keys("botStorage") as [number, string][];
      const [id, hash] = stored.length === 0 ? [world.user(), "none"] : world.random.pick(stored);
      return command(self(id), "bot-storage.remove", { hashes: world.flip() ? [hash] : null }, id);
    },
  },
});
