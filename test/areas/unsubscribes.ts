/** Links in emails that switch emails off, in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { type UnsubscribeKindName, unsubscribeKinds } from "../../schemas/unsubscribes.ts";
import { defineCases } from "./area.ts";
import { realm } from "./draws.ts";

const kinds = Object.keys(unsubscribeKinds) as UnsubscribeKindName[];

export const unsubscribesCases = defineCases({
  draws: {
    "link-secret.set": (world) => command(realm, "link-secret.set", { secret: world.hex(16) }, null),
    "user.unsubscribe": (world) => {
      const id = world.user();
      const email = world.replica.get("users", id)?.email ?? "nobody@example.com";
      return command({ actor: "user", id }, "user.unsubscribe", { kind: world.random.pick(kinds), email }, id);
    },
  },
});
