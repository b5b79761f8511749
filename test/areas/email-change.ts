/** Email change in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { realm, self } from "./draws.ts";

export const emailChangeCases = defineCases({
  draws: {
    "user.email-change.request": (world) => {
      const id = world.user();
      const params = { newEmail: `${world.name()}@example.com`, keyHash: world.hex(16), link: "https://example.com/l" };
      return command(self(id), "user.email-change.request", params, id);
    },
    "user.email-change.expire": (world) =>
      command(self(world.user()), "user.email-change.expire", { keyHash: "none", requestedAt: 0 }, null),
    "user.email-change.confirm": (world) => {
      const keys = world.replica.keys("emailChanges") as string[];
      return command(
        realm,
        "user.email-change.confirm",
        { keyHash: keys.length === 0 ? "none" : world.random.pick(keys) },
        null,
      );
    },
  },
  ofPeople: ["user.email-change.request"],
});
