/** Alert words in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { type Consequence, defineCases } from "./area.ts";
import { self } from "./draws.ts";
import { reduced } from "./lists.ts";
import { must } from "./make.ts";

function words(userId: number | null, given: readonly string[], value: boolean): Consequence {
  return { claims: given.map((word) => ({ key: ["alert", userId ?? 0, word.toLowerCase()], value })) };
}

export const alertWordsCases = defineCases({
  audiences: {
    accounts: ["get-alert-words", "add-alert-words", "remove-alert-words"],
  },
  draws: {
    "alert-words.add": (world) => {
      const id = world.user();
      return command(self(id), "alert-words.add", { words: [world.oneOfFew()] }, id);
    },
    "alert-words.remove": (world) => {
      const id = world.user();
      return command(self(id), "alert-words.remove", { words: [world.oneOfFew()] }, id);
    },
  },
  facts: {
    readers: {
      "alert-words.add": ({ params, callerId }) => words(callerId, params.words, true),
      "alert-words.remove": ({ params, callerId }) => words(callerId, params.words, false),
    },
    actual: { alert: (replica, userId, word) => replica.has("alertWords", [userId, word]) },
  },
  lists: {
    appliers: { alert_words: reduced },
    keys: { alert_words: "any order" },
    play: async (owner) => {
      await must(owner.post("/users/me/alert_words", { alert_words: ["fire", "water"] }));
      await must(owner.delete("/users/me/alert_words", { alert_words: ["fire"] }));
    },
  },
  state: { alert_words: ["alert_words"] },
});
