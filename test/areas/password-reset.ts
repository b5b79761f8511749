/** Password reset in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import type { World } from "../sim/world.ts";
import { defineCases } from "./area.ts";
import { realm } from "./draws.ts";

function email(world: World): string {
  return world.replica.get("users", world.user())?.email ?? "nobody@example.com";
}

/** The hash of a link; mostly of one that exists. */
function keyHash(world: World): string {
  const hashes = world.replica.keys("passwordResets") as string[];
  return hashes.length === 0 ? "none" : world.random.pick(hashes);
}

export const passwordResetCases = defineCases({
  draws: {
    "password.reset-request": (world) => {
      const params = { email: email(world), keyHash: world.hex(16), link: "https://example.com/l" };
      return command(realm, "password.reset-request", params, null);
    },
    "password.reset-link": (world) =>
      command(realm, "password.reset-link", { email: email(world), keyHash: world.hex(16) }, null),
    "password.reset": (world) =>
      command(realm, "password.reset", { keyHash: keyHash(world), passwordHash: world.hex(16) }, null),
    "password.reset-expire": (world) =>
      command(realm, "password.reset-expire", { keyHash: keyHash(world), userId: world.user(), requestedAt: 0 }, null),
  },
});
